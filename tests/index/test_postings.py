"""Inverted lists give back what went in, whatever the order of segments."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.index.arrays import (
    count_keys,
    find_key,
    hash_key,
    list_starts,
    pack_postings,
    unpack_postings,
)

texts = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), max_size=8)


def find(columns, term):
    return find_key(columns, "words", hash_key(term), starts=list_starts(columns, "words"))


def packed(rows):
    members = pack_postings("words", [count_keys(row) for row in rows])
    return {name: np.concatenate(list(parts)) for name, parts in members.items()}


@given(texts)
def test_a_key_finds_the_rows_that_hold_it_and_how_often(rows):
    columns = packed(rows)
    for letter in "abcdefghz":
        found, counts = find(columns, letter)
        expected = [(i, row.count(letter)) for i, row in enumerate(rows) if letter in row]
        assert list(zip(found.tolist(), counts.tolist(), strict=True)) == expected


@given(texts)
def test_unpacking_gives_back_the_keys_of_every_row(rows):
    back = unpack_postings(packed(rows), "words", len(rows))
    assert len(back) == len(rows)
    for row, found in zip(rows, back, strict=True):
        expected = Counter(hash_key(letter) for letter in row)
        assert dict(zip(found.keys.tolist(), found.counts.tolist(), strict=True)) == expected


@given(texts)
def test_lengths_count_repeated_terms(rows):
    assert packed(rows)["words_lengths"].tolist() == [len(row) for row in rows]


def test_a_term_that_fills_a_passage_counts_no_more_than_255_times():
    _, counts = find(packed([["a"] * 1000]), "a")
    assert counts.tolist() == [255]

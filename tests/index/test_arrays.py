"""Arrays map as they were written, and inverted lists give back what went in."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.index.arrays import (
    checksum,
    count_keys,
    find_key,
    hash_key,
    list_starts,
    map_arrays,
    pack_postings,
    unpack_postings,
    write_arrays,
)

texts = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), max_size=8)


def _write(path, members):
    with path.open("w+b") as file:
        write_arrays(file, members)
    return path


def test_numpy_reads_what_is_written_and_parts_are_joined(tmp_path):
    part = np.arange(12, dtype=np.float32).reshape(4, 3)
    path = _write(tmp_path / "a.npz", {"v": [part, part + 1], "empty": [np.zeros((0, 2), "u4")]})
    with np.load(path) as archive:
        assert np.array_equal(archive["v"], np.concatenate([part, part + 1]))
        assert archive["empty"].shape == (0, 2)


def test_every_member_maps_on_a_64_byte_border_without_a_copy(tmp_path):
    members = {name: [np.arange(n, dtype=np.uint8)] for name, n in (("a", 1), ("bb", 7), ("c", 99))}
    mapped = map_arrays(_write(tmp_path / "a.npz", members))
    for name, array in mapped.items():
        assert array.ctypes.data % 64 == 0, name
        assert not array.flags.owndata and not array.flags.writeable
        assert np.array_equal(array, members[name][0])


def test_the_same_arrays_are_the_same_bytes(tmp_path):
    array = np.linspace(0, 1, 50, dtype=np.float32)
    first = _write(tmp_path / "a.npz", {"x": [array]})
    second = _write(tmp_path / "b.npz", {"x": [array[:20], array[20:]]})
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("size", [0, 1, 100])
def test_a_truncated_file_is_a_value_error(tmp_path, size):
    path = _write(tmp_path / "a.npz", {"x": [np.arange(1000)]})
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError):
        map_arrays(path)


@given(data=st.binary(min_size=1, max_size=9000), where=st.floats(0, 0.999), bit=st.integers(0, 7))
def test_the_checksum_sees_any_flipped_bit(tmp_path_factory, data, where, bit):
    path = tmp_path_factory.mktemp("sum") / "f"
    path.write_bytes(data)
    before = checksum(path)
    flipped = bytearray(data)
    flipped[int(where * len(data))] ^= 1 << bit
    path.write_bytes(flipped)
    assert checksum(path) != before


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

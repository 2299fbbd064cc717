"""Sentences end where a reader would end them; cases are in ``sentences.md``."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.language.sentences import split_sentences

CASES = re.findall(
    r"^## (.*?)\n\n```text\n(.*?)^```\n\n((?:- [^\n]*\n)+)",
    (Path(__file__).parent / "sentences.md").read_text("utf-8"),
    re.M | re.S,
)


@pytest.mark.parametrize(("text", "listed"), [pytest.param(t, s, id=n) for n, t, s in CASES])
def test_sentences_end_where_a_reader_ends_them(text, listed):
    assert split_sentences(text) == [line[2:] for line in listed.splitlines()]


@given(st.text(alphabet="aB1 .!?…。\"')-#\n", max_size=80))
def test_no_letter_is_lost_and_every_sentence_is_one_line(text):
    found = split_sentences(text)
    assert re.findall(r"[aB。]", "".join(found)) == re.findall(r"[aB。]", text)
    assert all(sentence == " ".join(sentence.split()) != "" for sentence in found)


@pytest.mark.parametrize(
    "piece", [".", "…", '."', ".)", "Dr. ", "\n", "- ", "1. ", "# ", "。", "A. "]
)
def test_a_long_text_without_an_end_is_split_in_one_pass(piece):
    text = piece * 300_000  # a quadratic splitter would not come back
    assert sum(map(len, split_sentences(text))) <= len(text)

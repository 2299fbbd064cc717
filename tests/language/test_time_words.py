"""The short list spares the long ones, and misses nothing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making_hints import make_hints

import memory_palace
from memory_palace.language.time_words import may_name_time, read_hints

WORDS = read_hints().words


def test_the_hints_are_those_of_the_tables():
    listed = Path(memory_palace.__file__).parent / "language/time/hints.txt"
    assert listed.read_text("utf-8") == make_hints()


@given(st.sampled_from(sorted(WORDS)), st.text(" ,.", max_size=3))
def test_no_expression_can_be_without_one(hint, around):
    assert may_name_time(f"what{around} {hint}{around}")


@pytest.mark.parametrize("text", ["why was the broker dropped", "", "Feuer und Wasser"])
def test_most_questions_name_no_time(text):
    assert not may_name_time(text)

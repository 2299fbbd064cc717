"""The short list spares the long one, and misses nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.language.time.english import ALL_HINTS
from memory_palace.language.time.weekdays import WEEKDAYS
from memory_palace.language.word_lists import TIME_WORDS, may_name_time


def test_every_word_that_a_rule_needs_is_on_the_list():
    assert {hint for hint in ALL_HINTS if hint.isalpha()} <= TIME_WORDS
    assert WEEKDAYS <= TIME_WORDS


@given(st.sampled_from(sorted(ALL_HINTS)), st.text(" ,.", max_size=3))
def test_no_expression_can_be_without_one(hint, around):
    assert may_name_time(f"what{around} {hint}{around}")


@pytest.mark.parametrize("text", ["why was the broker dropped", "", "Feuer und Wasser"])
def test_most_questions_name_no_time(text):
    assert not may_name_time(text)

"""What comes first."""

from __future__ import annotations

import pytest

from memory_palace.checking.differences import TESTS as DIFFERENCE_TESTS
from tests.checking.finding import find

TESTS = tuple(DIFFERENCE_TESTS)
OVEN = "First heat the oven, then grease the tin."
TREATY = "The treaty was signed after the war ended."


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        (OVEN, "First grease the tin, then heat the oven."),
        (OVEN, "The tin is greased before the oven is heated."),
        ("Click Save, then click Close.", "Click Save after clicking Close."),
        (TREATY, "The treaty was signed before the war ended."),
        (TREATY, "The war ended after the treaty was signed."),
        ("The loaf cools before it is cut.", "The loaf is cut before it cools."),
        ("Knead the dough, rest it, and shape it last.", "Rest the dough, knead it, and shape it."),
        ("The seats by the pillar are sold last.", "The seats by the pillar are sold first."),
        ("The rain began because the dam broke.", "The dam broke because the rain began."),
    ],
)
def test_another_order_is_a_difference(note, claim):
    assert find(note, claim, *TESTS)


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        (OVEN, "The oven is heated before the tin is greased."),
        (OVEN, "The tin is greased after the oven has been heated."),
        (TREATY, "The war ended before the treaty was signed."),
        (TREATY, "After the war had ended, the treaty was signed."),
        ("Click Save, then click Close.", "After clicking Save, click Close."),
        ("The rain began because the dam broke.", "Because the dam broke, the rain began."),
    ],
)
def test_the_same_order_told_from_the_other_end_is_none(note, claim):
    assert find(note, claim, *TESTS) == []


@pytest.mark.parametrize(
    ("note", "claim", "is_other"),
    [
        ("It fails when the valve is shut.", "It fails before the valve is shut.", True),
        ("It settles within days of rain.", "It settles within days before rain.", True),
        ("The lamp joins the second gate.", "The lamp precedes the first gate.", True),
        ("It fails after the valve is shut.", "It fails once the valve is shut.", False),
        ("Then it fails, and the valve shuts.", "It fails, and the valve shuts.", False),
    ],
)
def test_another_word_of_order_in_a_copied_sentence_is_a_difference(note, claim, is_other):
    assert bool(find(note, claim, "other connections")) == is_other

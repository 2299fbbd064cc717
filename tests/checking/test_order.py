"""What comes first."""

from __future__ import annotations

import pytest

from tests.checking.finding import find

TESTS = ("turned orders", "exchanges", "opposed words")
OVEN = "First heat the oven, then grease the tin."
TREATY = "The treaty was signed after the war ended."


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        (OVEN, "First grease the tin, then heat the oven."),
        (OVEN, "The tin is greased before the oven is heated."),
        (TREATY, "The treaty was signed before the war ended."),
        (TREATY, "The war ended after the treaty was signed."),
        ("Click Save, then click Close.", "Click Save after clicking Close."),
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


def test_the_reason_names_what_comes_first():
    (found,) = find(TREATY, "The war ended after the treaty was signed.", "turned orders")
    assert found.reason.startswith("“treaty signed” comes before “war ended”")
    assert found.kind == "order"

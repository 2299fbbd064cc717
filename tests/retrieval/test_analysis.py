"""What is read from a question."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_palace.retrieval.analysis import Analysis, analyse
from memory_palace.retrieval.question import ParsedQuestion

ASKED = datetime(2026, 5, 28, 12, tzinfo=UTC).timestamp()


def ask(text, **options):
    return analyse(text, **options)


def test_one_question_is_read_for_all_signals():
    read = ask('What did Anna say about the "slow living" blog last Tuesday?')
    assert read.is_english
    assert read.names == ("anna",)
    assert read.quotes == ("slow live",)
    assert read.weekdays == (1,)
    assert "anna|say|*" in read.relations
    assert ("blog",) in {keys[-1:] for keys in read.phrases}


def test_the_unknown_part_of_a_relation_is_left_open():
    assert ask("Who plays the violin?").relations == ("*|play|violin",)
    assert ask("What does Anna play?").relations == ("anna|play|*",)
    assert "i|buy|*" in ask("What did we buy in Rome?").relations


def test_known_entities_are_names_in_any_spelling():
    assert ask("what does melanie play?").names == ()
    assert ask("what does melanie play?", known_entities={"melanie"}).names == ("melanie",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Can you suggest a hotel?", True),
        ("What is my favourite tea?", True),
        ("What does the boat look like?", False),
        ("When did the boat sink?", False),
    ],
)
def test_questions_of_taste_are_recognised(text, expected):
    assert ask(text).asks_preference is expected


def test_themes_are_read_from_questions_too():
    assert ask("What are my fondest childhood memories?").themes == ("nostalgia",)
    assert ask("How much memory does the server have?").themes == ()


def test_r3_other_languages_are_read_for_quotes_alone():
    assert ask("Почему мы ушли?") == Analysis(is_english=False)
    read = ask("谁说过“慢生活”？")
    assert not read.is_english
    assert read.quotes
    assert not (read.phrases or read.names or read.words)


def test_days_are_read_as_of_the_day_of_the_question():
    found = [
        ParsedQuestion("what did Anna say yesterday", as_of=ASKED - days * 86_400)
        for days in (0, 1)
    ]
    assert [str(question.times[0].windows[0].first) for question in found] == [
        "2026-05-27",
        "2026-05-26",
    ]

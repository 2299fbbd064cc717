"""What is read from a question."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_palace.retrieval.analysis import SILENT, analyse

ASKED = datetime(2026, 5, 28, 12, tzinfo=UTC).timestamp()


def ask(text, **options):
    return analyse(text, as_of=ASKED, **options)


def test_one_question_is_read_for_all_signals():
    read = ask('What did Anna say about the "slow living" blog last Tuesday?')
    assert read.is_english
    assert read.names == ("anna",)
    assert read.quotes == ("slow live",)
    assert read.weekdays == (1,)
    assert [str(window.first) for window in read.dates] == ["2026-05-26"]
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
        ("What is its budget?", ("its",)),
        ("Who leads the project?", ("the project",)),
        ("Who leads the project about boats?", ()),
        ("Why did Kafka fail?", ()),
        ("Did we finish that?", ("we", "that")),
    ],
)
def test_pronouns_and_bare_definites_point_elsewhere(text, expected):
    assert ask(text).pronouns == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What was the hotel you suggested?", True),
        ("Remind me what you said about tea", True),
        ("Did you recommend a book?", True),
        ("Which book did Anna recommend?", False),
        ("Where do you live?", False),
    ],
)
def test_what_the_assistant_said_is_told_from_what_others_said(text, expected):
    assert ask(text).is_assistant_reference is expected


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
    assert ask("Почему мы ушли?") == SILENT
    read = ask("谁说过“慢生活”？")
    assert not read.is_english
    assert read.quotes
    assert not (read.phrases or read.names or read.words or read.pronouns)


def test_days_are_read_as_of_the_day_of_the_question():
    before = analyse("yesterday", as_of=ASKED - 86_400).dates[0].first
    assert str(before) == "2026-05-26"

"""A made diary: a question by day finds the note of that day first, however either is written."""

from collections import Counter

import pytest
from writing_notes import index_notes

from tests.diary import EACH_FORM, diary_notes, diary_questions


@pytest.fixture(scope="module")
def palace(tmp_path_factory):
    texts = {note.path: note.text for note in diary_notes()}
    return index_notes(tmp_path_factory.mktemp("diary"), texts)


def test_the_day_comes_first_in_each_form_of_a_question(palace):
    first = Counter()
    for question in diary_questions():
        asked = palace.query(question.text, limit=1, neighbors=0, as_of=question.as_of)
        first[question.form] += bool(asked) and asked[0].path == question.path
    assert len(first) == 6 and min(first.values()) >= 0.95 * EACH_FORM, first


@pytest.mark.parametrize(
    "text",
    [
        "what did I do on October 26",
        "show me my diary entry of October 26th",
        "2026-10-26",
        "26.10.2026",
        "was habe ich am 26. Oktober gemacht",
        "qu'est-ce que j'ai fait le 26 octobre",
        "¿qué hice el 26 de octubre?",
        "o que eu fiz em 26 de outubro",
        "cosa ho fatto il 26 ottobre",
        "10月26日我做了什么",
        "10月26日に何をしたか",
    ],
)
def test_a_note_of_the_day_answers_a_question_that_is_little_but_a_day(palace, text):
    asked = palace.query(text, limit=2, neighbors=0, as_of="2026-11-22")
    assert asked.is_answered and asked[0].confidence >= 0.9
    asked = palace.query(f"who cut down the pear tree {text}", neighbors=0, as_of="2026-11-22")
    assert not asked.is_answered


def test_a_season_that_is_a_topic_displaces_no_better_answer(tmp_path):
    texts = {
        "cells.md": "Lithium cells die when they are charged below freezing.",
        "2026-01-10.md": "We charged the phone and read by the stove.",
        "2026-02-03.md": "Cells of the beehive were counted.",
        "roof.md": "The roof was tarred in December 2025, in January 2026 it held.",
    }
    palace = index_notes(tmp_path, texts, embedder="none")
    for asked in ("lithium cells in winter", "in the winter lithium cells die"):
        first = palace.query(asked, neighbors=0, as_of="2026-11-22")[0]
        assert first.path == "cells.md", asked

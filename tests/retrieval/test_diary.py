"""The made diary: as many notes as promised, one to a day, and no day in their text."""

from __future__ import annotations

import re
from collections import Counter

from diary import DATED_BY, EACH_FORM, MONATE, MONTHS, diary_notes, diary_questions, write_diary


def test_each_note_has_a_day_of_its_own_dated_in_one_of_three_ways():
    notes = diary_notes()
    assert (
        len(notes) == len({note.day for note in notes}) == len({note.path for note in notes}) == 111
    )
    assert Counter(note.dated_by for note in notes) == dict.fromkeys(DATED_BY, 37)
    assert {note.path.split("/")[0] for note in notes} == {"Journal", "Work", "Home"}


def test_no_text_says_when_it_was():
    for note in diary_notes():
        body = note.text.rsplit("---\n", 1)[-1]
        words = set(re.findall(r"\w+", body))
        assert not re.search(r"\d", body)
        assert not words & {*MONTHS, *MONATE, "yesterday", "today", "Yesterday", "Today"}


def test_each_question_has_one_note_that_was_written_before_it_is_asked():
    days = {note.path: note.day for note in diary_notes()}
    questions = diary_questions()
    assert set(Counter(question.form for question in questions).values()) == {EACH_FORM}
    assert len({(question.text, question.as_of) for question in questions}) == len(questions) == 360
    assert all(days[question.path] < question.as_of for question in questions)


def test_the_diary_is_the_same_every_time(tmp_path):
    write_diary(tmp_path)
    written = {
        path.relative_to(tmp_path).as_posix(): path.read_text("utf-8")
        for path in tmp_path.rglob("*.md")
    }
    assert written == {note.path: note.text for note in diary_notes()}

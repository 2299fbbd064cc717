"""A made diary: a question by day finds the note of that day first, however either is written."""

from __future__ import annotations

from collections import Counter

import pytest

from memory_palace import Palace
from tests.diary import EACH_FORM, diary_notes, diary_questions


@pytest.fixture(scope="module")
def palace(tmp_path_factory):
    palace = Palace.init(tmp_path_factory.mktemp("diary"), here=True)
    for note in diary_notes():
        path = palace.paths.root / note.path
        path.parent.mkdir(exist_ok=True)
        path.write_text(note.text, "utf-8")
    palace.index(embedder="hashing")
    return palace


def test_the_day_comes_first_in_each_form_of_a_question(palace):
    first = Counter()
    for question in diary_questions():
        asked = palace.query(question.text, limit=1, neighbors=0, as_of=question.as_of)
        first[question.form] += bool(asked) and asked[0].path == question.path
    assert len(first) == 6 and min(first.values()) >= 0.95 * EACH_FORM, first

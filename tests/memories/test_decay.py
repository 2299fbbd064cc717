"""Forgetting: the table, its half-lives, and the log of reviews."""

import math
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.features.memories.form import (
    DECAY_PER_DAY,
    FIBONACCI,
    LOG,
    Memory,
    Review,
    fade,
    read_reviews,
    stand,
    to_record,
)
from memory_palace.storage import append_record

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FUNNEL = Memory("palace/a.md", "A", "", "", smashin_score=6, created=date(2026, 3, 1))


def review(days=0, *, recalled=True, path="palace/a.md"):
    return Review(path, NOW + timedelta(days=days), recalled, 0.8, 6)


def test_half_lives_are_those_of_the_document_s_first_table():
    assert math.log(2) / DECAY_PER_DAY[0] == pytest.approx(3.47, abs=0.01)
    assert math.log(2) / DECAY_PER_DAY[12] == pytest.approx(46.2, abs=0.01)
    assert sorted(DECAY_PER_DAY, reverse=True) == list(DECAY_PER_DAY)


@given(st.floats(0, 1), st.floats(0, 1000), st.integers(0, 12))
def test_confidence_stays_within_bounds(confidence, days, score):
    assert 0 <= fade(confidence, days, score) <= confidence
    assert fade(confidence, -days, score) == confidence


def test_intervals_are_fibonacci_and_forgetting_begins_anew():
    rows, due = [], []
    for _ in range(10):
        due.append((stand(FUNNEL, rows, today=NOW.date()).due - NOW.date()).days)
        rows.append(review())
    assert tuple(due[:8]) == FIBONACCI and due[8:] == [34, 34]
    assert stand(FUNNEL, [*rows, review(recalled=False)], today=NOW.date()).streak == 0


def test_the_log_is_only_appended_to_and_read_back(tmp_path: Path):
    first, second = review(), review(3, recalled=False)
    append_record(tmp_path / LOG, to_record(first))
    before = (tmp_path / LOG).read_bytes()
    append_record(tmp_path / LOG, to_record(second))
    assert (tmp_path / LOG).read_bytes().startswith(before)
    assert read_reviews(tmp_path) == {"palace/a.md": [first, second]}


def test_reviews_follow_a_note_that_moves_and_torn_lines_are_passed_over(tmp_path: Path):
    append_record(tmp_path / LOG, to_record(review()))
    with (tmp_path / LOG).open("ab") as file:
        file.write(b'{"time": "2026-03-0\n{"memory": 3}\n[]\n{"time": "2026-03-02T00:00:00"')
    append_record(tmp_path / LOG, to_record(review(1, path="palace/b.md")))
    found = read_reviews(tmp_path, [("palace/a.md", "palace/b.md")])
    assert [row.time.day for row in found["palace/b.md"]] == [1, 2]
    assert read_reviews(tmp_path / "nowhere") == {}

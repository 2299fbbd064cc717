"""A year of daily questions under the documented weekly run loses nothing in use."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from memory_palace.bench.golden import read_questions
from memory_palace.bench.year import Year, live_through

ROOT = Path(__file__).parent.parent.parent
PEOPLE = ROOT / "tests" / "people" / "golden_guard.jsonl"
START = date(2026, 11, 23)


def live(part, **more):
    """Give every other question to the palace, and measure with the rest."""
    questions = read_questions(PEOPLE)
    guard, held = questions[part::2], questions[1 - part :: 2]
    return live_through(ROOT, guard, held, start=START, embedder="hashing", **more)


def check(year: Year):
    first = year.months[0]
    assert min(month.held for month in year.months) >= first.held
    assert min(month.guard for month in year.months) >= first.guard
    assert year.left_in_use == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "opening", "days"),
    [(0, "first", 365), (1, "random", 215), (0, "none", 215)],
)  # fmt: skip
def test_a_year_of_questions_loses_no_answer_and_nothing_in_use(part, opening, days):
    """After twice 90 days nothing that is left out of use is yet to leave."""
    check(live(part, opening=opening, days=days))


@pytest.mark.slow
def test_a_year_without_a_log_calls_nothing_unused():
    year = live(0, is_logged=False, days=215)
    check(year)
    assert {month.stale for month in year.months} == {0}


def test_a_week_is_lived_through_and_counted():
    year = live(0, days=7)
    assert [month.day for month in year.months] == [0, 7]
    first = year.months[0]
    assert (first.guard, first.held) == (first.guard_alone, first.held_alone)
    assert 0 < first.guard <= 15 and first.hot > 40 and first.archived == 0

"""Times of day are the same hand of the clock, however they are written."""

from __future__ import annotations

import pytest

from memory_palace.checking.clock import find_clock_times


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("at half past nine", 570),
        ("at 21:30", 570),
        ("at 9.30 pm", 570),
        ("at quarter to six", 345),
        ("up to six or seven thirty", 450),
        ("at 7 o’clock", 420),
    ],
)
def test_a_time_of_day_is_read(text, minutes):
    assert [time.minutes for time in find_clock_times(text)] == [minutes]


@pytest.mark.parametrize("text", ["ten thirty litres cans", "at 9.30 metres", "half a litre"])
def test_other_numbers_are_no_times(text):
    assert list(find_clock_times(text)) == []


def test_both_ends_of_a_span_are_times():
    found = find_clock_times("between six and seven thirty")
    assert [time.minutes for time in found] == [360, 450]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("9 pm", "21:00", True),
        ("9 am", "9 pm", False),
        ("nine in the evening", "9 p.m.", True),
        ("noon", "midnight", False),
        ("noon", "12 o'clock", True),
        ("a quarter past midnight", "0:15", True),
    ],
)
def test_halves_of_the_day_are_told_apart_where_both_say_them(one, other, is_same):
    [mine], [theirs] = list(find_clock_times(one)), list(find_clock_times(other))
    assert mine.agrees(theirs) == is_same

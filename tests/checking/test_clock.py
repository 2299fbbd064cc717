"""Times of day are the same hand of the clock, however they are written."""

from __future__ import annotations

import pytest

from memory_palace.checking.numbers import find_clock_times


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("at half past nine", 570),
        ("at 21:30", 570),
        ("at 9.30 pm", 570),
        ("at quarter to six", 345),
        ("between six and seven thirty", 450),
        ("at 7 o’clock", 420),
    ],
)
def test_a_time_of_day_is_read(text, minutes):
    assert [time.minutes for time in find_clock_times(text)] == [minutes]


@pytest.mark.parametrize("text", ["ten thirty litres cans", "at 9.30 metres", "half a litre"])
def test_other_numbers_are_no_times(text):
    assert list(find_clock_times(text)) == []

"""Days of the common calendars that have a name."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache

from memory_palace.language.time.spans import DaySpan, make_day, month_span
from memory_palace.language.word_lists import read_table

_FIRST_LISTED = 1990
_SOLAR = {
    "vernal_equinox": (3, 20.8431),
    "qingming": (4, 4.966),
    "autumnal_equinox": (9, 23.2488),
    "winter_solstice": (12, 22.096),
}
"""Month, and the day with its part in 1980: the usual approximation for 1980 to 2099."""


def holiday_span(rule: str, year: int) -> DaySpan | None:
    """Return when a holiday was in a year, ``None`` where that is not known.

    ``12-25`` is a day, ``11=3.4`` the fourth Thursday (0 is Monday) of November, ``05=6.-1`` the
    last Sunday of May, ``easter-2`` a distance from Easter, ``qingming`` a day by the sun,
    ``ramadan`` a line of ``moving.txt``; ``*30`` is how many days it lasts.
    """
    name, _, lasting = rule.partition("*")
    day = _first_day(name, year)
    return (day, day + timedelta(int(lasting or 1) - 1)) if day else None


def _first_day(name: str, year: int) -> date | None:
    if "=" in name:
        month, _, weekday_number = name.partition("=")
        weekday, _, number = weekday_number.partition(".")
        return nth_weekday(*month_span(year, int(month)), int(weekday), int(number))
    if name[0].isdigit():
        month, _, day = name.partition("-")
        return make_day(year, int(month), int(day))
    feast = name.rstrip("+-0123456789")
    begins = _feast(feast, year)
    return begins + timedelta(int(name[len(feast) :] or 0)) if begins else None


def _feast(name: str, year: int) -> date | None:
    if name == "easter":
        return easter(year)
    if name in _SOLAR:
        number, share = _SOLAR[name]
        return date(year, number, int(share + 0.242194 * (year - 1980)) - (year - 1980) // 4)
    days = _moving_days()[name]
    listed = days[year - _FIRST_LISTED] if 0 <= year - _FIRST_LISTED < len(days) else "-"
    return None if listed == "-" else date(year, int(listed[:2]), int(listed[2:4]))


def nth_weekday(first: date, last: date, weekday: int, number: int) -> date | None:
    """Return the first, second, ... such weekday of a span, or the last where number is -1."""
    if number < 0:
        return last - timedelta((last.weekday() - weekday) % 7 - 7 * (number + 1))
    day = first + timedelta((weekday - first.weekday()) % 7 + 7 * (number - 1))
    return day if day <= last else None


def easter(year: int) -> date:
    """Return Easter Sunday (Meeus, Jones and Butcher's algorithm for the Gregorian calendar)."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)


@cache
def _moving_days() -> dict[str, list[str]]:
    return {name: listed.split() for name, listed in read_table("time/moving.txt").items()}

"""Dates of a text, read by ``language.times`` alone, and whether two can be the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from memory_palace.language.time_spans import EARLIEST, TimeExpression, Window
from memory_palace.language.times import find_times
from memory_palace.language.words import TIME_WORDS

NAMES = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
WEEKDAYS = frozenset(f"{name}{ending}" for name in NAMES for ending in ("", "s"))
"""Casefolded words that name a weekday."""
_WEEKDAY = re.compile(rf"\b({'|'.join(NAMES)})s?\b", re.I)


def find_weekdays(text: str) -> tuple[int, ...]:
    """Return the weekdays that a text names, 0 for Monday, each once, in order."""
    names = (match.casefold() for match in _WEEKDAY.findall(text))
    return tuple(dict.fromkeys(map(NAMES.index, names)))


_AS_OF = date(2026, 1, 1)
"""Any day, the same for both sides: what is measured from today is compared as it is written."""
_OPEN = frozenset({EARLIEST, _AS_OF})
"""Where a span without beginning begins, and one without end ends."""
_SURE = 0.5
PERIODS = TIME_WORDS | frozenset(
    "hourly daily nightly weekly fortnightly monthly quarterly yearly annually annual autumn noon "
    "midday midnight dawn dusk sunrise sunset mornings afternoons evenings nights".split()
)
"""Words of time that exclude each other where one is put for another."""


@dataclass(frozen=True, slots=True)
class Date:
    """One date, month, year or weekday as it stands in a text."""

    start: int
    stop: int
    text: str
    unit: str
    """``day``, ``month``, ``year``, ``span`` or ``weekday``."""
    has_year: bool
    windows: tuple[Window, ...]
    weekday: int | None = None

    def agrees(self, other: Date) -> bool:
        """Return whether two can be the same: one holds the other, as far as both tell."""
        if self.text.casefold() == other.text.casefold():
            return True
        if self.weekday is not None or other.weekday is not None:
            return not {*self._weekdays()}.isdisjoint(other._weekdays())
        if self.unit == other.unit == "span":
            return not set(self._ends()).isdisjoint(other._ends())
        if "span" in (self.unit, other.unit):
            span, day = (self, other) if self.unit == "span" else (other, self)
            closed = [w for w in span.windows if _OPEN.isdisjoint((w.first, w.last))]
            if any(_holds(w, each) for w in closed for each in day.windows):
                return True
            return any(w.first <= end <= w.last for w in day.windows for end in span._ends())
        if self.has_year and other.has_year:
            return any(_holds(a, b) for a in self.windows for b in other.windows)
        if "year" in (self.unit, other.unit):
            return False
        both_days = self.unit == other.unit == "day"
        return any(
            a.first.month == b.first.month and (not both_days or a.first.day == b.first.day)
            for a in self.windows
            for b in other.windows
        )

    def _ends(self) -> Iterator[date]:
        """Yield the days that a span begins and ends with; "until May" begins nowhere."""
        for window in self.windows:
            yield from (day for day in (window.first, window.last) if day not in _OPEN)

    def is_comparable(self, other: Date) -> bool:
        """Return whether one could stand in the other's place: both of the calendar, or of a week.

        A date without a year and a year alone say nothing of each other.
        """
        if (self.weekday is None) != (other.weekday is None):
            return False
        is_year = self.unit == "year", other.unit == "year"
        return is_year[0] == is_year[1] or (self.has_year and other.has_year)

    def _weekdays(self) -> Iterator[int]:
        if self.weekday is not None:
            yield self.weekday
        elif self.unit == "day" and self.has_year:
            yield from (window.first.weekday() for window in self.windows)


def _holds(one: Window, other: Window) -> bool:
    is_in = one.first <= other.first and other.last <= one.last
    return is_in or (other.first <= one.first and one.last <= other.last)


@lru_cache(maxsize=1 << 10)
def find_dates(text: str) -> tuple[Date, ...]:
    """Return the dates of a text in order; what may well be none, "fall", is left out."""
    found = []
    for each in find_times(text, _AS_OF):
        weekdays = find_weekdays(each.text) if each.text.casefold().split()[-1] in WEEKDAYS else ()
        if each.certainty < _SURE and not weekdays:
            continue
        if not (weekdays or _is_told(each)):
            continue
        weekday = weekdays[0] if weekdays and not each.is_calendar else None
        unit = "weekday" if weekday is not None else each.unit
        found.append(
            Date(each.start, each.end, each.text, unit, each.has_year, each.windows, weekday)
        )
    return tuple(found)


def _is_told(each: TimeExpression) -> bool:
    """Return whether an expression tells a date by itself; "yesterday" does not."""
    if each.has_year:
        return all(window.first != _AS_OF for window in each.windows)
    if each.unit == "span":
        words = (find_times(word, _AS_OF) for word in each.text.split())
        return any(found.unit == "month" for read in words for found in read)
    return each.unit == "month" or each.is_calendar

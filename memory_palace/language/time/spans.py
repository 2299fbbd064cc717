"""What an expression of time means, and arithmetic on calendar days."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeAlias

DaySpan: TypeAlias = tuple[date, date]
"""First and last day, both inclusive."""
FIRST_YEAR, LAST_YEAR = 1900, 2200
"""Years that a text can mean; other numbers of four digits are not years."""
EARLIEST = date(FIRST_YEAR, 1, 1)
"""Where "until May" begins."""


@dataclass(frozen=True, slots=True)
class Window:
    """A span of days that a temporal expression means."""

    first: date
    last: date
    """Inclusive."""
    tolerance_days: float
    """How far outside of the span a day still counts in full."""
    weight: float = 1.0
    """Below 1 where the expression has other readings."""
    expression: str = ""


@dataclass(frozen=True, slots=True, order=True)
class TimeExpression:
    """An expression of time: where it stands and what it means."""

    start: int
    end: int
    text: str
    windows: tuple[Window, ...]
    """One per reading, none of which is less likely than another."""
    unit: str
    """How exact it is: ``day``, ``month``, ``year`` or ``span``."""
    certainty: float
    """In (0, 1]; below .5 it may well be a topic: "in winter the cells die"."""
    has_year: bool
    """Whether it means the same whenever it is read."""

    @property
    def is_calendar(self) -> bool:
        """Whether it names a day of the calendar, "March 5", and not one by its distance."""
        return any(char.isdigit() for char in self.text)


def make_day(year: int, month: int, day: int) -> date | None:
    """Return a date, or ``None`` where there is no such day."""
    if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= month <= 12):
        return None
    return date(year, month, day) if 1 <= day <= monthrange(year, month)[1] else None


def nearest_weekday(weekday: int, direction: int, as_of: date) -> date:
    """Return the last such weekday before today, or the next after it; 0 is Monday."""
    if direction < 0:
        return as_of - timedelta((as_of.weekday() - weekday - 1) % 7 + 1)
    return as_of + timedelta((weekday - as_of.weekday() - 1) % 7 + 1)


def month_span(year: int, month: int, months: int = 1) -> DaySpan:
    """Return the first and last day of some months; ``month`` may lie outside of 1 to 12."""
    first = date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
    index = first.year * 12 + first.month - 1 + months - 1
    year, month = index // 12, index % 12 + 1
    return first, date(year, month, monthrange(year, month)[1])


def unit_span(unit: str, offset: int, as_of: date) -> DaySpan:
    """Return the calendar unit that lies ``offset`` units from now; weeks begin on Monday.

    A weekend is that of the week, so that the last one is over. Raise ``ValueError`` for a year
    that no date has.
    """
    monday = as_of - timedelta(as_of.weekday()) + timedelta(weeks=offset)
    if unit in ("day", "hour"):
        return as_of + timedelta(offset), as_of + timedelta(offset)
    if unit == "week":
        return monday, monday + timedelta(6)
    if unit == "fortnight":
        return monday + timedelta(weeks=offset), monday + timedelta(weeks=offset, days=13)
    if unit == "weekend":
        return monday + timedelta(5), monday + timedelta(6)
    if unit == "month":
        return month_span(as_of.year, as_of.month + offset)
    if unit == "quarter":
        return month_span(as_of.year, (as_of.month - 1) // 3 * 3 + 1 + 3 * offset, 3)
    if unit == "decade":
        return month_span(as_of.year // 10 * 10 + 10 * offset, 1, 120)
    return month_span(as_of.year + offset, 1, 12)

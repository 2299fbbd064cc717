"""What an expression of time means, and arithmetic on calendar days."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each, on the northern half of the earth."""

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

    def closeness(self, day: date) -> float:
        """Return 1 for a day within the tolerance, falling in a line to 0 at three times it."""
        outside = max((self.first - day).days, (day - self.last).days, 0)
        if outside <= self.tolerance_days:
            return self.weight
        share = (3 * self.tolerance_days - outside) / (2 * self.tolerance_days)
        return self.weight * max(0.0, share) if self.tolerance_days else 0.0


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


def month_span(year: int, month: int, months: int = 1) -> tuple[date, date]:
    """Return the first and last day of some months; ``month`` may lie outside of 1 to 12."""
    first = date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
    index = first.year * 12 + first.month - 1 + months - 1
    year, month = index // 12, index % 12 + 1
    return first, date(year, month, monthrange(year, month)[1])


def unit_span(unit: str, offset: int, as_of: date) -> tuple[date, date]:
    """Return the calendar week, weekend, month or year that lies ``offset`` units from now.

    Weeks begin on Monday. The last weekend is one that is over or at least began before
    today's; the next is the one after this week's.
    """
    if unit == "week":
        first = as_of - timedelta(as_of.weekday()) + timedelta(weeks=offset)
        return first, first + timedelta(6)
    if unit == "weekend":
        saturday = as_of + timedelta((5 - as_of.weekday()) % 7 if as_of.weekday() != 6 else -1)
        if offset < 0 and (saturday > as_of or as_of.weekday() >= 5):
            saturday -= timedelta(7)
        if offset > 0:
            saturday += timedelta(7)
        return saturday, saturday + timedelta(1)
    if unit == "month":
        return month_span(as_of.year, as_of.month + offset)
    return date(as_of.year + offset, 1, 1), date(as_of.year + offset, 12, 31)


def nearest_span(month: int, months: int, direction: int, as_of: date) -> tuple[date, date]:
    """Return the month or season of any year that is meant.

    ``direction`` -1 is the last that is over, 0 the last that has begun, 1 the next to begin.
    """
    spans = [month_span(year, month, months) for year in range(as_of.year - 2, as_of.year + 3)]
    if direction > 0:
        return next(span for span in spans if span[0] > as_of)
    return [span for span in spans if (span[1] < as_of if direction < 0 else span[0] <= as_of)][-1]


def nearest_weekday(weekday: int, direction: int, as_of: date) -> date:
    """Return the last such weekday before today, or the next after it; 0 is Monday."""
    if direction < 0:
        return as_of - timedelta((as_of.weekday() - weekday - 1) % 7 + 1)
    return as_of + timedelta((weekday - as_of.weekday() - 1) % 7 + 1)

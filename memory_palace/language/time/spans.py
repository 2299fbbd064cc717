"""What an expression of time means, and arithmetic on calendar days."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple, TypeAlias

DaySpan: TypeAlias = tuple[date, date]
"""First and last day, both inclusive."""
FIRST_YEAR, LAST_YEAR = 1900, 2200
"""Years that a text can mean; other numbers of four digits are not years."""
EARLIEST = date(FIRST_YEAR, 1, 1)
"""Where "until May" begins."""
TOLERANCE = {"day": 2, "week": 3, "weekend": 2, "month": 7, "year": 30, "quarter": 10, "decade": 30}
TOLERANCE |= {"season": 10, "hour": 1, "fortnight": 5, "span": 5, "weekday": 1}
_MANY = {"week": 5, "month": 10}
"""Days by which an expression may be wrong: SPEC §4.2."""


@dataclass(frozen=True, slots=True)
class Window:
    """A span of days that a temporal expression means."""

    first: date
    last: date
    """Inclusive."""
    tolerance_days: float
    """How far outside of the span a day still counts in full."""
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


class Token(NamedTuple):
    """A word, number or sign, or an expression that was made of some."""

    letter: str
    """What it can be: a letter of ``letters.txt`` or ``grammar.txt``."""
    value: Any
    """The value of a word, the number, or the span of an expression."""
    start: int
    end: int
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an expression means so far."""

    first: date
    last: date
    unit: str
    certainty: float = 0.95
    tolerance: float | None = None
    """``None`` for that of the unit."""
    has_year: bool = False
    in_year: Callable[[int], DaySpan | None] | None = None
    """The same in another year, where none is named."""
    others: tuple[DaySpan, ...] = ()
    """Other readings, as likely."""
    is_bare: bool = False
    """Nothing around it says that it is a time: perhaps a topic."""


@dataclass(frozen=True, slots=True)
class Duration:
    """A count of units."""

    count: float
    unit: str
    certainty: float = 0.95


@dataclass(frozen=True, slots=True)
class Setting:
    """What an expression is read in."""

    as_of: date
    order: str
    """Of numbers in a date: ``dmy``, ``mdy``, ``ymd``, or nothing where both may be."""
    text: str
    """As written."""
    folded: str
    language: str
    doubtful: frozenset[str] = frozenset()
    """Words that mean something else in a language that the text is as likely in."""


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


def in_some_year(
    make: Callable[[int], DaySpan | None],
    setting: Setting,
    unit: str,
    *,
    year: int | None = None,
    direction: int | None = None,
    certainty: float = 0.95,
    is_bare: bool = False,
) -> Meaning | None:
    """Return what comes once a year: in the year that is named, else the one that is meant.

    ``direction`` -1 is the last that is over, ``None`` the last that has begun, 0 that of this
    year or the one that is on, 1 the next to begin.
    """
    today = setting.as_of
    if year is not None:
        found = make(year) if FIRST_YEAR <= year < LAST_YEAR else None
        return Meaning(*found, unit, certainty, has_year=True) if found else None
    near = range(today.year - 9, today.year + 9)
    spans = [span for number in near if (span := make(number))]
    if direction is None:
        chosen = [span for span in spans if span[0] <= today][-1:]
    elif direction == 0:
        chosen = [span for span in spans if span[0] <= today <= span[1]]
        chosen = chosen or [span for span in spans if span[0].year == today.year]
    elif direction > 0:
        chosen = [span for span in spans if span[0] > today][direction - 1 :]
    else:
        chosen = [span for span in spans if span[1] < today][direction:]
    if not chosen:
        return None
    first, last = chosen[0]
    again = make if direction is None else None
    return Meaning(first, last, unit, certainty, in_year=again, is_bare=is_bare)


def move(day: date, count: float, unit: str) -> date:
    """Return the day so many units later, or earlier where the count is below 0.

    Months and years keep the day, or take the last of a shorter month.
    """
    if unit in ("month", "quarter", "year", "decade"):
        months = count * {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit]
        index = day.year * 12 + day.month - 1 + int(months)
        year, month = index // 12, index % 12 + 1
        if not FIRST_YEAR <= year < LAST_YEAR:
            raise OverflowError(f"{year} is out of reach")
        day = date(year, month, min(day.day, monthrange(year, month)[1]))
        return day + timedelta(round((months - int(months)) * 30))
    days = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14}.get(unit, 0)
    moved = day + timedelta(round(count * days))
    if not FIRST_YEAR <= moved.year < LAST_YEAR:
        raise OverflowError(f"{moved} is out of reach")
    return moved


def tolerance_of(duration: Duration) -> float:
    """Return by how many days "so many units ago" may be wrong."""
    if duration.count <= 1:
        return TOLERANCE[duration.unit]
    return _MANY.get(duration.unit, TOLERANCE[duration.unit])


def year_of(token: Token | None) -> int | None:
    """Return the year of a number, with or without a word for "year", or of "last year"."""
    if token is None:
        return None
    return int(token.value) if token.letter in "yn" else token.value.first.year


def span_of(setting: Setting, token: Token) -> DaySpan | None:
    """Return the days of a span, of a year that is written, or of the present unit."""
    if token.letter == "y":
        return month_span(int(token.value), 1, 12)
    if token.letter == "U":
        unit = str(token.value)
        return None if unit in ("hour", "day", "fortnight") else unit_span(unit, 0, setting.as_of)
    return token.value.first, token.value.last


def within(
    setting: Setting, token: Token, cut: Callable[[DaySpan], DaySpan | None], unit: str
) -> Meaning | None:
    """Return a part of a span; of one without a year it is the latest that has begun."""
    if token.letter in "yU" or token.value.in_year is None:
        span = span_of(setting, token)
        found = cut(span) if span else None
        has_year = token.letter == "y" or (token.letter != "U" and token.value.has_year)
        return Meaning(*found, unit, has_year=has_year) if found else None
    whole: Callable[[int], DaySpan | None] = token.value.in_year

    def cut_in_year(year: int) -> DaySpan | None:
        span = whole(year)
        return cut(span) if span else None

    return in_some_year(cut_in_year, setting, unit)

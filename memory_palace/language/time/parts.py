"""Parts of a span: early May, its first week, its last Friday, the second half of the year."""

from __future__ import annotations

from datetime import timedelta

from memory_palace.language.time.points import nth_weekday, numbered
from memory_palace.language.time.spans import (
    DaySpan,
    Meaning,
    Setting,
    Token,
    move,
    span_of,
    unit_span,
    within,
    year_of,
)

_LAST = -1
_WEEK_DAYS, _MONTH_DAYS = 7, 31


def of_span(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return the first week, the last three days or the second Monday of a span."""
    number = int(float(named["which"].value))
    if named["which"].letter in "Sp":
        return None
    long = named.get("long")
    unit = long.value.unit if long else named["unit"].value
    count = long.value.count if long else float(named["count"].value) if "count" in named else 1

    def cut(span: DaySpan) -> DaySpan | None:
        if "unit" in named and named["unit"].letter == "W":
            day = nth_weekday(*span, int(unit), number)
            return (day, day) if day else None
        if unit == "weekend":
            day = nth_weekday(*span, 5, number)
            return (day, day + timedelta(1)) if day else None
        return _cut(span, unit, count, number)

    if unit in ("hour", "decade"):
        return None
    return within(setting, named["within"], cut, "day" if unit == "day" and count == 1 else "span")


def _cut(span: DaySpan, unit: str, count: float, number: int) -> DaySpan | None:
    first, last = span
    if number == _LAST:
        cut = move(last + timedelta(1), -count, unit), last
    else:
        begins = move(first, (number - 1) * count, unit)
        cut = begins, move(begins, count, unit) - timedelta(1)
    return cut if first <= cut[0] and cut[1] <= last and cut[0] <= cut[1] else None


def half(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return a half: of a month by its 15th, of a longer span by its months."""
    which = int(float(named["which"].value))
    is_first = which == 1

    def cut(span: DaySpan) -> DaySpan | None:
        first, last = span
        days = (last - first).days + 1
        if days <= _WEEK_DAYS:
            return None
        if days <= _MONTH_DAYS:
            middle = first + timedelta(14)
        else:
            months = (last.year - first.year) * 12 + last.month - first.month + 1
            middle = move(first, months // 2, "month") - timedelta(1)
        return (first, middle) if is_first else (middle + timedelta(1), last)

    return within(setting, named["within"], cut, "span") if which in (1, 2, _LAST) else None


def third(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return the early, middle or late part: of a month 1-10, 11-20 and the rest."""
    part = int(named["part"].value) if "part" in named else 1
    if "middle" in named and setting.language in ("en", "de"):
        return None

    def cut(span: DaySpan) -> DaySpan | None:
        first, last = span
        days = (last - first).days + 1
        if days < _WEEK_DAYS:
            return None
        if days == _WEEK_DAYS:
            edges = [first, first + timedelta(2), first + timedelta(4), last + timedelta(1)]
        elif days <= _MONTH_DAYS:
            edges = [first, first + timedelta(10), first + timedelta(20), last + timedelta(1)]
        else:
            months = (last.year - first.year) * 12 + last.month - first.month + 1
            edges = [move(first, months * third // 3, "month") for third in range(4)]
        return edges[part], edges[part + 1] - timedelta(1)

    return within(setting, named["within"], cut, "span")


def half_year(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the first half-year of 2026", "H2 2024" and "上半年"."""
    which = named.get("number", named["half"])
    number = int(float(which.value)) % 3
    year = year_of(named.get("year") or named.get("later"))
    if number == 0:
        return None
    if "number" not in named and year is None and which.is_weak:
        return None
    return numbered(setting, "half", number, year)


def week_of(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return the week in which a day lies, or the weekend of that week."""
    day, unit = span_of(setting, named["within"]), str(named["week"].value)
    if unit not in ("week", "weekend") or day is None or day[0] != day[1]:
        return None
    has_year = named["within"].value.has_year
    return Meaning(*unit_span(unit, 0, day[0]), unit, has_year=has_year)


def named_day(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return a day that its weekday stands before."""
    meaning: Meaning = named["day"].value
    return meaning if meaning.unit == "day" and not meaning.is_bare else None


def weekday_of_week(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "Tuesday last week"."""
    monday = named["week"].value.first
    day = monday + timedelta(int(named["weekday"].value))
    return Meaning(day, day, "weekday")

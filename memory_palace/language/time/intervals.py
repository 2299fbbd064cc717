"""What is measured from today or from another date, and intervals between two."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta

from memory_palace.language.time.making import (
    TOLERANCE,
    Duration,
    Meaning,
    Setting,
    move,
    span_of,
    tolerance_of,
)
from memory_palace.language.time.spans import EARLIEST, nearest_weekday, unit_span
from memory_palace.language.time.tokens import Token

_DAY = timedelta(1)
_RECENT_DAYS = 14
_SOME, _VAGUE = 3, 0.5
_LASTING = re.compile(r" (?:of|after|following|de|del|der|des|nach|apres|dopo|despues|depois)\b")


def ago(setting: Setting, named: dict[str, Token]) -> Meaning:
    """Return "three weeks ago"."""
    long: Duration = named["long"].value
    if long.unit == "weekend":
        return Meaning(*unit_span("weekend", -int(long.count), setting.as_of), "weekend")
    day = move(setting.as_of, -long.count, long.unit)
    return Meaning(day, day, "day", long.certainty, tolerance_of(long))


def yearly_ago(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "Good Friday two years ago" and "in May three years ago": those of that year."""
    anchor, long = named["anchor"].value, named["long"].value
    if long.unit != "year" or long.count % 1 or anchor.in_year is None:
        return None
    span = anchor.in_year(setting.as_of.year - int(long.count))
    return (
        replace(anchor, first=span[0], last=span[1], has_year=True, is_bare=False) if span else None
    )


def some_ago(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "weeks ago": some three of them; "2000 years ago" is no year."""
    if setting.folded[: named["unit"].start].rstrip()[-1:].isdigit():
        return None
    some = Duration(_SOME, str(named["unit"].value), _VAGUE)
    return ago(setting, {"long": named["unit"]._replace(value=some)})


def weekday_beside(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the Monday after Easter"."""
    anchor: Meaning = named["anchor"].value
    is_before = named["to"].letter in "BV"
    weekday, edge = int(named["weekday"].value), anchor.first if is_before else anchor.last
    day = nearest_weekday(weekday, -1 if is_before else 1, edge)
    return Meaning(day, day, "weekday", has_year=anchor.has_year)


def weekday_ago(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "Wednesday two weeks ago": that of the week."""
    if named["long"].value.unit not in ("week", "month", "year"):
        return None
    monday, _ = unit_span("week", 0, ago(setting, named).first)
    day = monday + timedelta(int(named["weekday"].value))
    return Meaning(day, day, "weekday")


def ahead(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "in three days"; "in six months of" and "within a minute" tell how long."""
    long: Duration = named["long"].value
    is_brief = long.unit == "hour" or (long.unit in ("day", "weekend") and long.count <= 1)
    if is_brief or _LASTING.match(setting.folded, named["long"].end):
        return None
    day = move(setting.as_of, long.count, long.unit)
    return Meaning(day, day, "day", long.certainty, tolerance_of(long))


def since_long(setting: Setting, named: dict[str, Token]) -> Meaning:
    """Return "seit drei Tagen": from then up to today."""
    return replace(ago(setting, named), last=setting.as_of, unit="span")


def since_da(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return the Italian "da tre settimane"."""
    return since_long(setting, named) if setting.language == "it" else None


def rolling(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the last three months" up to today, and "the next two weeks" from today on."""
    if "long" in named:
        long: Duration = named["long"].value
    else:
        long = Duration(float(named["count"].value), named["unit"].value)
    offset = float(named["shift"].value)
    if offset == 0:
        offset = -1
    edge = move(setting.as_of, long.count * (1 if offset > 0 else -1), long.unit)
    first, last = sorted((edge, setting.as_of))
    return Meaning(first, last, "span", long.certainty, tolerance_of(long))


def recently(setting: Setting, named: dict[str, Token]) -> Meaning:
    """Return "recently": fourteen days ago, and as many around."""
    day = setting.as_of - timedelta(_RECENT_DAYS)
    return Meaning(day, day, "day", 0.6, _RECENT_DAYS)


def beside(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "two days after March 5", "the week before Easter" and "the eve of it"."""
    anchor: Meaning = named["anchor"].value
    if "eve" in named:
        count, unit, is_before = 1.0, "day", float(named["eve"].value) < 0
    else:
        token = named["long"]
        is_unit = token.letter == "U"
        count, unit = (1.0, str(token.value)) if is_unit else (token.value.count, token.value.unit)
        is_before = named["to"].letter in "BVg<"
        if unit == "hour" or (is_unit and named["to"].letter in "g<l>"):
            return None
        if is_unit and unit != "day":
            return _next_to(anchor, unit, is_before=is_before)
    sign = -1 if is_before else 1
    day = move(anchor.first if is_before else anchor.last, sign * count, unit)
    tolerance = tolerance_of(Duration(count, unit))
    return Meaning(day, day, "day", min(anchor.certainty, 0.95), tolerance, anchor.has_year)


def _next_to(anchor: Meaning, unit: str, *, is_before: bool) -> Meaning:
    """Return the whole week, month or year before a date, or after it."""
    if is_before:
        first, last = move(anchor.first, -1, unit), anchor.first - _DAY
    else:
        first, last = anchor.last + _DAY, move(anchor.last, 1, unit)
    return Meaning(first, last, "span", has_year=anchor.has_year)


def between(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return from the first day of one to the last of the other; a year holds for both."""
    spans = [_read(setting, named[side]) for side in "ab"]
    if spans[0] is None or spans[1] is None:
        return None
    left, right = spans[0], spans[1]
    if left.in_year and right.in_year:
        right = _after(right, left)
    elif left.in_year:
        left = _before(left, right)
    elif right.in_year:
        right = _after(right, left)
    if left.first > right.last:
        return None
    certainty = min(left.certainty, right.certainty)
    return Meaning(
        left.first,
        right.last,
        "span",
        certainty,
        _tolerance(right),
        left.has_year or right.has_year,
    )


def _read(setting: Setting, token: Token) -> Meaning | None:
    if token.letter != "y":
        meaning: Meaning = token.value
        return meaning
    days = span_of(setting, token)
    return Meaning(*days, "year", has_year=True) if days else None


def _after(right: Meaning, left: Meaning) -> Meaning:
    """Return the right end in the first year in which it is not before the left one."""
    for year in (left.first.year, left.first.year + 1):
        days = right.in_year(year) if right.in_year else None
        if days and days[1] >= left.first:
            return replace(right, first=days[0], last=days[1])
    return right


def _before(left: Meaning, right: Meaning) -> Meaning:
    for year in (right.last.year, right.last.year - 1):
        days = left.in_year(year) if left.in_year else None
        if days and days[0] <= right.last:
            return replace(left, first=days[0], last=days[1])
    return left


def edge(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "since", "until", "before" and "after" a date; what is open ends today or long ago."""
    [(name, token)] = [pair for pair in named.items() if pair[0] != "at"]
    meaning = _read(setting, token)
    if meaning is None:
        return None
    today, first, last = setting.as_of, EARLIEST, setting.as_of
    if name == "since":
        first = meaning.first
    elif name == "until":
        last = meaning.last
    elif name == "before":
        last = meaning.first - _DAY
    else:
        first = meaning.last + _DAY
    if first > today and name in ("since", "after"):
        last = date(first.year + 1, 12, 31)
    certainty = min(meaning.certainty, 0.9)
    return (
        replace(
            meaning,
            first=first,
            last=last,
            unit="span",
            certainty=certainty,
            in_year=None,
            others=(),
            is_bare=False,
            tolerance=_tolerance(meaning),
        )
        if first <= last
        else None
    )


def _tolerance(meaning: Meaning) -> float | None:
    return meaning.tolerance if meaning.tolerance is not None else TOLERANCE[meaning.unit]

"""What is counted from today or from another date, and intervals between two dates."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

from memory_palace.language.time.lexicon import follows
from memory_palace.language.time.spans import (
    EARLIEST,
    TOLERANCE,
    DaySpan,
    Duration,
    Meaning,
    Setting,
    Token,
    make_day,
    month_span,
    move,
    nearest_weekday,
    span_of,
    tolerance_of,
    unit_span,
)

_ROUGH_COUNT = 0.7
_TEN, _HUNDRED, _WEEK = 10, 100, timedelta(7)
_OF_SOMETHING = re.compile(
    r"(?:^|.?\W)a (?:segunda|quarta|quinta|sexta) (?!que\b|a\b|da\b|de\b|eu\b)[^\W\d]"
)
"""What is no day: "a quinta sinfonia"."""
_SHORT = frozenset(("segunda", "quarta", "quinta", "sexta"))
_LIKELY, _TOPIC = 0.6, 0.4
_DAY = timedelta(1)
_RECENT_DAYS = 14
_SOME, _VAGUE = 3, 0.5


def compound(setting: Setting, named: dict[str, Token]) -> float | None:
    """Return the number of "twenty-one" or "vingt et un", or of the ordinal."""
    ten, one = float(named["ten"].value), float(named["one"].value)
    if ten == _HUNDRED and one < _HUNDRED:
        return ten + one
    return ten + one if 2 * _TEN <= ten < _HUNDRED and ten % _TEN == 0 and one < _TEN else None


def duration(setting: Setting, named: dict[str, Token]) -> Duration | None:
    """Return "three weeks", "half a year", "two and a half years" or "a few days"."""
    count = named.get("count")
    if count and follows("part", setting.folded, count.end):
        return None  # el 3 del mes pasado
    number = float(count.value) if count else 0.0
    if "half" in named:  # "a year and a half" may leave its one out
        is_behind = named["half"].start > named["unit"].start
        number += 1.5 if is_behind and not count else 0.5
    certainty = _ROUGH_COUNT if count and count.letter == "f" else 0.95
    return Duration(number, named["unit"].value, certainty) if number else None


def day_alone(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "on the 12th", "el día 12" or 12日: the latest day with that number."""
    token, today = named["day"], setting.as_of
    is_counted = "number" in named and named["number"].value != "day"
    written, following = (setting.folded[token.end + at : token.end + at + 1] for at in (-1, 0))
    is_ordinal = written.isalpha() and setting.language != "en"  # el 3er elemento
    if token.letter != "q" and (
        is_counted or is_ordinal or not setting.folded[token.start].isdigit()
    ):
        return None
    months = (month_span(today.year, today.month - back)[0] for back in range(3))
    days = (make_day(first.year, first.month, int(float(token.value))) for first in months)
    day = next((day for day in days if day and day <= today), None)
    if day is None:
        return None
    if token.letter == "q":  # as often the number of a house or a line
        is_day = "weekday" in named or (written == "日" and following in tuple("にはまか那"))
        return Meaning(day, day, "day", _LIKELY if is_day else _TOPIC)
    return Meaning(day, day, "day", _LIKELY, is_bare=True)


def shifted_unit(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "last week", "this month", "去年" or "the week before last"."""
    unit, shift = str(named["unit"].value), named.get("shift")
    if "last" in named or "next" in named:  # the week before last, after next
        offset = 2 if "next" in named else -2
    elif shift is None:  # one word for both
        unit, _, distance = unit.partition("_")
        offset = int(distance)
    else:
        offset = int(float(shift.value))
    if unit in ("hour", "day"):
        return None
    is_last = shift is not None and offset == -1 and unit in ("decade", "fortnight")
    if is_last or (shift and shift.letter == "p"):
        return Meaning(move(setting.as_of, -1, unit), setting.as_of, unit)
    return Meaning(*unit_span(unit, offset, setting.as_of), unit)


def shifted_year(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "last year" and "last month", which other expressions are within."""
    return shifted_unit(setting, named) if named["unit"].value in ("year", "month") else None


def weekend(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "at the weekend": the latest that is over."""
    if named["weekend"].value != "weekend":
        return None
    days = unit_span("weekend", -1, setting.as_of)
    return Meaning(*days, "weekend", 0.9 if "at" in named else 0.7, is_bare="at" not in named)


def weekday(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "last Tuesday", "this Friday", "on Monday"."""
    token = named["weekday"]
    number, today = int(token.value), setting.as_of
    at, shift = named.get("at"), named.get("shift")
    if token.is_weak and not shift and not (at and at.letter in "ij"):
        return None
    if token.is_weak and setting.folded[: token.start].endswith("the "):
        return None
    offset = int(float(shift.value)) if shift else None
    if offset == 0 or (shift and setting.language == "zh"):  # 上周五 is that of last week
        day = unit_span("week", offset or 0, today)[0] + timedelta(number)
    else:
        steps = offset or -1
        day = nearest_weekday(number, steps, today)
        day += timedelta(7 * (steps + 1 if steps < 0 else steps - 1))
    is_bare = not (shift or at or "time" in named)
    return Meaning(day, day, "weekday", 0.9, is_bare=is_bare)


def short_weekday(setting: Setting, named: dict[str, Token]) -> str | None:
    """Return the number of "segunda", which is Monday in Portuguese where it counts nothing."""
    token = named["ordinal"]
    is_name = setting.language == "pt" and setting.folded[token.start : token.end] in _SHORT
    if _OF_SOMETHING.match(setting.folded[max(0, token.start - 3) :]):
        return None
    return str(int(token.value) - 2) if is_name else None


def day_word(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "yesterday" and "gestern Abend"; "der Morgen" and "por la mañana" are none."""
    token = named["day"]
    is_noun = setting.language == "de" and token.start > 0 and setting.text[token.start].isupper()
    if token.is_weak or (token.letter == "Q" and ("before" in named or is_noun)):
        return None
    day = setting.as_of + timedelta(int(token.value))
    return Meaning(day, day, "day", 0.9)


def ago(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "three weeks ago", and "weeks ago", some three; "2000 years ago" is no year."""
    token = named["long"]
    if token.letter == "U" and setting.folded[: token.start].rstrip()[-1:].isdigit():
        return None
    some = Duration(_SOME, str(token.value), _VAGUE)
    long: Duration = some if token.letter == "U" else token.value
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


def weekday_beside(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the Monday after Easter"."""
    anchor: Meaning = named["anchor"].value
    is_before = named["to"].letter in "BV"
    weekday, edge = int(named["weekday"].value), anchor.first if is_before else anchor.last
    day = nearest_weekday(weekday, -1 if is_before else 1, edge)
    return Meaning(day, day, "weekday", has_year=anchor.has_year)


def ahead(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "in three days"; "in six months of" and "within a minute" tell how long."""
    long: Duration = named["long"].value
    is_brief = long.unit == "hour" or (long.unit in ("day", "weekend") and long.count <= 1)
    if is_brief or follows("lasting", setting.folded, named["long"].end):
        return None
    day = move(setting.as_of, long.count, long.unit)
    return Meaning(day, day, "day", long.certainty, tolerance_of(long))


def since_long(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "seit drei Tagen": from then up to today."""
    end = named["long"].end
    if "降" in setting.folded[end : end + 3]:  # 三日以降 is counted from another day
        return None
    then = ago(setting, named)
    return then and replace(then, last=setting.as_of, unit="span")


def rolling(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the last three months" up to today, and "the next two weeks" from today on."""
    if "long" in named:
        long: Duration = named["long"].value
    else:
        long = Duration(float(named["count"].value), named["unit"].value)
    shift = named["shift"]
    is_next = shift.letter not in "<c" and float(shift.value) > 0
    edge = move(setting.as_of, long.count * (1 if is_next else -1), long.unit)
    first, last = sorted((edge, setting.as_of))
    return Meaning(first, last, "span", long.certainty, tolerance_of(long))


def recently(setting: Setting, named: dict[str, Token]) -> Meaning:
    """Return "recently": fourteen days ago, and as many around."""
    day = setting.as_of - timedelta(_RECENT_DAYS)
    is_nearest = setting.folded[named["recent"].end :][:1] == "的"  # 最近的 is one of some
    return Meaning(day, day, "day", _TOPIC if is_nearest else _LIKELY, _RECENT_DAYS)


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
    spans = [_read_end(setting, named[side]) for side in "ab"]
    if spans[0] is None or spans[1] is None:
        return None
    left, right = spans[0], spans[1]
    if left.unit == right.unit == "weekday" and left.first > right.first:
        left = replace(left, first=left.first - _WEEK, last=left.last - _WEEK)
    first, last = left.first.year, right.last.year
    if right.in_year:  # in the first year in which it is not before the left one
        right = _in_year(right, (first, first + 1), lambda days: days[1] >= left.first)
    elif left.in_year:
        left = _in_year(left, (last, last - 1), lambda days: days[0] <= right.last)
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


def _read_end(setting: Setting, token: Token) -> Meaning | None:
    if token.letter != "y":
        meaning: Meaning = token.value
        return meaning
    days = span_of(setting, token)
    return Meaning(*days, "year", has_year=True) if days else None


def _in_year(meaning: Meaning, years: tuple[int, int], fits: Callable[[DaySpan], bool]) -> Meaning:
    """Return what comes once a year in the first of some years in which it fits."""
    spans = (meaning.in_year(year) for year in years) if meaning.in_year else ()
    found = next((span for span in spans if span and fits(span)), None)
    return replace(meaning, first=found[0], last=found[1]) if found else meaning


def edge(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "since", "until", "before" and "after" a date; what is open ends today or long ago."""
    [(name, token)] = [pair for pair in named.items() if pair[0] not in ("at", "sign")]
    if "sign" in named and named["sign"].is_weak:  # 春天开始的
        return None
    meaning = _read_end(setting, token)
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

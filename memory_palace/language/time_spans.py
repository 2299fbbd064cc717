"""Spans of days: the meaning of a time expression, and rules for relative times.

First the values, and arithmetic on calendar days; then the rules of ``grammar.txt`` for times
relative to today or to another date, and for intervals between two dates.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from memory_palace.language.words import read_table

DaySpan: TypeAlias = tuple[date, date]
"""First and last day, both inclusive."""
Counted: TypeAlias = tuple[int, int | None, str]
"""Slice of all notes that are a ``talk``, an ``entry`` or, if empty, either."""
FIRST_YEAR, LAST_YEAR = 1900, 2200
"""Range of years that are read; other numbers of four digits are not years."""
EARLIEST, LATEST = date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 1, 1)
"""First day of an open interval such as "until May"."""
TOLERANCE = {"day": 2, "week": 3, "weekend": 2, "month": 7, "year": 30, "quarter": 10, "decade": 30}
TOLERANCE |= {"season": 10, "hour": 1, "fortnight": 5, "span": 5, "weekday": 1}
_MANY = {"week": 5, "month": 10}
"""Tolerance in days by unit, and that of several units (SPEC §4.2)."""


@dataclass(frozen=True, slots=True)
class Window:
    """A span of days that a time expression means."""

    first: date
    last: date
    """Inclusive."""
    tolerance_days: float
    """Days outside of the span that still count in full."""
    expression: str = ""
    notes: tuple[str, ...] = ()
    """If talks or entries were counted: the paths of the notes meant."""


@dataclass(frozen=True, slots=True, order=True)
class TimeExpression:
    """A time expression: its offsets in a text and its meaning."""

    start: int
    end: int
    text: str
    windows: tuple[Window, ...]
    """One per reading, all equally likely."""
    unit: str
    """Its precision: ``day``, ``month``, ``year`` or ``span``."""
    certainty: float
    """In (0, 1]; below .5 it may well be a topic: "in winter the cells die"."""
    has_year: bool
    """Whether its year is given, so that the day of reading does not matter."""
    counted: Counted | None = None
    """Which of the notes dated in its windows are meant, if not all."""

    @property
    def is_calendar(self) -> bool:
        """Whether it has a digit: "March 5", but also "3 days ago", and not "yesterday"."""
        return any(char.isdigit() for char in self.text)


class Token(NamedTuple):
    """A word, number or sign, or an expression that a rule made of tokens."""

    letter: str
    """Its category: a letter of ``letters.txt`` or ``grammar.txt``."""
    value: Any
    """The value of a word or number, or the result of a rule."""
    start: int
    end: int
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of an expression while rules are applied."""

    first: date
    last: date
    unit: str
    certainty: float = 0.95
    tolerance: float | None = None
    """In days; ``None`` for that of the unit."""
    has_year: bool = False
    in_year: Callable[[int], DaySpan | None] | None = None
    """Its span in any given year, unless a year is named."""
    others: tuple[DaySpan, ...] = ()
    """Other readings, equally likely."""
    is_bare: bool = False
    """Whether nothing around it marks it as a time, so that it may be a topic."""
    counted: Counted | None = None


@dataclass(frozen=True, slots=True)
class Duration:
    """A count of units."""

    count: float
    unit: str
    certainty: float = 0.95


@dataclass(frozen=True, slots=True)
class Setting:
    """The context in which an expression is read."""

    as_of: date
    order: str
    """Order of numbers in a date: ``dmy``, ``mdy``, ``ymd``, or empty if ambiguous."""
    text: str
    """The text as written."""
    folded: str
    language: str
    doubtful: frozenset[str] = frozenset()
    """Words that are weak in a language at least as likely as that of the tokens."""
    counts_talks: bool = False


def make_day(year: int, month: int, day: int) -> date | None:
    """Return a date; ``None`` if there is no such day or its year is out of range."""
    if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= month <= 12):
        return None
    return date(year, month, day) if 1 <= day <= monthrange(year, month)[1] else None


def nearest_weekday(weekday: int, direction: int, as_of: date) -> date:
    """Return the nearest weekday (0 is Monday) after today, or before if ``direction`` < 0."""
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
    """Return the calendar unit ``offset`` units from ``as_of``; weeks begin on Monday.

    A weekend is the end of its week, so that of offset -1 is over. Raise ``ValueError`` for a year
    that no date has.
    """
    monday = as_of - timedelta(as_of.weekday()) + timedelta(weeks=offset)
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
    """Return a yearly span in ``year``, or else the occurrence that ``direction`` selects.

    ``direction`` -1 is the last that is over, ``None`` the last that has begun, 0 the current one
    or else that of this year, 1 the next to begin.
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
    """Return the day ``count`` units later, or earlier if ``count`` is below 0.

    Months and years keep the day or clip it. Raise ``OverflowError`` outside of the known years.
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
    """Return the tolerance of "so many units ago", in days."""
    if duration.count <= 1:
        return TOLERANCE[duration.unit]
    return _MANY.get(duration.unit, TOLERANCE[duration.unit])


def year_of(token: Token | None) -> int | None:
    """Return the year of a number, or of a span such as "last year"; ``None`` without a token."""
    if token is None:
        return None
    return int(token.value) if token.letter in "yn" else token.value.first.year


def span_of(setting: Setting, token: Token) -> DaySpan | None:
    """Return the days of a span, of a written year, or of the current calendar unit."""
    if token.letter == "y":
        return month_span(int(token.value), 1, 12)
    if token.letter == "U":
        unit = str(token.value)
        return None if unit in ("hour", "day", "fortnight") else unit_span(unit, 0, setting.as_of)
    return token.value.first, token.value.last


def within(
    setting: Setting, token: Token, cut: Callable[[DaySpan], DaySpan | None], unit: str
) -> Meaning | None:
    """Return a part of a span; without a year, the latest such part that has begun."""
    if token.letter in "yU" or token.value.in_year is None:
        span = span_of(setting, token)
        found = cut(span) if span else None
        has_year = token.letter == "y" or (token.letter != "U" and token.value.has_year)
        return Meaning(*found, unit, has_year=has_year) if found else None
    whole: Callable[[int], DaySpan | None] = token.value.in_year
    return in_some_year(lambda year: (span := whole(year)) and cut(span), setting, unit)


_REACH = 24
"""Most characters before an expression that are searched for a word."""


def precedes(kind: str, folded: str, end: int) -> bool:
    """Whether a word of the list ``kind`` of ``around.txt`` ends at an offset of a folded text."""
    return _around(kind)[0].search(folded, max(0, end - _REACH), end) is not None


def follows(kind: str, folded: str, start: int) -> bool:
    """Whether a word of the list ``kind`` of ``around.txt`` follows an offset of a folded text."""
    return _around(kind)[1].match(folded, start) is not None


@cache
def _around(kind: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = "|".join(read_table("time/around.txt")[kind].split()).replace("_", " ")
    return re.compile(rf"\b(?:{words})[ .'=]*\Z"), re.compile(rf" (?:{words})\b")


_ROUGH_COUNT = 0.7
_TEN, _HUNDRED, _WEEK = 10, 100, timedelta(7)
_OF_SOMETHING = re.compile(
    r"(?:^|.?\W)a (?:segunda|quarta|quinta|sexta) (?!que\b|a\b|da\b|de\b|eu\b)[^\W\d]"
)
"""Portuguese ordinals that are not weekdays: "a quinta sinfonia"."""
_SHORT = frozenset(("segunda", "quarta", "quinta", "sexta"))
_LIKELY, _TOPIC = 0.6, 0.4
_DAY = timedelta(1)
_RECENT_DAYS = 14
_SOME, _VAGUE = 3, 0.5


def compound(setting: Setting, named: dict[str, Token]) -> float | None:
    """Return the sum of tens and ones: "twenty-one", "vingt et un", or an ordinal."""
    ten, one = float(named["ten"].value), float(named["one"].value)
    return ten + one if 2 * _TEN <= ten < _HUNDRED and ten % _TEN == 0 and one < _TEN else None


def duration(setting: Setting, named: dict[str, Token]) -> Duration | None:
    """Return the duration "three weeks", "half a year", "two and a half years" or "a few days"."""
    count = named.get("count")
    if count and follows("part", setting.folded, count.end):
        return None  # el 3 del mes pasado
    number = float(count.value) if count else 0.0
    if "half" in named:  # "a year and a half" may lack its count
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
    if day and token.letter == "q":  # often the number of a house or a line
        is_day = "weekday" in named or (written == "日" and following in tuple("にはまか那"))
        return Meaning(day, day, "day", _LIKELY if is_day else _TOPIC)
    return Meaning(day, day, "day", _LIKELY, is_bare=True) if day else None


def shifted_unit(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "last week", "this month", "去年" or "the week before last"."""
    unit, shift = str(named["unit"].value), named.get("shift")
    if "last" in named or "next" in named:  # the week before last, after next
        offset = 2 if "next" in named else -2
    elif shift is None:  # one word for unit and shift
        unit, _, distance = unit.partition("_")
        offset = int(distance)
    else:
        offset = int(float(shift.value))
    if unit in ("hour", "day"):
        return None
    is_last = shift is not None and offset == -1 and unit in ("decade", "fortnight")
    if is_last or (shift and shift.letter == "p") or "this" in named:
        return Meaning(move(setting.as_of, -1, unit), setting.as_of, unit)
    return Meaning(*unit_span(unit, offset, setting.as_of), unit)


def shifted_year(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return the span of "last year" or "last month", which other expressions refer to."""
    return shifted_unit(setting, named) if named["unit"].value in ("year", "month") else None


def weekend(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "at the weekend": the latest weekend that is over."""
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
    if offset == 0 or (shift and setting.language == "zh"):  # 上周五 is Friday of last week
        day = unit_span("week", offset or 0, today)[0] + timedelta(number)
    else:
        steps = offset or -1
        day = nearest_weekday(number, steps, today)
        day += timedelta(7 * (steps + 1 if steps < 0 else steps - 1))
    is_bare = not (shift or at or "time" in named)
    return Meaning(day, day, "weekday", 0.9, is_bare=is_bare)


def short_weekday(setting: Setting, named: dict[str, Token]) -> str | None:
    """Return the weekday of Portuguese "segunda" (Monday, 0); ``None`` for an ordinal."""
    token = named["ordinal"]
    is_name = setting.language == "pt" and setting.folded[token.start : token.end] in _SHORT
    if _OF_SOMETHING.match(setting.folded[max(0, token.start - 3) :]):
        return None
    return str(int(token.value) - 2) if is_name else None


def day_word(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "yesterday" and "gestern Abend"; "der Morgen" and "por la mañana" are not days."""
    token = named["day"]
    is_noun = setting.language == "de" and token.start > 0 and setting.text[token.start].isupper()
    if token.is_weak or (token.letter == "Q" and ("before" in named or is_noun)):
        return None
    day = setting.as_of + timedelta(int(token.value))
    return Meaning(day, day, "day", 0.9)


def earlier_day(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "earlier today": without the last talk or entry of the day, which still goes on."""
    day = day_word(setting, named)
    return day and replace(day, counted=(0, -1, ""))


def ago(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "three weeks ago", and "weeks ago" as about three; "2000 years ago" is not read."""
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
    """Return a yearly span some years ago: "Good Friday two years ago"."""
    anchor: Meaning = named["anchor"].value
    long: Duration = named["long"].value
    if long.unit != "year" or anchor.in_year is None:
        return None
    span = anchor.in_year(setting.as_of.year - int(long.count))
    return span and replace(anchor, first=span[0], last=span[1], has_year=True, is_bare=False)


def weekday_beside(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the Monday after Easter"."""
    anchor: Meaning = named["anchor"].value
    is_before = named["to"].letter in "BV"
    weekday, edge = int(named["weekday"].value), anchor.first if is_before else anchor.last
    day = nearest_weekday(weekday, -1 if is_before else 1, edge)
    return Meaning(day, day, "weekday", has_year=anchor.has_year)


def ahead(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "in three days"; "in six months of" and "within a minute" are durations."""
    long: Duration = named["long"].value
    is_brief = long.unit == "hour" or (long.unit in ("day", "weekend") and long.count <= 1)
    if is_brief or follows("lasting", setting.folded, named["long"].end):
        return None
    day = move(setting.as_of, long.count, long.unit)
    return Meaning(day, day, "day", long.certainty, tolerance_of(long))


def since_long(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "seit drei Tagen" as a span up to today."""
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
    """Return "recently": fourteen days ago, with a tolerance of fourteen days."""
    day = setting.as_of - timedelta(_RECENT_DAYS)
    is_nearest = setting.folded[named["recent"].end :][:1] == "的"  # 最近的 is one of some
    return Meaning(day, day, "day", _TOPIC if is_nearest else _LIKELY, _RECENT_DAYS)


def beside(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "two days after March 5", "the week before Easter" or the eve of a date."""
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
    """Return the span from the first day of ``a`` to the last of ``b``; a year holds for both."""
    spans = [_read_end(setting, named[side]) for side in "ab"]
    if spans[0] is None or spans[1] is None:
        return None
    left, right = spans[0], spans[1]
    if left.unit == right.unit == "weekday" and left.first > right.first:
        left = replace(left, first=left.first - _WEEK, last=left.last - _WEEK)
    first, last = left.first.year, right.last.year
    if right.in_year:  # in the first year in which it is not before ``left``
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
    """Return a yearly span in the first of ``years`` in which it fits, else unchanged."""
    spans = (meaning.in_year(year) for year in years) if meaning.in_year else ()
    found = next((span for span in spans if span and fits(span)), None)
    return replace(meaning, first=found[0], last=found[1]) if found else meaning


def edge(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "since", "until", "before" and "after" a date; open ends are today and 1900."""
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

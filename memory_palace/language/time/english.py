"""What English expressions of time mean: a pattern each, and a function from match to windows.

Rules claim their text in order, so that "March 5, 2024" is not read as "March" as well. Offsets and
tolerances are those of SPEC §4.2: days 2, a week 3, weeks 5, a month 7, months 10, a year 30,
"recently" 14 ± 14.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, timedelta
from typing import NamedTuple

from memory_palace.language.time.spans import (
    EARLIEST,
    FIRST_YEAR,
    LAST_YEAR,
    SEASONS,
    Window,
    make_day,
    month_span,
    nearest_span,
    nearest_weekday,
    unit_span,
)
from memory_palace.language.vocabulary import word_set

_MONTHS_OF_YEAR = """january february march april may june july august september october november
december"""
_DAYS_OF_WEEK = "monday tuesday wednesday thursday friday saturday sunday"
_MONTH_NAMES, WEEKDAY_NAMES = _MONTHS_OF_YEAR.split(), _DAYS_OF_WEEK.split()
_MONTHS = {name[:3]: number for number, name in enumerate(_MONTH_NAMES, start=1)}


def _spell(listed: Mapping[int, str]) -> dict[str, int]:
    """Return the number of each of the words that are listed for it."""
    return {words: number for number, text in listed.items() for words in text.split(", ")}


_COUNTED = "one two three four five six seven eight nine ten eleven twelve".split()
_NUMBERS = {word: number for number, word in enumerate(_COUNTED, start=1)} | _spell(
    {
        1: "a, an",
        2: "couple, a couple, a couple of, couple of",
        3: "few, a few",
        4: "several",
    }
)
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_ONE = {"day": 2, "week": 3, "month": 7, "year": 30, "weekend": 2}
_MANY = {"day": 2, "week": 5, "month": 10, "year": 30}
_SEASON_TOLERANCE = 10
_DIRECTIONS = _spell({-1: "last, past, previous", 0: "this, current", 1: "next, coming, upcoming"})
_DAY_WORDS = _spell(
    {
        -2: "the day before yesterday",
        -1: "yesterday, yesterday's, last night",
        0: "today, today's, tonight, this morning, this afternoon, this evening",
        1: "tomorrow, tomorrow's",
        2: "the day after tomorrow",
    }
)

_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_YEAR = r"(?P<year>(?:19|20|21)\d\d)(?![\d-])"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_COUNT = (
    r"(?P<count>\d{1,3}|(?:a )?(?:couple|few)(?: of)?|several|an?|one|two|three|four|five|six|"
    r"seven|eight|nine|ten|eleven|twelve)"
)
_WHICH = r"(?P<which>last|past|previous|this|current|next|coming|upcoming)"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"
_WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAY_NAMES)})"
_WHOSE = _WHICH.replace("<which>", "<whose>")
_WHOSE_YEAR = rf",?(?: of| in)? (?:the )?{_WHOSE} year\b"
_YEARLY = rf"\b{_WHOSE} year(?:['’]s)?,?(?: (?:in|on|during))?(?: the)?"
"""What goes behind "August" or before it: "August last year", "last year in August"."""


Make = Callable[[re.Match[str], date], Iterable[Window]]


class Rule(NamedTuple):
    """One kind of expression."""

    pattern: re.Pattern[str]
    make: Make
    unit: str
    """How exact it is: ``day``, ``month``, ``year`` or ``span``."""
    hints: frozenset[str]
    """Words, one of which has to be there for the pattern to be tried."""


def _window(match: re.Match[str], span: tuple[date, date], tolerance: float) -> Window:
    return Window(*span, tolerance, expression=match[0].strip())


def _full_day(match: re.Match[str], as_of: date) -> Iterator[Window]:
    parts = match.groupdict()
    month = _number_of_month(parts["month"])
    number = int(parts["day"])
    named = _year_named(match, as_of)
    years = [as_of.year, as_of.year - 1] if named is None else [named]
    days = (make_day(year, month, number) for year in years)
    day = next((d for d in days if d and (named is not None or d <= as_of)), None)
    if day:
        yield _window(match, (day, day), _ONE["day"])


def _numeric_day(match: re.Match[str], _: date) -> Iterator[Window]:
    """Read ``3/4/2024`` both ways where both are days."""
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    year += 2000 if year < 100 else 0
    days = {make_day(year, first, second), make_day(year, second, first)} - {None}
    for day in sorted(day for day in days if day):
        yield Window(day, day, _ONE["day"], 1 / len(days), match[0])


def _month(match: re.Match[str], as_of: date) -> Iterator[Window]:
    month = _number_of_month(match["month"])
    yield _window(match, _months_meant(match, month, 1, as_of), _ONE["month"])


def _season(match: re.Match[str], as_of: date) -> Iterator[Window]:
    month = SEASONS[match["season"].casefold()]
    yield _window(match, _months_meant(match, month, 3, as_of), _SEASON_TOLERANCE)


def _months_meant(match: re.Match[str], month: int, months: int, as_of: date) -> tuple[date, date]:
    """Return so many months from one on, of the year that is named or of the one that is meant."""
    year = _year_named(match, as_of)
    if year is not None:
        return month_span(year, month, months)
    direction = _DIRECTIONS.get((match.groupdict().get("which") or "").casefold(), 0)
    return nearest_span(month, months, direction, as_of)


def _year_named(match: re.Match[str], as_of: date) -> int | None:
    """Return the year that is written, or is meant by "last year"."""
    parts = match.groupdict()
    if parts.get("year"):
        return int(parts["year"])
    which = parts.get("whose") or ""
    return as_of.year + _DIRECTIONS[which.casefold()] if which else None


def _year(match: re.Match[str], _: date) -> Iterator[Window]:
    year = int(match["year"])
    yield _window(match, (date(year, 1, 1), date(year, 12, 31)), _ONE["year"])


def _ago(match: re.Match[str], as_of: date) -> Iterator[Window]:
    count, unit = _count(match["count"]), match["unit"].casefold()
    days = count * _DAYS[unit]
    if days < (as_of - EARLIEST).days:
        day = as_of - timedelta(days)
        yield _window(match, (day, day), (_ONE if count == 1 else _MANY)[unit])


def _past_units(match: re.Match[str], as_of: date) -> Iterator[Window]:
    count, unit = _count(match["count"]), match["unit"].casefold()
    days = timedelta(min(count * _DAYS[unit], 36_500))
    is_ahead = _DIRECTIONS[match["which"].casefold()] > 0
    span = (as_of, as_of + days) if is_ahead else (as_of - days, as_of)
    yield _window(match, span, (_ONE if count == 1 else _MANY)[unit])


def _unit(match: re.Match[str], as_of: date) -> Iterator[Window]:
    unit = match["unit"].casefold()
    direction = _DIRECTIONS[match["which"].casefold()]
    yield _window(match, unit_span(unit, direction, as_of), _ONE[unit])


def _weekend(match: re.Match[str], as_of: date) -> Iterator[Window]:
    yield _window(match, unit_span("weekend", -1, as_of), _ONE["weekend"])


def _weekday(match: re.Match[str], as_of: date) -> Iterator[Window]:
    weekday = WEEKDAY_NAMES.index(match["weekday"].casefold())
    direction = _DIRECTIONS[match["which"].casefold()]
    day = nearest_weekday(weekday, direction, as_of)
    yield _window(match, (day, day), 1)


def _weekday_of_week(match: re.Match[str], as_of: date) -> Iterator[Window]:
    monday, _ = unit_span("week", _DIRECTIONS[match["whose"].casefold()], as_of)
    day = monday + timedelta(WEEKDAY_NAMES.index(match["weekday"].casefold()))
    yield _window(match, (day, day), 1)


def _day_word(match: re.Match[str], as_of: date) -> Iterator[Window]:
    day = as_of + timedelta(_DAY_WORDS[match[0].casefold().replace("’", "'")])
    yield _window(match, (day, day), _ONE["day"])


def _recently(match: re.Match[str], as_of: date) -> Iterator[Window]:
    day = as_of - timedelta(14)
    yield _window(match, (day, day), 14)


def _count(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[" ".join(text.casefold().split())]


def _number_of_month(text: str) -> int:
    return int(text) if text.isdigit() else _MONTHS[text.casefold()[:3]]


def _rule(pattern: str, make: Make, hints: frozenset[str], unit: str = "span") -> Rule:
    return Rule(re.compile(pattern, re.I), make, unit, hints)


_SURE_MONTH = _MONTH.replace("mar(?:ch)?", "(?-i:March)").replace("|may|", "|")
"""Months that need no context; "we march on" and "I may" name none."""
_IN_MONTH = "in|during|since|by|until|of|early|late|mid|around|before|after"
_IN_YEAR = "in|during|since|of|from|by|until|year|circa|around"
HINT = re.compile(r"[^\W\d_]+|\d{4}(?=[-/.])|\d(?=/)|\d{4}")
MAY = re.compile(
    r"\bMay\b|\b(?:in|of|last|this|next|during|since|until|by|early|late) may\b|\bmay \d"
)
"""Where the word can be a month: mostly it is a verb, and a common one."""
_NAMES_OF_MONTHS = frozenset([*_MONTH_NAMES, *_MONTHS, "sept"])
_NAMES_OF_DAYS = frozenset(WEEKDAY_NAMES)
_NAMES_OF_SEASONS = frozenset(SEASONS)
_YEARS = frozenset(str(year) for year in range(FIRST_YEAR, LAST_YEAR))
_PLURALS = word_set("days weeks months years")
_SLASHED = frozenset("0123456789")
RULES = (
    _rule(
        r"(?<!\d)(?P<year>(?:19|20|21)\d\d)([-/.])(?P<month>[01]?\d)\2(?P<day>[0-3]?\d)(?!\d)",
        _full_day,
        _YEARS,
        "day",
    ),
    *(
        _rule(pattern, _full_day, _NAMES_OF_MONTHS, "day")
        for day in (rf"\b{_DAY}(?: of)? {_MONTH}", rf"\b{_MONTH} (?:the )?{_DAY}(?![\d:])")
        for pattern in (rf"{_YEARLY} {day}", rf"{day}(?:,? {_YEAR}|{_WHOSE_YEAR})?")
    ),
    _rule(
        r"(?<![\d/])(?P<first>[0-3]?\d)/(?P<second>[0-3]?\d)/(?P<year>(?:20|19)?\d\d)(?![\d/])",
        _numeric_day,
        _SLASHED,
        "day",
    ),
    _rule(
        r"(?<![\d-])(?P<year>(?:19|20|21)\d\d)-(?P<month>[01]\d)(?![\d-])", _month, _YEARS, "month"
    ),
    _rule(rf"\b{_MONTH}(?:,?(?: of)? {_YEAR}|{_WHOSE_YEAR})", _month, _NAMES_OF_MONTHS, "month"),
    _rule(rf"{_YEARLY} {_MONTH}(?!\w)", _month, _NAMES_OF_MONTHS, "month"),
    _rule(rf"\b{_SEASON}(?:(?: of|,)? {_YEAR}|{_WHOSE_YEAR})", _season, _NAMES_OF_SEASONS),
    _rule(rf"{_YEARLY} {_SEASON}\b", _season, _NAMES_OF_SEASONS),
    *(
        _rule(pattern, _weekday_of_week, _NAMES_OF_DAYS, "day")
        for pattern in (
            rf"\b{_WEEKDAY},?(?: of)? (?:the )?{_WHOSE} week\b",
            rf"\b{_WHOSE} week(?:['’]s)?,?(?: on)? {_WEEKDAY}\b",
        )
    ),
    _rule(
        rf"\b{_COUNT} {_UNIT}(?: or so)? (?:ago|back|earlier)\b",
        _ago,
        frozenset(("ago", "back", "earlier")),
    ),
    _rule(rf"\b(?:the )?{_WHICH} {_COUNT} {_UNIT}\b", _past_units, _PLURALS),
    _rule(
        r"\b(?:the day (?:before yesterday|after tomorrow)|yesterday(?:['’]s)?|last night|"
        r"today(?:['’]s)?|tonight|this (?:morning|afternoon|evening)|tomorrow(?:['’]s)?)(?!\w)",
        _day_word,
        word_set("yesterday night today tonight morning afternoon evening tomorrow"),
        "day",
    ),
    _rule(
        rf"\b{_WHICH} (?P<unit>weekend|week|month|year)(?!\w)",
        _unit,
        frozenset(("weekend", "week", "month", "year")),
    ),
    _rule(rf"\b{_WHICH} {_WEEKDAY}\b", _weekday, _NAMES_OF_DAYS, "day"),
    _rule(rf"\b{_WHICH} {_SEASON}\b", _season, _NAMES_OF_SEASONS),
    _rule(rf"\b(?:in|during|over) the {_SEASON}\b", _season, _NAMES_OF_SEASONS),
    _rule(rf"\b{_WHICH} {_MONTH}(?!\w)", _month, _NAMES_OF_MONTHS, "month"),
    _rule(rf"\b(?:{_IN_MONTH})[ -]{_MONTH}(?!\w)", _month, _NAMES_OF_MONTHS, "month"),
    _rule(rf"\b{_SURE_MONTH}(?!\w)", _month, _NAMES_OF_MONTHS - {"may"}, "month"),
    _rule(r"\b(?:over |on |at |during )?the weekend\b", _weekend, frozenset(("weekend",))),
    _rule(rf"\b(?:{_IN_YEAR}) {_YEAR}", _year, _YEARS, "year"),
    _rule(r"\b(?:recently|lately)\b", _recently, frozenset(("recently", "lately"))),
    _rule(r"\bother day\b", _recently, frozenset(("other",))),
)
"""In the order in which they claim text."""

ALL_HINTS = frozenset[str]().union(*(rule.hints for rule in RULES))
"""A text without any of these words names no time."""

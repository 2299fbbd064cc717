"""Dates of digits: 2026-05-03, 14.10.2026, 3/4/26, Q3, W32."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from memory_palace.language.time.making import Meaning, Setting, in_some_year, year_of
from memory_palace.language.time.points import day_of_year, numbered_quarter, numbered_week, one_day
from memory_palace.language.time.spans import make_day, month_span
from memory_palace.language.time.tokens import Token

_NUMBERS = re.compile(r"\d+")
_FRACTIONS = {(1, 2), (1, 3), (2, 3), (1, 4), (3, 4)}
_GUESSED = 0.5
_REACH = 24
_VERSION_BEFORE = re.compile(
    r"(?:[`<>=~^§]|(?<![a-z])(?:v|ver|version\w*|versao|release|firmware|build|rev|revision|nr|no"
    r"|section|chapter|fig|kapitel|abschnitt))[. =]*$"
)
_CLOCK_BEHIND = re.compile(r"\s?[ap]\.?m\b")
_SHARE_BEHIND = re.compile(r" (?:the|of|de|der|des|del) ")
_UNSURE, _LONGEST_SHORT = 0.45, 8
_MONTHS, _CENTURY = 12, 100


def numeric_day(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return 2026-05-03, 14.10.2026, 14.10. or 3/4/26 by the order of the setting."""
    text, start = named["text"].value, named["text"].start
    if _VERSION_BEFORE.search(setting.folded[max(0, start - _REACH) : start]):
        return None
    if text.isdigit():
        day = make_day(int(text[:4]), int(text[4:6]), int(text[6:]))
        return Meaning(day, day, "day", 0.6, has_year=True) if day else None
    numbers = [int(number) for number in _NUMBERS.findall(text)]
    if numbers[0] > _CENTURY:
        return one_day(make_day(*numbers), has_year=True)
    if _CLOCK_BEHIND.match(setting.folded, named["text"].end):
        return None
    if len(numbers) == 2:
        is_dated = setting.order != "mdy" and setting.language == "de"
        return day_of_year(setting, numbers[0], numbers[1]) if is_dated else None
    meaning = _day_of_three(setting, numbers, is_dotted="." in text)
    is_plain = len(text) < _LONGEST_SHORT and "." in text and "at" not in named
    return replace(meaning, certainty=_UNSURE) if meaning and is_plain else meaning


def _day_of_three(setting: Setting, numbers: list[int], *, is_dotted: bool) -> Meaning | None:
    first, second, third = numbers
    order = setting.order
    if order == "ymd" and third < _CENTURY and (day := _on(setting, first, second, third)):
        return one_day(day, has_year=True)
    year = third if third > _CENTURY else _full_year(setting, third)
    days = [make_day(year, second, first), make_day(year, first, second)]
    if is_dotted and third < _CENTURY:
        days = days[:1]
    elif order == "dmy" or order == "ymd" or (is_dotted and not order):
        days = [days[0] or days[1]]
    elif order == "mdy":
        days = [days[1] or days[0]]
    return _either([day for day in days if day], has_year=True)


def slashed_day(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return 14/10 or 10/14, where something before it says that it is a day."""
    first, second = map(int, _NUMBERS.findall(named["text"].value))
    if (first, second) in _FRACTIONS and not ("at" in named and named["at"].letter in "ie"):
        return None
    if _SHARE_BEHIND.match(setting.folded, named["text"].end):
        return None
    if setting.order in ("ymd", "mdy"):
        return day_of_year(setting, second, first) or day_of_year(setting, first, second)
    if setting.order == "dmy":
        return day_of_year(setting, first, second) or day_of_year(setting, second, first)
    found = [day_of_year(setting, *pair) for pair in ((first, second), (second, first))]
    days = [meaning for meaning in found if meaning]
    return days[0] if len(days) == 1 else _either([day.first for day in days])


def _on(setting: Setting, year: int, month: int, day: int) -> date | None:
    return make_day(_full_year(setting, year), month, day)


def _full_year(setting: Setting, short: int) -> int:
    """Return the year of two digits: at most twenty years ahead."""
    year = 2000 + short
    return year if year <= setting.as_of.year + 20 else year - 100


def _either(days: list[date], *, has_year: bool = False) -> Meaning | None:
    distinct = sorted(set(days))
    if not distinct:
        return None
    others = tuple((day, day) for day in distinct[1:])
    certainty = _GUESSED if others else 0.95
    return Meaning(distinct[0], distinct[0], "day", certainty, has_year=has_year, others=others)


def numeric_month(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return 2026-05 or 05/2026."""
    text = named["text"].value
    year, month = sorted(map(int, _NUMBERS.findall(text)), reverse=True)
    if not 1 <= month <= _MONTHS:
        return None
    certainty = 0.6 if "." in text else 0.95
    return in_some_year(
        lambda year: month_span(year, month), setting, "month", year=year, certainty=certainty
    )


def numeric_week(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return 2026-W32."""
    year, week = map(int, _NUMBERS.findall(named["text"].value))
    return numbered_week(setting, week, year)


def numbered_part(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return Q3, 2024Q3, H2 2024, W32 or KW32."""
    text = named["part"].value
    year = year_of(named.get("year"))
    if text[:4].isdigit():
        year, text = int(text[:4]), text[4:].strip("- ")
    elif "/" in text:
        text, _, written = text.partition("/")
        year = int(written)
    number = int(_NUMBERS.findall(text)[0])
    if "w" in text:
        week = numbered_week(setting, number, year)
        is_told = "k" in text or year is not None
        return week if is_told or week is None else replace(week, certainty=_UNSURE)
    if "h" in text:
        return (
            None
            if year is None
            else in_some_year(
                lambda year: month_span(year, 6 * number - 5, 6), setting, "span", year=year
            )
        )
    if "t" in text and setting.language in ("en", "de"):
        return None
    return numbered_quarter(setting, number, year)

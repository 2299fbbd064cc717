"""DaySpan, months, seasons, feasts, quarters and decades by the calendar."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from memory_palace.language.time.holidays import holiday_span
from memory_palace.language.time.making import Meaning, Setting, in_some_year, year_of
from memory_palace.language.time.spans import DaySpan, make_day, month_span
from memory_palace.language.time.tokens import Token

_NUMBERS = re.compile(r"\d+")
_MONTH_BEFORE = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? ?$")
_OF = re.compile(r"\b(?:of|del?|di|do|du|des|d|dell|vom|im)[ ']*$")
_YEARS = frozenset(("anni", "annees", "anos", "jahre", "jahren"))
_NAME = re.compile(r" (?!I\b)[A-Z][a-z]")
_WEEKS, _CENTURY, _LEAST_DECADE = 53, 100, 20


def one_day(day: date | None, *, has_year: bool = False) -> Meaning | None:
    """Return what a day means; nothing where there is none."""
    return Meaning(day, day, "day", 1.0 if has_year else 0.95, has_year=has_year) if day else None


def day_of_year(setting: Setting, day: int, month: int, year: int | None = None) -> Meaning | None:
    """Return a day and month of the year that is named or meant."""

    def make(year: int) -> DaySpan | None:
        found = make_day(year, month, day)
        return (found, found) if found else None

    return in_some_year(make, setting, "day", year=year)


def numbered_week(setting: Setting, number: int, year: int | None) -> Meaning | None:
    """Return an ISO week of the year that is named or meant."""

    def make(year: int) -> DaySpan | None:
        try:
            monday = date.fromisocalendar(year, number, 1)
        except ValueError:
            return None
        return monday, monday + timedelta(6)

    return in_some_year(make, setting, "week", year=year) if 1 <= number <= _WEEKS else None


def days_of_month(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "May 3-5" and "vom 3. bis 9. August"."""
    first, last = int(float(named["from"].value)), int(float(named["day"].value))
    month = int(named["month"].value)

    def make(year: int) -> DaySpan | None:
        days = make_day(year, month, first), make_day(year, month, last)
        return (days[0], days[1]) if days[0] and days[1] and days[0] <= days[1] else None

    return in_some_year(make, setting, "span", year=year_of(named.get("year")))


def day_of_month(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the 3rd of May, 2024"; of months that mean something else, only what is no other."""
    month, day = named["month"], named["day"]
    if " - " in setting.folded[day.start : month.end]:  # December 28 - January 3
        return None
    if month.is_weak and "year" not in named and not _is_dated(setting, named):
        return None
    if float(day.value) % 1:
        return None
    number, year = int(float(day.value)), year_of(named.get("year"))
    return day_of_year(setting, number, int(month.value), year)


def _is_dated(setting: Setting, named: dict[str, Token]) -> bool:
    """Say whether the day of a month such as "may" is one: "May 5", not "step 2 may fail"."""
    month, day = named["month"], named["day"]
    is_counted = day.letter == "o" and setting.folded[day.start].isdigit()
    if "at" in named or setting.text[month.start].isupper() or is_counted:
        return True
    between = setting.folded[min(month.end, day.end) : max(month.start, day.start)]
    behind = setting.folded[max(month.end, day.end) :].lstrip()
    return bool(_OF.search(between)) or not behind[:1].isalpha()


def day_of_span(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the 3rd of last month"."""
    within = named["within"].value
    number = float(named["day"].value)
    day = within.first + timedelta(int(number) - 1)
    return one_day(day) if number >= 1 and within.first <= day <= within.last else None


def month(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return a month: with a year, "last May", or by itself where it can be nothing else."""
    token = named["month"]
    number = int(token.value)
    is_backed = bool(named.keys() & {"year", "shift", "at", "to"})
    is_alone = setting.folded.strip(" ?.!") == setting.folded[token.start : token.end]
    if token.is_weak and not (is_backed or is_alone or _is_of(setting, token)):
        return None
    if token.is_weak and not named.keys() & {"year", "shift", "to"} and _is_name(setting, token):
        return None
    if token.is_weak and (_is_verb(setting, named) or _is_noun(setting, named)):
        return None
    at = named.get("at")
    is_joined = token.is_weak and at is not None and at.letter in "-&t"
    if is_joined and not named.keys() & {"year", "to"} and not _follows_month(setting, at):
        return None
    direction = int(named["shift"].value) if "shift" in named else None
    return in_some_year(
        lambda year: month_span(year, number),
        setting,
        "month",
        year=year_of(named.get("year")),
        direction=direction,
        is_bare=not is_backed,
    )


def _follows_month(setting: Setting, sign: Token | None) -> bool:
    """Say whether a sign joins two months: "March-May"."""
    return bool(sign and _MONTH_BEFORE.search(setting.folded[: sign.start]))


def _is_of(setting: Setting, token: Token) -> bool:
    """Say whether "of" stands before a word: "the first week of may"."""
    return bool(_OF.search(setting.folded[max(0, token.start - 6) : token.start]))


def _is_verb(setting: Setting, named: dict[str, Token]) -> bool:
    """Say whether "may" is one: "This may lead to", in a text that has capitals."""
    token, before = named["month"], named.get("shift", named.get("at"))
    is_small = setting.language == "en" and setting.text[token.start].islower()
    is_pointed = before is not None and before.letter == "S"
    written = setting.text[: token.start]
    is_ending = "at" not in named and "to" in named and named["to"].letter == "E"
    return is_small and (is_ending or (is_pointed and written.lower() != written))


def _is_noun(setting: Setting, named: dict[str, Token]) -> bool:
    """Say whether "march" is one: "the march was long"."""
    is_the = setting.folded[: named["month"].start].endswith("the ")
    return is_the and not named.keys() & {"year", "shift", "to"}


def _is_name(setting: Setting, token: Token) -> bool:
    """Say whether an English word is the first name of somebody: "Autumn Phillips"."""
    return setting.language == "en" and bool(_NAME.match(setting.text, token.end))


def season(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return a season; "winter 2024" begins in December 2024, and so does "winter 2024/25"."""
    token = named["season"]
    number = int(token.value)
    year = year_of(named.get("year"))
    if "double" in named:
        year, following = map(int, _NUMBERS.findall(named["double"].value))
        if (following - year - 1) % _CENTURY:
            return None
    return _yearly(setting, named, token, lambda year: month_span(year, number, 3), "season", year)


def holiday(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return the day that has a name."""
    token = named["holiday"]
    year = year_of(named.get("year"))
    return _yearly(setting, named, token, lambda year: holiday_span(token.value, year), "day", year)


def _yearly(
    setting: Setting,
    named: dict[str, Token],
    token: Token,
    make: Callable[[int], DaySpan | None],
    unit: str,
    year: int | None,
) -> Meaning | None:
    at = named.get("at")
    is_backed = year is not None or "shift" in named or at is not None
    if token.is_weak and (not is_backed or (at and at.letter in "j-&t")):
        return None
    if year is None and unit == "season" and _is_name(setting, token):
        return None
    direction = int(named["shift"].value) if "shift" in named else None
    is_topic = unit == "season" and year is None and at is not None and at.letter in "Iij"
    certainty = 0.45 if is_topic and "shift" not in named else 0.9
    return in_some_year(
        make,
        setting,
        unit,
        year=year,
        direction=direction,
        certainty=certainty,
        is_bare=not is_backed,
    )


def numbered_quarter(setting: Setting, number: int, year: int | None) -> Meaning | None:
    """Return a quarter of the year that is named or meant."""
    if not 1 <= number <= 4:
        return None
    return in_some_year(
        lambda year: month_span(year, 3 * number - 2, 3), setting, "quarter", year=year
    )


def numbered_unit(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "week 32", "第32周", "KW 32 2026" or "the third quarter of 2025"."""
    unit, token = named["unit"], named["number"]
    number, year = float(token.value), year_of(named.get("year"))
    if number % 1:
        return None
    if unit.letter == "U" and unit.value == "quarter":
        if year is None and setting.folded[unit.end :].startswith(" of"):
            return None  # of the pitch
        return numbered_quarter(setting, int(number) % 5, year)
    if unit.letter == "U":
        is_counted = token.letter == "o" and not setting.folded[token.end - 1].isdigit()
        if unit.value != "week" or is_counted or number < 1:
            return None
    return numbered_week(setting, int(number), year)


def decade(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the nineties", "années 80" or "the 2010s"."""
    unit, token = named.get("unit"), named["number"]
    number = int(float(token.value))
    if unit and unit.value not in ("year", "decade"):
        return None
    if number % 10 or number < _LEAST_DECADE:
        return None
    first = number if number > _CENTURY else 1900 + number
    return Meaning(*month_span(first, 1, 120), "decade", has_year=True)


def written_year(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "in 2019" and "the year 2019"."""
    if "unit" in named and named["unit"].value != "year":
        return None
    year = int(named["year"].value)
    unit = named.get("unit")
    if unit and year % 10 == 0 and setting.folded[unit.start : unit.end] in _YEARS:
        return None
    return Meaning(*month_span(year, 1, 12), "year", has_year=True)

"""Units, weekdays and days by their distance from today: "last week", "on Tuesday"."""

from __future__ import annotations

import re
from datetime import timedelta

from memory_palace.language.time.making import Meaning, Setting, move
from memory_palace.language.time.spans import make_day, month_span, nearest_weekday, unit_span
from memory_palace.language.time.tokens import Token

_IS_MORNING = re.compile(r"\b(?:la|una|esta|otra|cada|guten|jeden|am|diesen) $")
_NOUN_BEHIND = re.compile(
    r" (?!and\b|or\b|at\b|in\b|about\b|for\b|with\b|when\b|to\b|we\b|i\b)[a-z]"
)
_THE = ("le", "el", "il")
_REACH = 8


def day_of_this_month(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "on the 12th": the latest day with that number."""
    number, today = int(float(named["day"].value)), setting.as_of
    if "number" in named and named["number"].value != "day":
        return None
    token = named["day"]
    if not setting.folded[token.start].isdigit():
        return None
    if setting.folded[: named["day"].end][-1].isalpha() and (
        setting.language != "en" or _NOUN_BEHIND.match(setting.folded, named["day"].end)
    ):
        return None
    if token.letter == "d" and "number" not in named and named.keys() == {"day", "at"}:
        before = setting.folded[named["at"].start : token.start].strip()
        behind = setting.folded[token.end :].lstrip(" ")[:1]
        is_dotted = behind == "." and setting.language == "de"
        if not (before in _THE or is_dotted) or behind.isalpha():
            return None
    months = [month_span(today.year, today.month - back) for back in range(3)]
    days = [make_day(first.year, first.month, number) for first, _ in months]
    day = next((day for day in days if day and day <= today), None)
    return Meaning(day, day, "day", 0.6) if day else None


def shifted_unit(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "last week", "this month" or "去年"."""
    unit, shift = str(named["unit"].value), named.get("shift")
    if shift is None:  # one word for both
        unit, _, distance = unit.partition("_")
        offset = int(distance)
    else:
        offset = int(float(shift.value))
    if unit in ("hour", "day"):
        return None
    is_last = shift is not None and offset == -1 and unit in ("decade", "fortnight")
    if is_last or (shift and shift.letter == "p"):
        return _rolling(setting, unit)
    return Meaning(*unit_span(unit, offset, setting.as_of), unit)


def _rolling(setting: Setting, unit: str) -> Meaning:
    return Meaning(move(setting.as_of, -1, unit), setting.as_of, unit)


def shifted_year(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "last year" and "last month", which other expressions are within."""
    if named["unit"].value not in ("year", "month"):
        return None
    return shifted_unit(setting, named)


def before_last(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the week before last" and "the week after next"."""
    unit = str(named["unit"].value)
    if unit in ("hour", "day"):
        return None
    return Meaning(*unit_span(unit, 2 if "next" in named else -2, setting.as_of), unit)


def weekday_before_last(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the Friday before last"."""
    number, is_behind = int(named["weekday"].value), named["last"].letter == "S"
    day = nearest_weekday(number, 1 if is_behind else -1, setting.as_of)
    day += timedelta(7 if is_behind else -7)
    return Meaning(day, day, "weekday")


def weekdays_ago(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "three Fridays ago"."""
    day = nearest_weekday(int(named["weekday"].value), -1, setting.as_of)
    day -= timedelta(7 * (int(float(named["count"].value)) - 1))
    return Meaning(day, day, "weekday")


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
    if offset == 0:
        day = unit_span("week", 0, today)[0] + timedelta(number)
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


_OF_SOMETHING = re.compile(
    r"(?:^|.?\W)a (?:segunda|quarta|quinta|sexta) (?!que\b|a\b|da\b|de\b|eu\b)[^\W\d]"
)
"""What is no day: "a quinta sinfonia"."""
_SHORT = frozenset(("segunda", "quarta", "quinta", "sexta"))


def day_word(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "yesterday" and "gestern Abend"; "am Morgen" and "la mañana" are none."""
    token = named["day"]
    if token.is_weak or (token.letter == "Q" and _is_morning(setting, token, named)):
        return None
    day = setting.as_of + timedelta(int(token.value))
    return Meaning(day, day, "day", 0.9)


def _is_morning(setting: Setting, token: Token, named: dict[str, Token]) -> bool:
    """Say whether "morgen" or "mañana" is the part of a day."""
    before = setting.folded[max(0, token.start - _REACH) : token.start]
    is_noun = setting.language == "de" and token.start > 0 and setting.text[token.start].isupper()
    return "before" in named or is_noun or bool(_IS_MORNING.search(before))


def part_of_day(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "this morning" and "ce soir"."""
    if int(float(named["shift"].value)):
        return None
    return Meaning(setting.as_of, setting.as_of, "day", 0.9)

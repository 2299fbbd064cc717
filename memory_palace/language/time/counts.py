"""Counts in words and digits, and durations: "twenty-one", "a year and a half"."""

from __future__ import annotations

import re

from memory_palace.language.time.making import Duration, Setting
from memory_palace.language.time.tokens import Token

_OF = re.compile(r"^ (?:del?|du|do|dei|des)\b")
_VAGUE = 0.7
_TEN, _HUNDRED = 10, 100


def compound(setting: Setting, named: dict[str, Token]) -> float | None:
    """Return the number of "twenty-one" or "vingt et un", or of the ordinal."""
    ten, one = float(named["ten"].value), float(named["one"].value)
    if ten == _HUNDRED and one < _HUNDRED:
        return ten + one
    return ten + one if 2 * _TEN <= ten < _HUNDRED and ten % _TEN == 0 and one < _TEN else None


def plain(setting: Setting, named: dict[str, Token]) -> float | None:
    """Return the number of "a dozen" and "a hundred"."""
    number = float(named["number"].value)
    return number if number >= _TEN else None


def duration(setting: Setting, named: dict[str, Token]) -> Duration | None:
    """Return "three weeks", "half a year", "two and a half years" or "a few days"."""
    count = named.get("count")
    if count and _OF.search(setting.folded[count.end : named["unit"].start]):
        return None  # el 3 del mes pasado
    number = float(count.value) if count else 0.0
    if "half" in named:  # "a year and a half" may leave its one out
        is_behind = named["half"].start > named["unit"].start
        number += 1.5 if is_behind and not count else 0.5
    certainty = _VAGUE if count and count.letter == "f" else 0.95
    return Duration(number, named["unit"].value, certainty) if number else None

"""Units: what they measure, how large they are, how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from importlib.resources import files
from typing import NamedTuple

_WORD = re.compile(r"[^\W\d_]++|[°º][CcFf]?|[%％€$£¥]")
_BEFORE = re.compile(
    r"(?:\s(?:business|working|full|whole|consecutive|calendar|more|of an?)\s|[\s-])?"
)
"""Between a number and its unit."""
_MONEY = "€$£¥"
_EITHER = ({"degree", "temperature"}, {"pound", "mass"}, {"pound", "money-gbp"})
"""Families of which one word may be either."""
_LONGEST_CHARACTERS = 4


class MeasureUnit(NamedTuple):
    """What a unit measures and how large it is."""

    family: str = ""
    size: Fraction = Fraction(1)
    """In base units of the family."""
    zero: Fraction = Fraction(0)
    """Where its scale begins, in base units: of degrees Celsius 273.15."""


NO_UNIT = MeasureUnit()


def _read_units() -> Iterator[tuple[str, MeasureUnit]]:
    """Yield the spellings of ``units.txt`` with what they measure and their size."""
    table = files(__package__).joinpath("units.txt").read_text("utf-8")
    for line in table.splitlines():
        if not line.startswith("#"):
            family, measure, *words = line.split()
            size, _, zero = measure.partition("+")
            unit = MeasureUnit(family, Fraction(size), Fraction(zero or 0))
            yield from ((word, unit) for word in words)


_UNITS: Mapping[str, MeasureUnit] = dict(_read_units())
UNIT_WORDS = frozenset({*map(str.casefold, _UNITS), "per", "each", "every"})
"""What stands beside numbers and says nothing about their subject."""


def is_same_family(one: str, other: str) -> bool:
    """Return whether two units measure the same; cents are of any money."""
    is_money = "money" in (one, other) and one[:5] == other[:5]
    return one == other or {one, other} in _EITHER or is_money


def read_unit(text: str, start: int, end: int) -> tuple[MeasureUnit, int]:
    """Return the unit of the number from ``start`` to ``end``, and where it ends."""
    if start and (money := text[start - 1]) in _MONEY:
        return _UNITS[money], end
    between = _BEFORE.match(text, end)
    first = _WORD.match(text, between.end() if between else end)
    if first is None:
        return NO_UNIT, end
    second = _WORD.match(text, first.end() + 1)
    if second and (unit := _UNITS.get(f"{first[0]}_{second[0]}".casefold())):
        return unit, second.end()
    if first[0].casefold() == "per" and second and second[0].casefold() in ("cent", "hundred"):
        return _UNITS["%"], second.end()
    is_name = first.start() == end and first[0] in ("s", "D", "G", "T")  # 3D, 5G, the 1920s
    is_money_of_next = first[0] in _MONEY and text[first.end() : first.end() + 1].isdigit()
    unit = NO_UNIT if is_name or is_money_of_next else find_unit(first[0])
    return (unit, first.end()) if unit.family else (NO_UNIT, end)


def find_unit(word: str) -> MeasureUnit:
    """Return the unit that a word names; of a script without spaces its longest beginning."""
    if word > "\u3000":
        starts = (word[:size] for size in range(_LONGEST_CHARACTERS, 0, -1))
        return next((_UNITS[start] for start in starts if start in _UNITS), NO_UNIT)
    return _UNITS.get(word) or _UNITS.get(word.casefold()) or NO_UNIT

"""Units: what they measure, how large they are, how they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from importlib.resources import files
from typing import NamedTuple

from memory_palace.checking.numerals import NOTHING, Figure, at, token_at
from memory_palace.checking.phrases import word_list

_FILLERS = frozenset({"a", "an", "of", "and", "the"})
_NO_UNITS = frozenset("DGT")
"""Of these 3D, 5G and 2T make names."""
_MONEY = frozenset("€$£¥")
_LONGEST_CHARACTERS = 4
_QUALITIES = word_list("before_units")
_WHOLES = {"cent": 100, "hundred": 100, "thousand": 1000, "mille": 1000, "million": 1000000}
"""What stands behind "per" in a share."""
_EITHER = ({"degree", "temperature"}, {"pound", "mass"}, {"pound", "money-gbp"})
"""Families of which one word may be either."""


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
    for line in (
        files("memory_palace.checking").joinpath("units.txt").read_text("utf-8").splitlines()
    ):
        if not line.startswith("#"):
            family, measure, *words = line.split()
            size, _, zero = measure.partition("+")
            yield from (
                (word, MeasureUnit(family, Fraction(size), Fraction(zero or 0))) for word in words
            )


_UNITS: Mapping[str, MeasureUnit] = dict(_read_units())
UNIT_WORDS = frozenset({*map(str.casefold, _UNITS), "per", "each", "every"})
"""What stands beside numbers and says nothing about their subject."""


def is_same_family(one: str, other: str) -> bool:
    """Say whether two units measure the same; cents are of any money, degrees also temperature."""
    return (
        one == other
        or {one, other} in _EITHER
        or ("money" in (one, other) and one[:5] == other[:5])
    )


def find_unit(text: str, start: int) -> tuple[MeasureUnit, int]:
    """Return the unit that begins at a place of a text, and where it ends."""
    token = token_at(text, start)
    behind = token_at(text, token.end + 1) if token.kind else NOTHING
    if unit := _UNITS.get(f"{token.key}_{behind.key}"):
        return unit, behind.end
    return (_unit_of(token), token.end) if token.kind else (NO_UNIT, start)


def read_unit(
    tokens: Sequence[Figure], place: int, start: int, *, is_part: bool
) -> tuple[MeasureUnit, int]:
    """Return the unit right after a number, articles and ``of`` passed over, or money before it."""
    before = next((t for t in tokens[max(0, place - 4) : place] if t.end == start), NOTHING)
    if before.written in _MONEY:
        return _UNITS[before.written], place
    behind = place
    if at(tokens, place).key == "of" or is_part:
        while at(tokens, place).key in _FILLERS and place - behind < 2:
            place += 1
    if at(tokens, place).key in ("per", "pro") and (of := _WHOLES.get(at(tokens, place + 1).key)):
        return MeasureUnit("share", Fraction(1, of)), place + 2
    if at(tokens, place).key in _QUALITIES and _unit_of(at(tokens, place + 1)).family == "time":
        place += 1  # three business days
    token, following = at(tokens, place), at(tokens, place + 1)
    if unit := _UNITS.get(f"{token.key}_{following.key}"):
        return unit, place + 2
    is_joined = token.start == tokens[behind - 1].end
    is_name = is_joined and (token.key == "s" or token.written in _NO_UNITS)
    is_money_of_next = token.written in _MONEY and token.end == following.start
    unit = NO_UNIT if is_name or is_money_of_next else _unit_of(token)
    return (unit, place + 1) if unit.family else (NO_UNIT, behind)


def _unit_of(token: Figure) -> MeasureUnit:
    """Return what a word measures; of a script without spaces its longest beginning."""
    if token.written > "\u3000":
        starts = (token.written[:size] for size in range(_LONGEST_CHARACTERS, 0, -1))
        return next((_UNITS[start] for start in starts if start in _UNITS), NO_UNIT)
    return _UNITS.get(token.written) or _UNITS.get(token.key) or NO_UNIT

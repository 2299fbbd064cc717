"""Whether two amounts can be the same one: rounded, bounded, converted, or as a share."""

from __future__ import annotations

from fractions import Fraction
from math import floor, log10

from memory_palace.checking.amounts import Amount
from memory_palace.checking.numbers import Number
from memory_palace.checking.units import is_same_family

_ROUGH = Fraction(6, 100)
"""How far "about 900" may be from what it is about: 897 is .003 away."""
_ROUNDED = Fraction(25, 1000)
"""How far a number may be rounded without a word: 1.76 as 1.8."""
_NEAR_BOUND = Fraction(1, 4)
"""How far above 900 what is "more than 900" may lie."""
_NEAREST, _FARTHEST = 0.7, 1.3
"""Beyond what any of these allows."""
_COMMON = 12
"""Numbers up to here stand in any text; a larger one may be written as a name, Cys340."""
_EXACT = frozenset({"ordinal", "code", "group"})


def agrees(mine: Amount, theirs: Amount) -> bool:
    """Say whether an amount of a claim can be that of a passage; nouns are not looked at."""
    if mine.is_name != theirs.is_name:
        return mine.first.value == theirs.first.value > _COMMON
    if mine.label and theirs.label and mine.label != theirs.label:
        return False
    return any(
        _agree(mine, one, theirs, other) for one in mine.readings for other in theirs.readings
    )


def _agree(mine: Amount, one: Number, theirs: Amount, other: Number) -> bool:
    if "code" in (one.form, other.form):
        longer, shorter = sorted((one.text, other.text), key=len, reverse=True)
        return longer == shorter or longer.startswith(f"{shorter}.")
    if mine.rate and theirs.rate and mine.rate != theirs.rate:
        return _is_alike_rate(mine, one, theirs, other)
    if one.agrees(other):
        return not (one.family and not other.family and theirs.counted) or one.family == "share"
    if one.family and other.family and not is_same_family(one.family, other.family):
        return False
    if _EXACT & {one.form, other.form}:
        return False
    if bool(one.family) != bool(other.family) and "share" not in (one.family, other.family):
        return False
    claimed, given = _in_one_unit(one, other)
    return _is_near(claimed, given, one, mine, theirs)


def _is_alike_rate(mine: Amount, one: Number, theirs: Amount, other: Number) -> bool:
    """Say whether two rates are the same: 24 a day, one an hour."""
    return (
        one.family == other.family
        and mine.per.family != ""
        and mine.per.family == theirs.per.family
        and one.value * one.size / mine.per.size == other.value * other.size / theirs.per.size
    )


def _in_one_unit(one: Number, other: Number) -> tuple[Fraction, Fraction]:
    is_converted = (one.family and other.family) or "share" in (one.family, other.family)
    return (one.base, other.base) if is_converted else (one.value, other.value)


def _is_near(claimed: Fraction, given: Fraction, one: Number, mine: Amount, theirs: Amount) -> bool:
    if not claimed or not given or not _NEAREST < float(claimed) / float(given) < _FARTHEST:
        return False  # settles nearly all pairs, and takes a tenth of the time
    apart = abs(claimed - given) / abs(given)
    if mine.is_rough or theirs.is_rough:
        return apart <= _ROUGH
    if (
        mine.bound
        and not theirs.bound
        and (one.family or claimed > _COMMON or given.denominator > 1)
    ):
        return apart <= _NEAR_BOUND and (given - claimed) * mine.bound > 0
    return apart <= _ROUNDED and _is_rounded(one.value * given / claimed, one.value)


def _is_rounded(exact: Fraction, shown: Fraction) -> bool:
    """Say whether a number is another one with fewer digits, and has two at least."""
    digits = len(str(shown.numerator).rstrip("0")) if shown.denominator == 1 else 0
    places = _places(shown)
    if digits < 2 and not places:
        return False
    if places:
        return places < _places(exact) and round(exact, places) == shown
    unit = Fraction(10) ** (floor(log10(abs(shown.numerator))) + 1 - digits)
    return _places(exact) + digits < len(str(abs(exact.numerator))) + _places(exact) and (
        round(exact / unit) * unit == shown
    )


def _places(value: Fraction) -> int:
    """Return how many digits a decimal has behind its point, nine at most."""
    return next((n for n in range(9) if (value * 10**n).denominator == 1), 9)


def is_turned(mine: Amount, theirs: Amount) -> bool:
    """Say whether one is a least and the other a most."""
    return mine.bound * theirs.bound < 0

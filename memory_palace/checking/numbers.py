"""Numbers in prose, in digits or in words, with their units."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from memory_palace.checking.numerals import (
    Figure,
    NumeralForm,
    at,
    find_scale,
    read_numeral,
    read_tokens,
)
from memory_palace.checking.units import MeasureUnit, is_same_family, read_unit

_RANGE = re.compile(r"(?:(?<!\s)\s++)?+(?:to|or|and|until|–|-)\s*")
_WITHIN = re.compile(r"(?:(?<!\s)\s++)?+(?:and\s|,\s)?\s*")
"""Between the parts of ``two hours and ten minutes``."""
_AND_PART = re.compile(r"\sand\s(a half|a quarter|three quarters)\b", re.I)
_AND_PARTS = {"a half": (1, 2), "a quarter": (1, 4), "three quarters": (3, 4)}
_BARE = re.compile(r"(?:(?<!\s)\s++)?+(?:[,.;:)]|\Z|and\b|or\b|in\b)")
"""Nothing that a number could count stands after it."""
_SENTENCE_END = re.compile(r"[.!?]\s")
_WINDOW = 40
"""Characters before a number that are looked at: time stays linear in the text."""
_JOINT = re.compile(r"(?:\b(?:and|or|to|than|every|but|by)|[,;(])\s*\Z", re.I)
"""Before a number that goes on with what was counted: in ``rings at 8.5`` it need not."""
_CLOSE = Fraction(2, 100)
"""How far days may be from months: ninety days are three months."""
_WEEKS_CLOSE = Fraction(9, 100)
"""Four weeks are a month."""
_DAY, _MONTH = Fraction(86400), Fraction(2628000)


@dataclass(frozen=True, slots=True)
class Number:
    """One number as it stands in a text."""

    value: Fraction
    family: str = ""
    """What its unit measures; empty without a known unit."""
    size: Fraction = Fraction(1)
    """How many base units its unit is."""
    start: int = 0
    end: int = 0
    text: str = ""
    zero: Fraction = Fraction(0)
    """Where the scale of its unit begins, in base units."""
    stop: int = 0
    """Where its unit ends; without one, where it ends itself."""
    form: NumeralForm = ""

    @property
    def base(self) -> Fraction:
        """Its value in base units of its family."""
        return self.value * self.size + self.zero

    def agrees(self, other: Number) -> bool:
        """Say whether two may mean the same: equal with their units, where both have some.

        A share in per cent equals the fraction.
        """
        if self.form == "code" or other.form == "code":
            return self.form == other.form and self.text == other.text
        if {self.family, other.family} == {"share", ""}:
            return self.value == other.value or self.base == other.base
        if self.family and other.family:
            return is_same_family(self.family, other.family) and _is_equal(self, other)
        return self.value == other.value


def _is_equal(one: Number, other: Number) -> bool:
    if one.family != other.family and "mass" not in (one.family, other.family):
        return one.value == other.value
    near = one.base == other.base
    if one.family == "temperature" and one.size != other.size:
        return near or abs(one.base - other.base) <= 1
    smaller, larger = sorted((one.size, other.size))
    if one.family == "time" and smaller >= _DAY and (smaller < _MONTH) != (larger < _MONTH):
        close = _WEEKS_CLOSE if smaller == 7 * _DAY and larger == _MONTH else _CLOSE
        return abs(one.base - other.base) <= close * max(one.base, other.base)
    converts = one.size != other.size and not _is_whole_of(one.size, other.size)
    if converts and one.value and other.value:  # miles in kilometres are rounded
        return abs(one.base - other.base) <= _CLOSE * max(abs(one.base), abs(other.base))
    return near


def _is_whole_of(one: Fraction, other: Fraction) -> bool:
    """Say whether one unit is a whole number of the other, as hours are of seconds."""
    ratio = max(one, other) / min(one, other)
    return ratio.denominator == 1


def find_numbers(text: str) -> list[Number]:
    """Return the numbers of a text in order. An ambiguous word, ``third``, gives each reading.

    So does a bare number: it may have any unit of those before it in the sentence, ``every six
    years, or every three``. In a range both have the unit of the second, ``two to eight degrees``.
    """
    found = list(_read(text, read_tokens(text)))
    found = list(_join(text, found))
    for place in range(len(found) - 2, -1, -1):
        one, other = found[place : place + 2]
        if _RANGE.fullmatch(text, one.stop, max(one.stop, other.start)):
            scale = find_scale(other.text)
            found[place] = _with_unit(one, other)
            if scale > 1 and not find_scale(one.text) > 1:  # 20 to 30 million
                found.insert(place, replace(found[place], value=one.value * scale))
    return [
        reading
        for number, units in _units_before(text, found)
        for reading in _readings(text, number, units)
    ]


def _join(text: str, found: Sequence[Number]) -> Iterator[Number]:
    """Yield numbers, ``two hours and ten minutes`` as one."""
    last: Number | None = None
    for number in found:
        if (
            last is not None
            and last.family == number.family != ""
            and last.size > number.size
            and number.base < last.size
            and last.end < number.start
            and _WITHIN.fullmatch(text, last.stop, number.start)
        ):
            value = last.value + number.value * number.size / last.size
            text_of = text[last.start : number.end]
            last = replace(last, value=value, end=number.end, stop=number.stop, text=text_of)
            continue
        if last is not None:
            yield last
        last = number
    if last is not None:
        yield last


def _units_before(
    text: str, found: list[Number]
) -> Iterator[tuple[Number, tuple[MeasureUnit, ...]]]:
    """Yield each number with the units of the earlier ones in its sentence, each once."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    sentence, units = 0, dict[MeasureUnit, None]()
    for number in found:
        if (here := bisect_right(ends, number.start)) != sentence:
            sentence, units = here, {}
        yield number, tuple(units)
        if number.family:
            units[MeasureUnit(number.family, number.size, number.zero)] = None


def _readings(text: str, number: Number, units: tuple[MeasureUnit, ...]) -> list[Number]:
    """Return a bare number with each unit of the earlier ones in its sentence, others as is."""
    near = max(0, number.start - _WINDOW)
    is_listed = _JOINT.search(text, near, number.start) is not None
    if number.family or number.form or not is_listed or not _BARE.match(text, number.end):
        return [number]
    return [replace(number, family=u.family, size=u.size, zero=u.zero) for u in units] or [number]


def _with_unit(number: Number, other: Number) -> Number:
    if number.family or number.form or not other.family:
        return number
    return replace(number, family=other.family, size=other.size, zero=other.zero)


def _read(text: str, tokens: Sequence[Figure]) -> Iterator[Number]:
    place = 0
    while place < len(tokens):
        values, form, after = read_numeral(tokens, place)
        if not values:
            place += 1
            continue
        start, end = tokens[place].start, tokens[after - 1].end
        more, end = _read_more(text, end) if form == "" else (Fraction(0), end)
        after = _skip(tokens, after, end)
        unit, after = read_unit(tokens, after, start, is_part=form == "part")
        stop = tokens[after - 1].end
        if unit.family and not more and form == "":  # two years and a half
            more, stop = _read_more(text, stop)
            after = _skip(tokens, after, stop)
        if at(tokens, after).key == "times" and not unit.family and form == "":
            form, stop = "times", tokens[after].end
        sign = -1 if at(tokens, place - 1).key == "minus" else 1
        for value in values:
            number = Number(sign * (value + more), unit.family, unit.size, start, end)
            yield replace(number, text=text[start:end], zero=unit.zero, stop=stop, form=form)
        place = max(after, place + 1)


def _read_more(text: str, end: int) -> tuple[Fraction, int]:
    """Return what "and a half" adds at a place of a text, and where it ends."""
    part = _AND_PART.match(text, end)
    return (Fraction(*_AND_PARTS[part[1].casefold()]), part.end()) if part else (Fraction(0), end)


def _skip(tokens: Sequence[Figure], place: int, end: int) -> int:
    """Return the place of the first token from a place on that begins behind an end."""
    while place < len(tokens) and tokens[place].start < end:
        place += 1
    return place

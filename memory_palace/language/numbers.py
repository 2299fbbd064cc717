"""Read the numbers in prose, in digits or words, with their units and the nouns they count.

Number words are in ``numerals.toml``, units in ``units.txt``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import floor, log10
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from memory_palace.language.tagged_words import Part, split_words
from memory_palace.language.words import STOP_STEMS, read_lines, stem_word

_TOKEN = re.compile(
    r"(?P<code>(?<![\w.])\d+(?:\.\d+){2,}+|(?<![\w./:])\d+[/:]\d+(?![/:]?\d))"
    r"|(?P<digits>(?:(?<![\w.)])[−-])?"
    r"(?:(?<![\d.,])\d{1,3}(?:[,\u00a0\u202f\u2009'’]\d{3})++(?:\.\d+)?(?!\d)"
    r"|\d+(?:[.,·]\d+)?|(?<![\w.])\.\d+)"
    r"(?:[eE][+-]?\d+(?!\w))?)"
    r"|(?P<vulgar>[¼½¾⅓⅔])|(?P<word>(?<!['’])[^\W\d_]+)"
)
NumberForm: TypeAlias = Literal["", "ordinal", "times", "code"]
"""How a number is used: third, twice, 1.5.3."""
_WORDS = tomllib.loads(Path(__file__).with_name("numerals.toml").read_text("utf-8"))
_AROUND = _WORDS["around"]
_SMALL = _WORDS["small"] | _WORDS["elsewhere"] | _WORDS["tens"]
_SCALES, _ORDINALS, _MULTIPLES = (_WORDS[name] for name in ("scales", "ordinals", "multiples"))
_FRACTIONS = {word: Fraction(1, parts) for word, parts in _WORDS["fractions"].items()}
NUMBER_WORDS = frozenset({*_WORDS["small"], *_WORDS["tens"], *_SCALES, "half"})
"""English words that numbers are made of."""
_VULGAR = {"¼": (1, 4), "½": (1, 2), "¾": (3, 4), "⅓": (1, 3), "⅔": (2, 3)}
_GROUPED = re.compile(r"-?\d{1,3}(?:[,\u00a0\u202f\u2009'’]\d{3})+(?:\.\d+)?")
_MOST_DIGITS, _MOST_POWER = 1000, 300
"""Most digits of a number, and largest exponent. Python reads no more than 4,300 digits."""
_WINDOW = 48
"""Most characters read before and after a number, so that time stays linear in the text."""
_RANGE = re.compile(r"\s?(?:to|or|and|until|–|-)\s?")
_BEFORE = re.compile(
    rf"(?:\b(?P<no>no|not|never|n't)\s)?"
    rf"(?<!\w)(?:(?P<up>{_AROUND['up']})|(?P<down>{_AROUND['down']})|(?P<rough>{_AROUND['rough']}))"
    r"\s?(?:(?:of|a|the|just)\s)?[$€£¥]?\Z",
    re.I,
)
_BEHIND = re.compile(
    r"(?P<up>\s?\+(?!\d)|\sor (?:more|over|longer|later)\b)|(?P<down>\sor (?:less|fewer|under)\b)"
)
_COUNTED = re.compile(r"(?:-|\s(?:out\s)?of\b(?:\s(?:the|these|those|our|their|its|all))?)?\s?")
_AND_A_HALF = re.compile(r"\b(?:an?|one) (\w+) and a half\b", re.I)
_PAUSE = frozenset({Part.BREAK, Part.FUNCTION, Part.DETERMINER, Part.VERB, Part.NUMBER})
_LONGEST_COUNTED = 3
_LABEL = re.compile(r"(?<![^\W\d_])([^\W\d_]++)[\s-]#?\Z")
_NEAR, _FAR = Fraction(2, 100), Fraction(1, 4)
"""Most relative difference of converted values, and of any two numbers that agree."""
_ABOUT = Fraction(6, 100)
_UNIT = re.compile(r"[^\W\d_]++|[°º][CcFf]?|[%％€$£¥]")
_BEFORE_UNIT = re.compile(
    r"(?:\s(?:business|working|full|whole|consecutive|calendar|more|of an?)\s|[\s-])?"
)
"""Between a number and its unit."""
_MONEY = "€$£¥"
_EITHER = ({"degree", "temperature"}, {"pound", "mass"}, {"pound", "money-gbp"})
"""Pairs of families that share a word, such as "degree" and "pound"."""
_LONGEST_CHARACTERS = 4


class MeasureUnit(NamedTuple):
    """A unit of measurement: its family, size and zero point."""

    family: str = ""
    size: Fraction = Fraction(1)
    """In base units of the family."""
    zero: Fraction = Fraction(0)
    """Zero point of its scale in base units: 273.15 for degrees Celsius."""


NO_UNIT = MeasureUnit()


def _read_units() -> Iterator[tuple[str, MeasureUnit]]:
    for line in read_lines("units.txt"):
        family, measure, *words = line.split()
        size, _, zero = measure.partition("+")
        unit = MeasureUnit(family, Fraction(size), Fraction(zero or 0))
        yield from ((word, unit) for word in words)


_UNITS: Mapping[str, MeasureUnit] = dict(_read_units())
UNIT_WORDS = frozenset({*map(str.casefold, _UNITS), "per", "each", "every"})
"""Words beside numbers that are not their subject: units, "per", "each", "every"."""


def is_same_family(one: str, other: str) -> bool:
    """Whether two families of units are comparable; cents are comparable to any money."""
    is_money = "money" in (one, other) and one[:5] == other[:5]
    return one == other or {one, other} in _EITHER or is_money


def _read_unit(text: str, start: int, end: int) -> tuple[MeasureUnit, int]:
    """Return the unit of the number from ``start`` to ``end``, and the unit's end."""
    if start and (money := text[start - 1]) in _MONEY:
        return _UNITS[money], end
    between = _BEFORE_UNIT.match(text, end)
    first = _UNIT.match(text, between.end() if between else end)
    if first is None:
        return NO_UNIT, end
    second = _UNIT.match(text, first.end() + 1)
    if second and (unit := _UNITS.get(f"{first[0]}_{second[0]}".casefold())):
        return unit, second.end()
    if first[0].casefold() == "per" and second and second[0].casefold() in ("cent", "hundred"):
        return _UNITS["%"], second.end()
    is_name = first.start() == end and first[0] in ("s", "D", "G", "T")  # 3D, 5G, the 1920s
    is_money_of_next = first[0] in _MONEY and text[first.end() : first.end() + 1].isdigit()
    unit = NO_UNIT if is_name or is_money_of_next else find_unit(first[0])
    return (unit, first.end()) if unit.family else (NO_UNIT, end)


def find_unit(word: str) -> MeasureUnit:
    """Return the unit of a word; in a script without spaces, that of its longest known prefix."""
    if word > "\u3000":
        starts = (word[:size] for size in range(_LONGEST_CHARACTERS, 0, -1))
        return next((_UNITS[start] for start in starts if start in _UNITS), NO_UNIT)
    return _UNITS.get(word) or _UNITS.get(word.casefold()) or NO_UNIT


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text."""

    value: Fraction
    start: int
    end: int
    stop: int
    """End of its unit; without one, the end of the number."""
    text: str
    """Without its unit."""
    written: str = ""
    """With its unit."""
    form: NumberForm = ""
    unit: MeasureUnit = NO_UNIT
    bound: int = 0
    """1 for at least and more than, -1 for at most and less than."""
    is_rough: bool = False
    counted: tuple[str, ...] = ()
    """Stems of the noun phrase that it counts, if it has no unit."""
    label: str = ""
    """Stem of the word before it: ``phase`` of "phase 2"."""

    @property
    def base(self) -> Fraction:
        """Its value in base units of its family."""
        return self.value * self.unit.size + self.unit.zero

    def agrees(self, other: Number) -> bool:
        """Whether this number of a claim agrees with one of a passage, rounding and bounds allowed.

        Comparable units are converted; a percentage equals its fraction.
        """
        mine, theirs = self.unit.family, other.unit.family
        if "code" in (self.form, other.form):
            short, long = sorted((self.text, other.text), key=len)
            return short == long or long.startswith(f"{short}.")
        if "ordinal" in (self.form, other.form):
            return self.value == other.value and self.form == other.form
        if mine and theirs and not is_same_family(mine, theirs):
            return False
        if mine and theirs:
            is_converted = self.unit.size != other.unit.size
            return self._is_near(self.base, other.base, other, _NEAR if is_converted else None)
        if "share" in (mine, theirs) and self._is_near(self.base, other.base, other):
            return True
        return self._is_near(self.value, other.value, other)

    def _is_near(
        self, mine: Fraction, theirs: Fraction, other: Number, least: Fraction | None = None
    ) -> bool:
        if mine == theirs or not theirs or not mine:
            return mine == theirs
        apart = abs(mine - theirs) / abs(theirs)
        if apart > _FAR:
            return False
        if self.bound and not other.bound:
            return (theirs - mine) * self.bound > 0
        if self.is_rough or other.is_rough:
            return apart <= _ABOUT
        return (least is not None and apart <= least) or _is_rounded(self.value, other.value)

    def is_turned(self, other: Number) -> bool:
        """Whether one number is a lower bound and the other an upper bound."""
        return self.bound * other.bound < 0


def _is_rounded(shown: Fraction, exact: Fraction) -> bool:
    """Whether ``shown`` is ``exact`` rounded; an integer needs two significant digits."""
    if shown.denominator > 1:
        places = next((n for n in range(1, 9) if (shown * 10**n).denominator == 1), 9)
        return places < 9 and exact != shown and round(exact, places) == shown
    digits = len(str(abs(shown.numerator)).rstrip("0"))
    if digits < 2 or abs(exact) < 10:
        return False
    step = Fraction(10) ** (floor(log10(abs(shown.numerator))) + 1 - digits)
    return (exact.denominator > 1 or step > 1) and round(exact / step) * step == shown


class _Token(NamedTuple):
    kind: str
    key: str
    written: str
    start: int
    end: int


_NOTHING = _Token("", "", "", -1, -1)


@lru_cache(maxsize=1 << 10)
def find_numbers(text: str) -> tuple[Number, ...]:
    """Return the numbers of a text in order.

    In a range both have the unit of the second: ``two to eight degrees``.
    """
    found = list(_read(text))
    for place in range(len(found) - 2, -1, -1):
        one, other = found[place : place + 2]
        is_bare = not one.unit.family and other.unit.family and one.form == ""
        if is_bare and _RANGE.fullmatch(text, one.stop, max(one.stop, other.start)):
            found[place] = replace(one, unit=other.unit, counted=())
    return tuple(found)


def _read(text: str) -> Iterator[Number]:
    matches = _TOKEN.finditer(text)
    tokens = [_Token(m.lastgroup or "", m[0].casefold(), m[0], *m.span()) for m in matches]
    place = 0
    while place < len(tokens):
        whole = _AND_A_HALF.match(text, tokens[place].start)
        if whole and (unit := find_unit(whole[1])).family:
            span, words = whole.span(), whole[0]
            yield Number(Fraction(3, 2), *span, span[1], words, words, "", unit)
            place += len(words.split())
            continue
        value, form, after = _read_value(tokens, place)
        if value is None:
            place += 1
            continue
        start, end = tokens[place].start, tokens[after - 1].end
        unit, stop = (NO_UNIT, end) if form == "ordinal" else _read_unit(text, start, end)
        if _at(tokens, place - 1).key == "minus":
            value = -value
        while place < len(tokens) and tokens[place].start < stop:
            place += 1
        yield _look_around(
            Number(value, start, end, stop, text[start:end], text[start:stop], form, unit), text
        )


def _look_around(number: Number, text: str) -> Number:
    """Return a number with its bound, roughness, counted noun and label."""
    before = text[max(0, number.start - _WINDOW) : number.start]
    match = _BEFORE.search(before)
    bound = (1 if match["up"] else -1 if match["down"] else 0) if match else 0
    bound = -bound if match and match["no"] else bound
    behind = _BEHIND.match(text, number.stop)
    if behind and not bound:
        bound = 1 if behind["up"] else -1 if behind["down"] else 0
    label = _LABEL.search(before)
    stem = stem_word(label[1].casefold()) if label and not number.unit.family else ""
    return replace(
        number,
        bound=bound,
        is_rough=bool(match and match["rough"]),
        counted=() if number.unit.family else tuple(_read_counted(text, number.stop)),
        label="" if stem in STOP_STEMS else stem,
    )


def _read_counted(text: str, stop: int) -> Iterator[str]:
    """Yield the stems of the noun phrase behind a number."""
    gap = _COUNTED.match(text, stop)
    start = gap.end() if gap else stop
    rest = text[start : start + _WINDOW]
    words = split_words(rest if len(rest) < _WINDOW else rest.rpartition(" ")[0])
    for word in words[:_LONGEST_COUNTED]:
        if word.part in _PAUSE:
            return
        yield stem_word(word.key)


def _at(tokens: Sequence[_Token], place: int) -> _Token:
    return tokens[place] if 0 <= place < len(tokens) else _NOTHING


def _read_value(tokens: Sequence[_Token], place: int) -> tuple[Fraction | None, NumberForm, int]:
    """Return the number that begins at a place, and the place of the token behind it."""
    token, behind = tokens[place], _at(tokens, place + 1)
    if token.kind == "code":
        first, _, second = token.key[:_MOST_DIGITS].partition("/")
        if second.isdecimal() and 0 < int(first) < int(second) <= 10:
            return Fraction(int(first), int(second)), "", place + 1
        return Fraction(0), "code", place + 1
    if token.kind == "vulgar":
        return Fraction(*_VULGAR[token.key]), "", place + 1
    if token.kind == "digits":
        return _read_digits(token, behind, place)
    if token.key in _MULTIPLES:
        return Fraction(_MULTIPLES[token.key]), "times", place + 1
    before = _at(tokens, place - 1).key
    is_part = token.key not in _ORDINALS or before == "a" or behind.key == "of"
    if token.key in _FRACTIONS and is_part:
        return _FRACTIONS[token.key], "", place + 1
    if token.key == "second" and before in ("a", "per", "one", "last", "same"):
        return None, "", place  # a unit of time
    if token.key in _ORDINALS:
        return Fraction(_ORDINALS[token.key]), "ordinal", place + 1
    return _read_words(tokens, place)


def _read_digits(token: _Token, behind: _Token, place: int) -> tuple[Fraction, NumberForm, int]:
    value = _value_of(token.written)
    is_joined = behind.start == token.end
    if is_joined and behind.key in ("st", "nd", "rd", "th"):
        return value, "ordinal", place + 2
    if behind.key in ("times", "fold") or (is_joined and behind.key in ("x", "×")):
        return value, "times", place + 2
    scale = 12 if behind.key == "dozen" else 1
    if len(behind.key) > 1 or (is_joined and behind.key == "k"):
        scale = _SCALES.get(behind.key, scale)
    elif is_joined and behind.written == "M":
        scale = 1_000_000
    return value * scale, "", place + 1 + (scale > 1)


def _value_of(written: str) -> Fraction:
    clean = written[:_MOST_DIGITS].replace("−", "-").rstrip(",.").casefold()
    mantissa, _, power = clean.partition("e")
    if _GROUPED.fullmatch(mantissa):
        mantissa = re.sub(r"[^\d.-]", "", mantissa)
    exponent = int(power or 0)
    value = Fraction(mantissa.replace(",", ".").replace("·", "."))
    return value * Fraction(10) ** (exponent if abs(exponent) <= _MOST_POWER else 0)


def _read_words(tokens: Sequence[_Token], start: int) -> tuple[Fraction | None, NumberForm, int]:
    """Read ``twenty-two``, ``three hundred and forty``, ``a hundred``, ``three quarters``."""
    total, current, is_begun, place = 0, 0, False, start
    if tokens[start].key == "a" and _at(tokens, start + 1).key in (*_SCALES, "dozen"):
        current, is_begun, place = 1, True, start + 1
    while place < len(tokens):
        word = tokens[place].key
        if is_begun and word in _FRACTIONS and (word.endswith("s") or total + current == 1):
            return (total + current) * _FRACTIONS[word], "", place + 1
        if is_begun and word in _ORDINALS and current % 10 == 0:
            return Fraction(total + current + _ORDINALS[word]), "ordinal", place + 1
        if is_begun and word in ("times", "dozen"):
            factor = 12 if word == "dozen" else 1
            return Fraction((total + current) * factor), "times" if factor == 1 else "", place + 1
        if is_begun and len(word) > 1 and word in _SCALES:
            current = max(current, 1) * _SCALES[word]
            if _SCALES[word] >= 1000:
                total, current = total + current, 0
        elif word in _SMALL and not (is_begun and current % (10 if _SMALL[word] < 10 else 100)):
            current += _SMALL[word]
        elif not (is_begun and word == "and" and _joins(tokens, place)):
            break
        is_begun = True
        place += 1
    return (Fraction(total + current), "", place) if is_begun else (None, "", start)


def _joins(tokens: Sequence[_Token], place: int) -> bool:
    """Whether an ``and`` is inside a number: ``three hundred and forty``."""
    return _at(tokens, place - 1).key in _SCALES and _at(tokens, place + 1).key in _SMALL

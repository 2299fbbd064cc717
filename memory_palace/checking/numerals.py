"""The words, digits and signs of numbers, and the values that they spell: see ``numerals.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from fractions import Fraction
from importlib.resources import files
from typing import Literal, NamedTuple, TypeAlias

_TOKEN = re.compile(
    r"(?P<version>(?<![\w.])\d+(?:\.\d+){2,}+)"
    r"|(?P<pair>(?<![\w./:])\d+[/:]\d+(?![/:]?\d))"
    r"|(?P<number>(?:(?<![\w.)])[−-])?"
    r"(?:(?<!\d)(?<!\d[.,])\d{1,3}(?:[,\u00a0\u202f\u2009'’]\d{3})++(?:\.\d+)?(?!\d)"
    r"|(?<![\d.,])(?<!\d )\d{1,3}(?: \d{3})++(?![\d.,]*\d)"
    r"|\d+(?:[.,·]\d+)?|(?<![\w.])\.\d+)"
    r"(?:[eE][+-]?\d+(?!\w)|\s?[x×*·]\s?10(?:\^|\*\*)?[({]?[+−-]?\d+[)}]?"
    r"|\s?[x×]\s?10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?)"
    r"|(?P<vulgar>[¼½¾⅓⅔])"
    r"|(?P<word>(?<!['’])[^\W\d_]+)|(?P<sign>°[CcFf]?|[%％€$£¥×])"
)
NumeralForm: TypeAlias = Literal["", "ordinal", "part", "times", "group", "code"]
"""How a number is used: third, half, twice, both, 1.5.3."""
_NUMERALS: dict[str, dict[str, int]] = tomllib.loads(
    files("memory_palace.checking").joinpath("numerals.toml").read_text("utf-8")
)
_SMALL = _NUMERALS["small"] | _NUMERALS["elsewhere"]
_TENS, _SCALES, _ORDINALS = (_NUMERALS[name] for name in ("tens", "scales", "ordinals"))
_FRACTIONS = {word: Fraction(1, parts) for word, parts in _NUMERALS["fractions"].items()}
NUMBER_WORDS = frozenset({*_NUMERALS["small"], *_TENS, *_SCALES, "half"})
"""English words of which numbers are made."""
_WORDS: tuple[tuple[dict[str, int], NumeralForm], ...] = (
    (_NUMERALS["multiples"], "times"),
    (_NUMERALS["groups"], "group"),
)
_VULGAR = {"¼": (1, 4), "½": (1, 2), "¾": (3, 4), "⅓": (1, 3), "⅔": (2, 3)}
_GROUPED = re.compile(r"-?\d{1,3}(?:[, \u00a0\u202f\u2009'’]\d{3})+(?:\.\d+)?")
_EITHER = re.compile(r"-?[1-9]\d{0,2}\.\d{3}")
"""1.200 is twelve hundred in half of the world."""
_POWER = re.compile(
    r"\s?[x×*·]\s?10(?:\^|\*\*)?[({]?([+−-]?[\d⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)[)}]?\Z|[eE]([+-]?\d+)\Z"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_SUFFIX = re.compile(r"(?:st|nd|rd|th)$")
_BEFORE_UNIT = frozenset({"a", "per", "one", "last", "same"})
"""After these ``second`` is a time."""
_MONEY = frozenset("€$£¥")
_MOST_DIGITS, _MOST_POWER = 1000, 300
"""Digits of a number that count. Python reads no more than 4,300."""
_LARGEST_PART = 10
_MILLION, _DOZEN = 1_000_000, 12


class Figure(NamedTuple):
    """One word, sign or run of digits."""

    kind: str
    key: str
    """Casefolded."""
    written: str
    start: int
    end: int

    @classmethod
    def of(cls, match: re.Match[str]) -> Figure:
        """Return the token that a match of the pattern is."""
        return cls(match.lastgroup or "", match[0].casefold(), match[0], *match.span())


NOTHING = Figure("", "", "", -1, -1)
"""What stands beyond the ends of a text."""


def read_tokens(text: str) -> list[Figure]:
    """Return the tokens of a text in order."""
    return [Figure.of(match) for match in _TOKEN.finditer(text)]


def token_at(text: str, place: int) -> Figure:
    """Return the token that begins at a place of a text; nothing where none does."""
    match = _TOKEN.match(text, place)
    return Figure.of(match) if match else NOTHING


def at(tokens: Sequence[Figure], place: int) -> Figure:
    """Return the token at a place of a list; nothing beyond its ends."""
    return tokens[place] if 0 <= place < len(tokens) else NOTHING


class Numeral(NamedTuple):
    """A number without its unit."""

    values: tuple[Fraction, ...]
    """Each reading; none where there is no number."""
    form: NumeralForm
    after: int
    """Place of the token behind it."""


def read_numeral(tokens: Sequence[Figure], place: int) -> Numeral:
    """Return the number that begins at a place, with each of its readings."""
    token = tokens[place]
    if token.kind in ("version", "pair"):
        return _read_code(token, place)
    if token.kind == "vulgar":
        return Numeral((Fraction(*_VULGAR[token.key]),), "", place + 1)
    if token.kind == "number":
        return _read_digits(tokens, place)
    if token.key == "second" and at(tokens, place - 1).key in _BEFORE_UNIT:
        return Numeral((), "", place)
    for words, form in _WORDS:
        if token.key in words:
            return Numeral((Fraction(words[token.key]),), form, place + 1)
    if token.key in _ORDINALS or token.key in _FRACTIONS:
        return _read_ordinal(tokens, place)
    return _read_words(tokens, place)


def find_scale(text: str) -> int:
    """Return the largest scale that is spelled out in a number, 1 where none is."""
    return max((_SCALES.get(word, 1) for word in text.casefold().split()), default=1)


def _read_code(token: Figure, place: int) -> Numeral:
    """Read ``3/4`` as a fraction; ``1.5.3``, ``16:9`` and ``9/11`` stand for themselves."""
    first, _, second = token.key[:_MOST_DIGITS].partition("/")
    if second.isdecimal() and 0 < int(first) < int(second) <= _LARGEST_PART:
        return Numeral((Fraction(int(first), int(second)),), "part", place + 1)
    return Numeral((Fraction(0),), "code", place + 1)


def _read_ordinal(tokens: Sequence[Figure], place: int) -> Numeral:
    """Read ``third``: of ``a third of`` a part, of ``the third`` the one after two, else either."""
    word, before, behind = (at(tokens, place + step).key for step in (0, -1, 1))
    if word == "half" and behind == "a" and at(tokens, place + 2).key == "dozen":
        return Numeral((Fraction(_DOZEN, 2),), "", place + 3)
    if word not in _ORDINALS:
        return Numeral((_FRACTIONS[word],), "part", place + 1)
    ordinal = Fraction(_ORDINALS[word])
    if before == "a" and behind == "of":
        return Numeral((1 / ordinal,), "part", place + 1)
    if word in _FRACTIONS and (before == "a" or behind == "of"):
        return Numeral((_FRACTIONS[word], ordinal), "part", place + 1)
    return Numeral((ordinal,), "ordinal", place + 1)


def _read_digits(tokens: Sequence[Figure], place: int) -> Numeral:
    token, behind = tokens[place], at(tokens, place + 1)
    is_joined = behind.start == token.end
    if is_joined and _SUFFIX.fullmatch(behind.key):
        return Numeral((_value_of(token.written),), "ordinal", place + 2)
    if behind.key == "fold" or (is_joined and behind.key in ("x", "×")):
        return Numeral((_value_of(token.written),), "times", place + 2)
    is_money = at(tokens, place - 1).written in _MONEY
    scale = 1
    if behind.key == "dozen":
        scale = _DOZEN
    elif len(behind.key) > 1 or is_joined:
        scale = _SCALES.get(behind.key, 1)
        if is_joined and (behind.written == "M" or (is_money and behind.written == "m")):
            scale = _MILLION
    values = [_value_of(token.written) * scale]
    if _EITHER.fullmatch(token.written):
        values.append(values[0] * 1000)
    return Numeral(tuple(values), "", place + 1 + (scale > 1))


def _value_of(written: str) -> Fraction:
    clean = written[:_MOST_DIGITS].replace("−", "-").rstrip(",.")
    power = _POWER.search(clean)
    exponent = int((power[1] or power[2]).translate(_SUPERSCRIPTS)) if power else 0
    if power and abs(exponent) <= _MOST_POWER:
        return _value_of(clean[: power.start()]) * Fraction(10) ** exponent
    clean = clean[: power.start()] if power else clean
    if _GROUPED.fullmatch(clean):
        return Fraction(re.sub(r"[^\d.-]", "", clean))
    return Fraction(clean.replace(",", ".").replace("·", "."))


def _read_words(tokens: Sequence[Figure], start: int) -> Numeral:
    """Read ``twenty-two``, ``three hundred and forty``, ``a hundred``, ``three quarters``."""
    total, current, is_begun, place = 0, 0, False, start
    if tokens[start].key == "a" and at(tokens, start + 1).key in _SCALES:
        current, is_begun, place = 1, True, start + 1
    while place < len(tokens):
        word = tokens[place].key
        part = _read_last(word, total, current) if is_begun else None
        if part is not None:
            is_thing = word == "halves"  # of a match
            values = (part, Fraction(total + current))[: 1 + is_thing]
            return Numeral(values, "" if is_thing else _form_of(word), place + 1)
        grown = _add_word(word, current, is_begun=is_begun)
        if grown is None and not (is_begun and word == "and" and _joins(tokens, place)):
            break
        current = current if grown is None else grown
        if _SCALES.get(word, 0) >= 1000:
            total, current = total + current, 0
        is_begun = True
        place += 1
    if not is_begun:
        return Numeral((), "", start)
    is_dozen = at(tokens, place).key == "dozen"
    value = Fraction(total + current) * (_DOZEN if is_dozen else 1)
    return Numeral((value,), "", place + is_dozen)


def _form_of(word: str) -> NumeralForm:
    return "part" if word in _FRACTIONS else "ordinal"


def _add_word(word: str, current: int, *, is_begun: bool) -> int | None:
    """Return a number with one more word; ``None`` where the word begins another, or is none."""
    if is_begun and len(word) > 1 and word in _SCALES:
        return max(current, 1) * _SCALES[word]
    value = _SMALL.get(word, _TENS.get(word))
    if value is None or (is_begun and current % (10 if value < 10 else 100)):
        return None  # half past "seven thirty" are two numbers
    return current + value


def _read_last(word: str, total: int, current: int) -> Fraction | None:
    """Return a number that ends in an ordinal, ``twenty-first``, or in parts."""
    if current and word in _ORDINALS and current % 10 == 0:
        return Fraction(total + current + _ORDINALS[word])
    if word in _FRACTIONS and (word.endswith("s") or total + current == 1):
        return (total + current) * _FRACTIONS[word]
    return None


def _joins(tokens: Sequence[Figure], place: int) -> bool:
    """Say whether an ``and`` stands within a number: ``three hundred and forty``."""
    behind = at(tokens, place + 1).key
    return at(tokens, place - 1).key in _SCALES and (behind in _SMALL or behind in _TENS)

"""Numbers in English prose, in digits or in words, with their units; and times of day."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.resources import files

_DATA = files("memory_palace.checking")
_NUMERALS = tomllib.loads(_DATA.joinpath("numerals.toml").read_text("utf-8"))
_SMALL: dict[str, int] = _NUMERALS["small"]
_TENS: dict[str, int] = _NUMERALS["tens"]
_SCALES: dict[str, int] = _NUMERALS["scales"]
_ORDINALS: dict[str, int] = _NUMERALS["ordinals"]
_FRACTIONS = {word: Fraction(1, parts) for word, parts in _NUMERALS["fractions"].items()}
_MULTIPLES: dict[str, int] = _NUMERALS["multiples"]
_RATES: dict[str, str] = _NUMERALS["rates"]


def _read_units() -> Iterator[tuple[str, tuple[str, Fraction]]]:
    """Yield the spellings of ``units.txt`` with what they measure and their size."""
    for line in _DATA.joinpath("units.txt").read_text("utf-8").splitlines()[1:]:
        family, size, *words = line.split()
        yield from ((word, (family, Fraction(size))) for word in words)


_UNITS = dict(_read_units())
UNIT_WORDS = frozenset({*_UNITS, "per", "each", "every"})
"""What stands beside numbers and says nothing about their subject."""
_TOKEN = re.compile(
    r"[−-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d])|(?:(?<![\w.])[−-])?\d+(?:[.,]\d+)?"
    r"|(?<!['’])[^\W\d_]+|°C?|[%€]"
)
_IMPLIED = re.compile(
    r"\b(?:an?|per|each|every|the)\s+(?:(?:last|first|next|same|full|whole|single)\s+)?([^\W\d_]+)",
    re.IGNORECASE,
)
_FILLERS = frozenset({"a", "an", "of", "and", "the"})
_BEFORE_UNIT = frozenset({"a", "per", "one", "last", "same"})
"""After these ``second`` is a time."""
_RANGE = re.compile(r"(?:(?<!\s)\s++)?+(?:to|or|and|until|–|-)\s*")
_BARE = re.compile(r"(?:(?<!\s)\s++)?+(?:[,.;:)]|\Z|and\b|or\b|in\b)")
"""Nothing that a number could count stands after it."""
_SENTENCE_END = re.compile(r"[.!?]\s")
_SUFFIX = re.compile(r"(?:st|nd|rd|th)$")


_WINDOW = 40
"""Characters before a number that are looked at: time stays linear in the text."""
_MOST_DIGITS = 1000
"""Digits of a number that count. Python reads no more than 4,300."""
_JOINT = re.compile(r"(?:\b(?:and|or|to|than|every|but|by)|[,;(])\s*\Z", re.I)
"""Before a number that goes on with what was counted: in ``rings at 8.5`` it need not."""


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

    def agrees(self, other: Number) -> bool:
        """Say whether two may mean the same: equal with their units, where both have some.

        A share in per cent equals the fraction.
        """
        if "share" in (self.family, other.family) and self.family != other.family:
            return self.value == other.value or self.value * self.size == other.value * other.size
        if self.family and other.family:
            return self.family == other.family and (
                self.value * self.size == other.value * other.size
            )
        return self.value == other.value


def find_numbers(text: str) -> list[Number]:
    """Return the numbers of a text in order. An ambiguous word, ``third``, gives each reading.

    So does a bare number: it may have any unit of those before it in the sentence, ``every six
    years, or every three``. In a range both have the unit of the second, ``two to eight degrees``.
    """
    tokens = [(m[0].casefold(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    found = list(_read(text, tokens))
    for at in range(len(found) - 2, -1, -1):
        if _RANGE.fullmatch(text, found[at].end, max(found[at].end, found[at + 1].start)):
            found[at] = _with_unit(found[at], found[at + 1])
    return [
        reading
        for number, units in _units_before(text, found)
        for reading in _readings(text, number, units)
    ]


def find_implied(text: str) -> list[Number]:
    """Return one of each unit that a text has without a number: ``about a minute``, ``daily``."""
    words = [match.casefold() for match in _IMPLIED.findall(text)]
    words += [unit for word, unit in _RATES.items() if word in text.casefold()]
    return [Number(Fraction(1), *_UNITS[word]) for word in dict.fromkeys(words) if word in _UNITS]


def _units_before(
    text: str, found: list[Number]
) -> Iterator[tuple[Number, tuple[tuple[str, Fraction], ...]]]:
    """Yield each number with the units of the earlier ones in its sentence, each once."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    sentence, units = 0, dict[tuple[str, Fraction], None]()
    for number in found:
        if (here := bisect_right(ends, number.start)) != sentence:
            sentence, units = here, {}
        yield number, tuple(units)
        if number.family:
            units[number.family, number.size] = None


def _readings(text: str, number: Number, units: tuple[tuple[str, Fraction], ...]) -> list[Number]:
    """Return a bare number with each unit of the earlier ones in its sentence, others as is."""
    near = max(0, number.start - _WINDOW)
    is_listed = _JOINT.search(text, near, number.start) is not None
    if number.family or not is_listed or not _BARE.match(text, number.end):
        return [number]
    return [replace(number, family=family, size=size) for family, size in units] or [number]


def _with_unit(number: Number, other: Number) -> Number:
    if number.family or not other.family:
        return number
    return replace(number, family=other.family, size=other.size)


def _read(text: str, tokens: list[tuple[str, int, int]]) -> Iterator[Number]:
    at = 0
    while at < len(tokens):
        values, after = _read_value(tokens, at)
        if not values:
            at += 1
            continue
        family, size = _read_unit(tokens, after)
        start, end = tokens[at][1], tokens[after - 1][2]
        is_negative = _word(tokens, at - 1) == "minus"
        for value in values:
            signed = -value if is_negative else value
            yield Number(signed, family, size, start, end, text[start:end])
        at = max(after, at + 1)


def _read_value(tokens: list[tuple[str, int, int]], at: int) -> tuple[list[Fraction], int]:
    word = tokens[at][0]
    if word[0].isdecimal() or (word[0] in "−-" and len(word) > 1):
        return [_read_digits(word)], _skip_suffix(tokens, at + 1)
    if word == "second" and _word(tokens, at - 1) in _BEFORE_UNIT:
        return [], at
    if word in _MULTIPLES:
        return [Fraction(_MULTIPLES[word])], at + 1
    readings = [Fraction(table[word]) for table in (_ORDINALS, _FRACTIONS) if word in table]
    return (readings, at + 1) if readings else _read_words(tokens, at)


def _read_digits(word: str) -> Fraction:
    clean = word[:_MOST_DIGITS].replace("−", "-").rstrip(",.")
    if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", clean):
        return Fraction(clean.replace(",", ""))
    return Fraction(clean.replace(",", "."))


def _skip_suffix(tokens: list[tuple[str, int, int]], at: int) -> int:
    is_near = at < len(tokens) and tokens[at][1] == tokens[at - 1][2]
    return at + 1 if is_near and _SUFFIX.fullmatch(tokens[at][0]) else at


def _read_words(tokens: list[tuple[str, int, int]], at: int) -> tuple[list[Fraction], int]:
    """Read ``twenty-two``, ``three hundred and forty``, ``a hundred``, ``three quarters``."""
    total, current, seen, place = 0, 0, False, at
    if tokens[at][0] == "a" and _word(tokens, at + 1) in _SCALES:
        current, seen, place = 1, True, at + 1
    while place < len(tokens):
        word = tokens[place][0]
        part = _read_last(word, total, current) if seen else None
        if part is not None:
            return [part], place + 1
        grown = _add_word(word, current, seen=seen)
        if grown is None and not (seen and word == "and" and _joins(tokens, place)):
            break
        current = current if grown is None else grown
        if _SCALES.get(word, 0) >= 1000:
            total, current = total + current, 0
        seen = True
        place += 1
    return ([Fraction(total + current)], place) if seen else ([], at)


def _add_word(word: str, current: int, *, seen: bool) -> int | None:
    """Return a number with one more word; ``None`` where the word begins another, or is none."""
    if word in _SCALES:
        return max(current, 1) * _SCALES[word]
    value = _SMALL.get(word, _TENS.get(word))
    if value is None or (seen and current % (10 if value < 10 else 100)):
        return None  # half past "seven thirty" are two numbers
    return current + value


def _read_last(word: str, total: int, current: int) -> Fraction | None:
    """Return a number that ends in an ordinal, ``twenty-first``, or in parts."""
    if current and word in _ORDINALS and current % 10 == 0:
        return Fraction(total + current + _ORDINALS[word])
    if word in _FRACTIONS and word.endswith("s"):
        return (total + current) * _FRACTIONS[word]
    return None


def _joins(tokens: list[tuple[str, int, int]], at: int) -> bool:
    """Say whether an ``and`` stands within a number: ``three hundred and forty``."""
    after = _word(tokens, at + 1)
    return _word(tokens, at - 1) in _SCALES and (after in _SMALL or after in _TENS)


def _word(tokens: list[tuple[str, int, int]], at: int) -> str:
    return tokens[at][0] if 0 <= at < len(tokens) else ""


def _read_unit(tokens: list[tuple[str, int, int]], at: int) -> tuple[str, Fraction]:
    """Return the unit right after a number, articles and ``of`` passed over."""
    place = at
    while _word(tokens, place) in _FILLERS and place - at < 2:
        place += 1
    if _word(tokens, place) == "per" and _word(tokens, place + 1) == "cent":
        return "share", Fraction(1, 100)
    return _UNITS.get(_word(tokens, place), ("", Fraction(1)))


_HOURS = "one two three four five six seven eight nine ten eleven twelve".split()
_HOUR = rf"(?:{'|'.join(_HOURS)}|1?\d|2[0-4])"
_PARTS = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20}
_ENDS = {"thirty": 30, "fifteen": 15, "forty-five": 45}
_TIME = re.compile(
    rf"\b(?:(?P<part>{'|'.join(_PARTS)}) (?P<side>past|to) (?P<near>{_HOUR})"
    rf"|(?P<spoken>{_HOUR}) (?P<end>{'|'.join(_ENDS)})(?! \w+ly| [a-z]+s\b)"
    rf"|(?P<hour>[01]?\d|2[0-4])[:.](?P<minute>[0-5]\d)(?= ?(?:h\b|[ap]\.?m)|(?<=:\d\d))"
    rf"|(?P<full>{_HOUR})(?: ?o'clock| ?[ap]\.?m\b))",
    re.IGNORECASE,
)
_HALF_DAY = 12 * 60
"""Minutes; nine in the evening and 21:00 are the same hand of the clock."""


@dataclass(frozen=True, slots=True)
class ClockTime:
    """One time of day as it stands in a text."""

    minutes: int
    """Since midnight or noon."""
    start: int
    end: int


def find_clock_times(text: str) -> Iterator[ClockTime]:
    """Yield the times of day of a text in order."""
    for match in _TIME.finditer(text.replace("’", "'")):
        yield ClockTime(_read_time(match) % _HALF_DAY, match.start(), match.end())


def _read_time(match: re.Match[str]) -> int:
    if match["part"]:
        minutes = _PARTS[match["part"].casefold()]
        return 60 * _hour(match["near"]) + (minutes if match["side"] == "past" else -minutes)
    if match["spoken"]:
        return 60 * _hour(match["spoken"]) + _ENDS[match["end"].casefold()]
    if match["hour"]:
        return 60 * int(match["hour"]) + int(match["minute"])
    return 60 * _hour(match["full"])


def _hour(word: str) -> int:
    return int(word) if word.isdigit() else _HOURS.index(word.casefold()) + 1

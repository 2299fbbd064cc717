"""Numbers with what they are said of: ``at least three users``, ``5 mg a day``, ``phase 2``."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import groupby

from memory_palace.checking.numbers import Number, find_numbers
from memory_palace.checking.phrases import phrase_pattern, word_list
from memory_palace.checking.surroundings import StemsAround, find_surroundings
from memory_palace.checking.units import NO_UNIT, MeasureUnit, find_unit
from memory_palace.language.tagged_words import Part, Word, split_words
from memory_palace.language.tokens import stem_word
from memory_palace.language.word_lists import STOP_STEMS

_WINDOW = 48
"""Characters before and behind a number that are looked at: time stays linear in the text."""
_MONEY = tuple("€$£¥")
_BEFORE = re.compile(
    rf"(?:\b(?P<no>no|not|never|n't)\s(?:any\s)?)?(?:\b(?:{phrase_pattern('bounds')})"
    r"|(?P<sign>[<>≤≥~≈+]=?))\s?(?:(?:a|an|the|only|just|of)\s)?[($€£¥]?\Z",
    re.I,
)
_MORE = "more|above|over|higher|greater|longer|older|later|better|up|upwards?"
_LESS = "less|fewer|below|under|lower|shorter|younger|earlier"
_BEHIND = re.compile(
    rf"(?P<up>\s?\+(?!\d)|\s(?:[^\W\d_]+\s)?(?:or|and)\s(?:{_MORE})\b)"
    rf"|(?P<down>\s(?:[^\W\d_]+\s)?(?:or|and)\s(?:{_LESS})\b)"
    r"|(?P<rough>\s(?:[^\W\d_]+\s)?(?:or so|more or less|or thereabouts)\b)",
    re.I,
)
_SIGNS = {"<": -1, "≤": -1, ">": 1, "≥": 1, "+": 1}
_PER = re.compile(r"\s?(?:/\s?|\s(?:per|an?|each|every|pro|par|por|al|au|je)\s)(?=[^\W\d_])", re.I)
_LATE = re.compile(r"[^,;.:!?\d]{0,24}?\s(?:each|every|per)\s(?=[^\W\d_])", re.I)
"""A rate behind the verb: 350 visitors come each week."""
_LABELS = word_list("labels")
_LABEL = re.compile(r"\b(?P<word>[^\W\d_]+)\.?\s#?\Z")
_NAME_BEFORE = re.compile(r"(?<![^\W\d_])(?P<letters>[^\W\d_]+)-?\Z")
_OF_THE = re.compile(
    r"\s(?:out\s)?of\b(?:\s(?:the|these|those|our|their|its|his|her|all)\b)?", re.I
)
_PAUSE = frozenset({Part.BREAK, Part.FUNCTION, Part.DETERMINER, Part.VERB})
_INSIDE = word_list("counted_too")
_LAST_IN_ORDER = 4
_IN_ROW = re.compile(r"\s?(?:or|and|to|[-–])\s?")
_LONGEST_COUNTED = 4
_IMPLIED = re.compile(r"\b(?:an?|one|a full|a whole|a single)\s+(?=[^\W\d_])", re.I)
_LASTING = re.compile(r"\b(?:for|within|last(?:s|ed)?|takes?|took)\s(?:about\s)?\Z", re.I)
"""Before a unit that is a number as well: kept for a year."""
_COUNTABLE = frozenset({"time", "length", "mass", "volume", "data"})


@dataclass(frozen=True, slots=True)
class Amount:
    """One number of a text and what is said of it."""

    readings: tuple[Number, ...]
    text: str
    """As it is shown: with its unit or what it counts."""
    start: int
    stop: int
    """Where it ends with its unit and rate."""
    counted: tuple[str, ...] = ()
    """Stems of what it counts, the head last; empty with a unit alone."""
    label: str = ""
    """Stem of what it numbers: ``phase`` of "phase 2"; the letters of a name, "GPT-" of "GPT-4"."""
    bound: int = 0
    """1 for at least and more than, -1 for at most and less than."""
    is_rough: bool = False
    per: MeasureUnit = NO_UNIT
    per_stem: str = ""
    """What it is a rate of: ``day`` in "5 mg a day"."""
    is_weak: bool = False
    """Whether it may be no number at all: "one", "an hour", "first", "both"."""
    around: StemsAround = field(default_factory=dict)
    """Stems that are said of it."""

    @property
    def first(self) -> Number:
        """Its first reading."""
        return self.readings[0]

    @property
    def rate(self) -> MeasureUnit | str:
        """What it is a rate of; an empty text where it is none."""
        return self.per if self.per.family else self.per_stem

    @property
    def is_name(self) -> bool:
        """Whether it is a part of a name, K9 or GPT-4."""
        return self.label.endswith("-")


@lru_cache(maxsize=256)
def find_amounts(text: str) -> tuple[Amount, ...]:
    """Return the amounts of a text in order."""
    grouped = [tuple(group) for _, group in groupby(find_numbers(text), key=lambda n: n.start)]
    found = [_read(text, readings) for readings in grouped]
    implied = list(_find_implied(text))
    found = _outside(found, [one for one in implied if not one.is_weak])
    found += [one for one in implied if not one.is_weak]
    found.sort(key=lambda one: one.start)
    for place in range(len(found) - 2, -1, -1):
        one, other = found[place : place + 2]
        is_bare = not one.counted and not one.first.family and not one.label
        if is_bare and _IN_ROW.fullmatch(text, one.stop, max(one.stop, other.start)):
            found[place] = replace(one, counted=other.counted)  # 10 or 12 people
    found += _outside([one for one in implied if one.is_weak], found)
    found.sort(key=lambda one: one.start)
    around = find_surroundings(text, [(one.start, one.stop) for one in found])
    return tuple(replace(one, around=words) for one, words in zip(found, around, strict=True))


def _outside(those: Sequence[Amount], taken: Sequence[Amount]) -> list[Amount]:
    """Return the amounts that do not begin within others, which are in order."""
    starts = [one.start for one in taken]
    places = [bisect_right(starts, one.start) - 1 for one in those]
    return [
        one
        for one, place in zip(those, places, strict=True)
        if place < 0 or taken[place].stop <= one.start
    ]


def _read(text: str, readings: tuple[Number, ...]) -> Amount:
    number = readings[0]
    before = text[max(0, number.start - _WINDOW) : number.start]
    bound, is_rough = _read_bound(text, number, before)
    per, per_stem, stop = _read_rate(text, number.stop, number)
    counted, written = ((), "") if number.form == "code" else _read_counted(text, number, stop)
    if counted and not per.family and not per_stem:
        per, per_stem, _ = _read_rate(text, stop + len(written), number)
    label = _read_label(text, number, before, has_noun=bool(counted or number.family))
    is_behind = label.endswith("-") and not before.casefold().rstrip("-").endswith(label[:-1])
    start = number.start if is_behind or not label.endswith("-") else number.start - len(label)
    start -= before[-1:] in _MONEY
    shown = text[start : max(number.stop, stop)] + written
    is_one = number.value == 1 and not number.text[0].isdigit()
    return Amount(
        readings,
        " ".join(shown.split()),
        start,
        max(number.stop, stop),
        counted,
        label,
        bound,
        is_rough,
        per,
        per_stem,
        is_weak=is_one or number.form == "group" or _may_order(number),
    )


def _may_order(number: Number) -> bool:
    """Say whether a number may only put sentences in order, or be a verb: second, double."""
    is_small = number.form == "ordinal" and number.value <= _LAST_IN_ORDER
    return is_small or number.text.casefold() == "double"


def _read_bound(text: str, number: Number, before: str) -> tuple[int, bool]:
    """Return which side a number bounds, and whether it is rough."""
    bound, is_rough = 0, False
    if match := _BEFORE.search(before):
        sign = match["sign"] or ""
        bound = 1 if match["up"] else -1 if match["down"] else _SIGNS.get(sign[:1], 0)
        bound = -bound if match["no"] else bound
        is_rough = bool(match["rough"]) or sign[:1] in ("~", "≈")
    if not bound and (match := _BEHIND.match(text, number.stop)):
        bound = 1 if match["up"] else -1 if match["down"] else 0
        is_rough = is_rough or bool(match["rough"])
    return bound, is_rough


def _read_rate(text: str, stop: int, number: Number) -> tuple[MeasureUnit, str, int]:
    """Return what a number is a rate of, as a unit or as a stem, and where that ends."""
    if match := _PER.match(text, stop) or _LATE.match(text, stop):
        unit, end = find_unit(text, match.end())
        if unit.family:
            return unit, "", end
        word = re.compile(r"[^\W\d_]+").match(text, match.end())
        is_price = number.family.startswith("money")
        if word and (is_price or match[0].strip().casefold() in ("/", "per")):
            return NO_UNIT, stem_word(word[0].casefold()), word.end()
    return NO_UNIT, "", stop


def _read_counted(text: str, number: Number, stop: int) -> tuple[tuple[str, ...], str]:
    """Return the stems of the noun phrase behind a number, and as it is written."""
    behind = text[stop : stop + _WINDOW]
    skipped = _OF_THE.match(behind)
    rest = behind[skipped.end() :] if skipped else behind
    rest = (rest if len(behind) < _WINDOW else rest.rpartition(" ")[0]).partition("/")[0]
    if not rest[:1].isspace() and rest[:1] != "-":
        return (), ""
    stems: list[str] = []
    end = 0
    for word in _noun_phrase(split_words(rest), is_of_number=skipped is not None):
        end = rest.find(word.written, end) + len(word.written)
        stem = stem_word(word.key)
        if stem not in STOP_STEMS:
            stems.append(stem)
    return tuple(stems), behind[: skipped.end() if skipped else 0] + rest[:end]


def _noun_phrase(words: Sequence[Word], *, is_of_number: bool) -> Iterator[Word]:
    """Yield the words of the noun phrase at the beginning of a text: of the 12 *mice* died."""
    count = 0
    for word in words:
        if word.part == Part.NUMBER and is_of_number and not count:
            continue
        if count == _LONGEST_COUNTED or not _may_be_counted(word, is_first=not count):
            return
        count += 1
        yield word
        if word.is_possessive:
            return


def _may_be_counted(word: Word, *, is_first: bool) -> bool:
    if word.part == Part.VERB and is_first:
        return word.key.endswith("s")  # 500 calls
    return word.key in _INSIDE or (word.part not in _PAUSE and word.part != Part.NUMBER)


def _read_label(text: str, number: Number, before: str, *, has_noun: bool) -> str:
    name = _NAME_BEFORE.search(before)
    if name and (before[-1] != "-" or not name["letters"].islower()):
        return f"{name['letters'].casefold()}-"
    if number.end < len(text) and text[number.end].isalpha() and number.stop == number.end:
        letters = re.compile(r"[^\W\d_]+").match(text, number.end)
        return f"{letters[0].casefold()}-" if letters else ""
    label = _LABEL.search(before)
    if not label or number.form:
        return ""
    word = label["word"]
    is_title = word[0].isupper() and not has_noun and word.casefold() not in STOP_STEMS
    if word.casefold().rstrip("s") in _LABELS or is_title:
        return stem_word(word.casefold())
    return ""


def _find_implied(text: str) -> Iterator[Amount]:
    """Yield one of each unit that a text has without a number: ``an hour``, ``a mile``."""
    for match in _IMPLIED.finditer(text):
        unit, end = find_unit(text, match.end())
        if unit.family in _COUNTABLE and end - match.end() > 1:
            half = re.compile(r"\s+and\s+a\s+half\b").match(text, end)
            value = Fraction(3, 2) if half else Fraction(1)
            stop = half.end() if half else end
            shown = text[match.start() : stop]
            number = Number(
                value, unit.family, unit.size, match.start(), stop, shown, unit.zero, stop
            )
            before = text[max(0, match.start() - _WINDOW) : match.start()]
            is_weak = not half and not _LASTING.search(before)
            yield Amount((number,), shown, match.start(), stop, is_weak=is_weak)

"""Times that a text names, in parts that can be compared: year, month, day, weekday, hour, period.

Expressions are those of ``language.time``, and besides years before 1900, times of day, parts of
the day and how often a thing happens, which say nothing about the date of a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from functools import lru_cache

from memory_palace.checking.amounts import Amount, find_amounts
from memory_palace.checking.clock import find_clock_times
from memory_palace.checking.numbers import find_numbers
from memory_palace.checking.phrases import phrase_pattern
from memory_palace.checking.surroundings import StemsAround, find_surroundings
from memory_palace.checking.units import MeasureUnit, find_unit
from memory_palace.language.tagged_words import Part, split_words
from memory_palace.language.time.lexicon import LATIN, fold, read_hints, read_lexicon
from memory_palace.language.time.reading import find_times
from memory_palace.language.time.spans import TimeExpression
from memory_palace.language.time.tokens import Token, read_tokens, split_pieces
from memory_palace.language.time.weekdays import NAMES as WEEKDAY_NAMES

_AS_OF = date(2026, 1, 1)
"""Any day: what is measured from today is compared by its words, not by its date."""
_SURE = 0.5
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = "MWKNHyzdo12"
"""Categories of words that are parts of a date, see ``language.time.lexicon``."""
_NAMES = {
    "H": "holiday",
    "M": "month",
    "W": "weekday",
    "K": "weekday",
    "N": "season",
    "y": "year",
    "z": "decade",
}
_WINDOW = 24
_RELATION = re.compile(
    rf"\b(?:{phrase_pattern('relations')})"
    r"\s(?:(?:the|early|late|mid|about|around|den|dem|le|el|il|o)[\s-])?\Z",
    re.I,
)
_YEAR = re.compile(
    r"(?<![\w.,$€£#/-])(?:1[0-9]|20)\d\d(?![\w/]|[.,]\d|-\d{3}|\s?[€$£¥%°])(?=\s(?P<behind>[^\W\d_]+))?"
)
_BEFORE_YEAR = re.compile(
    r"\b(?:in|since|by|from|until|till|before|after|during|between|around|circa|year|early|late|mid"
    r"|anno|jahr|seit|en|depuis|desde|nel|em|dal|bis)[\s-]+\Z|[(–/-]\s?\Z",
    re.I,
)
_COUNTED = frozenset({Part.NOUN, Part.ADJECTIVE, Part.PARTICIPLE})
_CENTURY = re.compile(
    r"\b(?P<number>\d{1,2}(?=st|nd|rd|th)|[a-z]+)(?:st|nd|rd|th)?[ -]centur(?:y|ies)\b", re.I
)
_PART = re.compile(
    r"\b(?P<morning>mornings?|dawn|sunrise|daybreak)\b|\b(?P<noon>noon|midday|lunch(?:time)?)\b"
    r"|\b(?P<afternoon>afternoons?)\b|\b(?P<evening>evenings?|dusk|sunset|nightfall)\b"
    r"|\b(?P<night>nights?|midnight|overnight|nightly)\b",
    re.I,
)
_DAY = re.compile(
    r"\b(?P<today>today|tonight)\b|\b(?P<yesterday>yesterday)\b|\b(?P<tomorrow>tomorrow)\b", re.I
)
_WEEKDAYS = re.compile(rf"\b({'|'.join(WEEKDAY_NAMES)})s\b", re.I)
_SHIFTED = re.compile(
    r"\b(?P<shift>last|previous|past|this|current|next|coming|following|upcoming) "
    r"(?P<unit>week|month|year|quarter|weekend|night|spring|summer|autumn|winter|semester|term)\b",
    re.I,
)
_EDGE = re.compile(
    r"\b(?P<edge>end|start|beginning|middle|half) of (?:the|this|each|every|next|last) "
    r"(?P<unit>day|week|month|year|quarter|decade|century)\b",
    re.I,
)
_SHIFTS = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0}
_THAN = re.compile(r"\bthan\s\Z", re.I)
_ADVERBS = {
    "hourly": 3600, "daily": 86400, "nightly": 86400, "weekly": 604800, "fortnightly": 1209600,
    "biweekly": 1209600, "monthly": 2628000, "quarterly": 7884000, "yearly": 31536000,
    "annually": 31536000, "annual": 31536000,
}  # fmt: skip
"""Seconds between two times; a month is a twelfth of 365 days."""
_ADVERB = re.compile(
    r"\b(?:(?P<times>once|twice|[^\W_]{1,12} times) (?:an? )?)?"
    rf"(?P<adverb>{'|'.join(_ADVERBS)})\b",
    re.I,
)
_EVERY = re.compile(
    r"\b(?:every|each|per|once in|once (?:an?|per|every)|(?P<twice>twice (?:an?|per|every))"
    r"|(?P<times>[^\W_]{1,12}) times (?:an?|per|every|each))(?P<other> (?:other|second))?\s+(?=\w)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class ToldTime:
    """One time as it stands in a text."""

    start: int
    stop: int
    text: str
    parts: Mapping[str, Fraction | str]
    """What it tells: ``year``, ``month``, ``day``, ``weekday``, ``season``, ``part of the day``,
    ``minutes`` since midnight or noon with ``half`` of the day, ``decade``, ``century``,
    ``holiday``, ``every`` (seconds), ``relative`` to today."""
    relation: str = ""
    """``before``, ``after``, ``since``, ``until`` or ``by``."""
    around: StemsAround = field(default_factory=dict)
    is_sure: bool = True
    """Whether it surely is a time: "fall" may be none."""


@lru_cache(maxsize=256)
def find_told_times(text: str) -> tuple[ToldTime, ...]:
    """Return the times of a text in order; none stands within another."""
    found: list[ToldTime] = []
    taken: set[int] = set()
    for reader in (
        _clock_times,
        _frequencies,
        _dates,
        _years,
        _centuries,
        _shifted,
        _edges,
        _days,
        _day_parts,
    ):
        for moment in reader(text):
            if taken.isdisjoint(range(moment.start, moment.stop)):
                taken.update(range(moment.start, moment.stop))
                found.append(moment)
    found.sort(key=lambda moment: moment.start)
    around = find_surroundings(text, [(one.start, one.stop) for one in found])
    return tuple(
        replace(one, around=words, relation=one.relation or _relation(text, one.start))
        for one, words in zip(found, around, strict=True)
    )


def _relation(text: str, start: int) -> str:
    match = _RELATION.search(text[max(0, start - _WINDOW) : start])
    return (match.lastgroup or "") if match else ""


def _moment(text: str, span: tuple[int, int], **parts: Fraction | str | int) -> ToldTime:
    told = {
        name.replace("_", " "): Fraction(value) if isinstance(value, int) else value
        for name, value in parts.items()
    }
    return ToldTime(*span, text[slice(*span)], told)


def _clock_times(text: str) -> Iterator[ToldTime]:
    for time in find_clock_times(text):
        parts: dict[str, Fraction | str | int] = {"minutes": time.minutes}
        if time.is_late is not None:
            parts["half"] = "pm" if time.is_late else "am"
        yield _moment(text, (time.start, time.end), **parts)


def _frequencies(text: str) -> Iterator[ToldTime]:
    for match in _ADVERB.finditer(text):
        counts = find_numbers(match["times"] or "")
        times = counts[0].value if counts and counts[0].value > 0 else Fraction(1)
        yield _moment(text, match.span(), every=_ADVERBS[match["adverb"].casefold()] / times)
    for match in _EVERY.finditer(text):
        if _THAN.search(text[max(0, match.start() - _WINDOW) : match.start()]):
            continue  # more often than once a day
        times = _times_of(match)
        unit, count, end = _period(text, match.end())
        if not times or unit.family != "time":
            continue
        if match[0].casefold().startswith("per") and text[max(0, match.start() - 2)].isalnum():
            continue  # a rate: 5 mg per day
        seconds = count * unit.size * (2 if match["other"] else 1) / times
        yield _moment(text, (match.start(), end), every=seconds)


def _times_of(match: re.Match[str]) -> Fraction:
    """Return how many times it is in each period; 0 where that is no number."""
    if match["twice"]:
        return Fraction(2)
    if match["times"] is None:
        return Fraction(1)
    numbers = find_numbers(match["times"])
    return max(Fraction(0), numbers[0].value) if numbers else Fraction(0)


def _period(text: str, start: int) -> tuple[MeasureUnit, Fraction, int]:
    """Return the unit that begins at a place, how many of it, and where it ends."""
    unit, end = find_unit(text, start)
    if unit.family:
        return unit, Fraction(1), end
    numbers = find_numbers(text[start : start + _WINDOW])
    if numbers and not numbers[0].start and numbers[0].family == "time" and numbers[0].value > 0:
        first = numbers[0]
        return MeasureUnit(first.family, first.size), first.value, start + first.stop
    return MeasureUnit(), Fraction(1), start


def _dates(text: str) -> Iterator[ToldTime]:
    """Yield what ``language.time`` reads: an expression of two dates as two."""
    folded = fold(text)
    words = set(_WORD.findall(folded))
    telling = read_hints().telling
    language = max(LATIN, key=lambda name: len(words & telling[name]))
    lexicon = read_lexicon(language)
    for expression in find_times(text, _AS_OF):
        pieces = split_pieces(folded[expression.start : expression.end])
        tokens = [
            token for token in read_tokens(pieces, lexicon, folded) if token.letter in _LETTERS
        ]
        for moment in _split(text, expression, tokens):
            yield replace(moment, is_sure=expression.certainty >= _SURE)


def _split(text: str, expression: TimeExpression, tokens: list[Token]) -> Iterator[ToldTime]:
    """Yield the dates of an expression: "between 1998 and 2003" has two."""
    if any(token.letter in "12" for token in tokens):
        day = expression.windows[0].first
        parts = {"year": day.year} if expression.has_year else {}
        parts["month"] = day.month
        if expression.unit == "day":
            parts["day"] = day.day
        yield _moment(text, (expression.start, expression.end), **parts)
        return
    groups: list[dict[str, Token]] = []
    for token in tokens:
        name = "day" if token.letter in "do" else _NAMES[token.letter]
        if not groups or name in groups[-1]:
            groups.append({})
        groups[-1][name] = token
    for group in groups:
        if set(group) == {"day"}:
            continue
        spans = [(token.start, token.end) for token in group.values()]
        start = expression.start + min(first for first, _ in spans)
        end = expression.start + max(last for _, last in spans)
        told = {
            name: token.value if name == "holiday" else int(float(token.value))
            for name, token in group.items()
        }
        yield _moment(text, (start, end), **told)


def _years(text: str) -> Iterator[ToldTime]:
    for match in _YEAR.finditer(text):
        before = text[max(0, match.start() - _WINDOW) : match.start()]
        behind = split_words(match["behind"] or "")
        is_counting = bool(behind) and behind[0].part in _COUNTED
        if _BEFORE_YEAR.search(before) or not is_counting:
            yield _moment(text, (match.start(), match.start() + 4), year=int(match[0][:4]))


def _centuries(text: str) -> Iterator[ToldTime]:
    for match in _CENTURY.finditer(text):
        numbers = find_numbers(match["number"])
        if numbers and (match["number"].isdigit() or numbers[-1].form == "ordinal"):
            yield _moment(text, match.span(), century=int(numbers[-1].value))


def _shifted(text: str) -> Iterator[ToldTime]:
    for match in _SHIFTED.finditer(text):
        shift = _SHIFTS.get(match["shift"].casefold(), 1)
        yield _moment(text, match.span(), relative=f"{match['unit'].casefold()} {shift}")


def _edges(text: str) -> Iterator[ToldTime]:
    for match in _EDGE.finditer(text):
        edge = f"{match['edge']} of {match['unit']}".casefold()
        yield _moment(text, match.span(), relative=edge.replace("beginning", "start"))


def _days(text: str) -> Iterator[ToldTime]:
    for match in _DAY.finditer(text):
        yield _moment(text, match.span(), relative=match.lastgroup or "")
    for match in _WEEKDAYS.finditer(text):
        yield _moment(text, match.span(), weekday=WEEKDAY_NAMES.index(match[1].casefold()))


def _day_parts(text: str) -> Iterator[ToldTime]:
    for match in _PART.finditer(text):
        yield _moment(text, match.span(), part_of_the_day=match.lastgroup or "")


@lru_cache(maxsize=256)
def find_quantities(text: str) -> tuple[Amount, ...]:
    """Return the amounts of a text that are no dates, times of day or frequencies."""
    taken = {place for one in find_told_times(text) for place in range(one.start, one.stop)}
    return tuple(one for one in find_amounts(text) if taken.isdisjoint(range(one.start, one.stop)))

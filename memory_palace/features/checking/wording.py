"""Parse a text for comparison: claims without citations, as words, numbers and dates.

Dates are parsed by ``language.times`` alone; two agree if they can denote the same time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from typing import NamedTuple

from memory_palace.errors import UsageError
from memory_palace.language.numbers import UNIT_WORDS, Number, find_numbers
from memory_palace.language.sentences import split_sentences
from memory_palace.language.tagged_words import Part, split_words
from memory_palace.language.time_spans import EARLIEST, TimeExpression, Window
from memory_palace.language.times import find_times
from memory_palace.language.visible import drop_markers
from memory_palace.language.words import (
    NEGATIONS,
    SPACED_WORD,
    STOP_STEMS,
    TIME_WORDS,
    UNSPACED,
    Tongue,
    stem_word,
    tell_tongue,
    tokenize,
)
from memory_palace.markdown.markup import strip_markup

MOST_CHARACTERS = 20_000
"""Most characters of an answer."""
MOST_WORDS = 120
"""Most words of a sentence: comparing two is quadratic in their words."""
ABOUT_REMEMBERING = frozenset(
    tokenize(
        "recall remember memory palace picture image token verify verification see help hope "
        "answer note know think believe goes far"
    )
)
_STOPPED = STOP_STEMS | frozenset(
    tokenize("also much many us let get got like only even still just yet " + " ".join(NEGATIONS))
)
UNITS = frozenset(tokenize(" ".join(UNIT_WORDS)))
"""Stems of units, which say nothing of a number's subject."""
_CITATION = re.compile(
    r"[ \t]?(?:"
    r"(?<!\[)\[\^?\d{1,4}(?:[ \t]*[,–-][ \t]*\^?\d{1,4}){0,20}\]"
    r"(?:\([^()\s]{1,500}\)|(?![\]\w(]))"
    r"|\[\^[^\]\s]{1,40}\]"
    r"|(?<!\])\([^()\n]{1,200}\.md(?:[:#][^()\n]{0,80})?\))"
)
"""``[1]``, ``[2, 3](address)``, ``[^note]``, ``(note.md:12-14)``."""
_FOOTNOTE = re.compile(r"^[ \t]{0,3}\[\^?[^\]\n]{1,40}\]:.*+(?:(?=\n[ \t]+\S)\n.*+)*+", re.M)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(?P<title>[^\n]*)$", re.M)
_RULE = frozenset("|:->\t ")
"""Characters of the delimiter row under a table's header."""
_FRAME = re.compile(r"\A[\s,;:.()–—-]*(?:([^:.!?]{1,40}):\s+)?")
_WORD = re.compile(
    rf"\d++(?:(?=[.,:]\d)[.,:]\d++)*+(?:st|nd|rd|th)?\b|{UNSPACED}|{SPACED_WORD}|[%€$£°]"
)
_ENDS = '.!?:;…"”’)。！？'
"""Characters that end a sentence; joining adds a full stop to a part without one."""


class WrittenWord(NamedTuple):
    """One word as it stands in a text."""

    key: str
    """Casefolded, with straight apostrophes."""
    stem: str
    start: int
    end: int
    is_telling: bool
    """Whether it is a content word, not a function word."""


class Wording:
    """A text with its words, numbers and dates, each parsed on first use."""

    def __init__(self, text: str, parts: tuple[Wording, ...] = ()) -> None:
        self.text = " ".join(text.split())
        self.parts = parts
        """The wordings it was joined from; empty for a single piece."""

    @classmethod
    def join(cls, parts: Sequence[Wording]) -> Wording:
        ended = (part.text if part.text[-1:] in _ENDS else f"{part.text}." for part in parts)
        return cls(" ".join(ended), tuple(parts) if len(parts) > 1 else ())

    @cached_property
    def stems(self) -> tuple[str, ...]:
        return tuple(tokenize(self.text))

    @cached_property
    def words(self) -> tuple[WrittenWord, ...]:
        """All words in order as they are written; a number with its point is one of them."""
        return tuple(map(_read_word, _WORD.finditer(self.text)))

    def cut(self, places: Sequence[int]) -> str:
        """Return the text from the first to the last of some adjacent words, as it is written."""
        return self.text[self.words[places[0]].start : self.words[places[-1]].end] if places else ""

    @cached_property
    def content(self) -> tuple[str, ...]:
        """Distinct content stems in order, without numbers."""
        spelled = {stem for number in self.numbers for stem in tokenize(number.text)}
        distinct = dict.fromkeys(self.stems)
        return tuple(s for s in distinct if s not in _STOPPED | spelled and not s.isdigit())

    @cached_property
    def matter(self) -> frozenset[str]:
        return frozenset(self.content) - UNITS

    def share_matter(self, other: Wording) -> float:
        """Return the share of its matter (content stems without units) in another text, 0 to 1."""
        return len(self.matter & other.matter) / len(self.matter) if self.matter else 0.0

    @cached_property
    def dates(self) -> tuple[Date, ...]:
        return find_dates(self.text)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers that are not part of a date."""
        spans = [(date.start, date.stop) for date in self.dates]
        return tuple(
            number
            for number in find_numbers(self.text)
            if not any(start <= number.start < stop for start, stop in spans)
        )

    @cached_property
    def tongue(self) -> Tongue:
        return tell_tongue(self.text)

    @cached_property
    def says_something(self) -> bool:
        """Whether it is a checkable statement: two content stems, or one with a number or date."""
        if self.text.rstrip("\"'”’)*_ ").endswith(("?", ":")):
            return False
        telling = [stem for stem in self.content if stem not in ABOUT_REMEMBERING]
        return len(telling) >= 2 or bool(telling and (self.numbers or self.dates))


def find_sentences(
    response: str, drop_tokens: Callable[[str], str] = lambda text: text
) -> list[Wording]:
    """Return the sentences of a response in order, without verification tokens.

    Raise ``UsageError`` if the response is longer than ``MOST_CHARACTERS``.
    """
    if len(response) > MOST_CHARACTERS:
        raise UsageError(
            f"the answer has {len(response):,} characters, and {MOST_CHARACTERS:,} at most are "
            "checked; check it in parts"
        )
    text = drop_tokens(read_claims(response))
    wordings = (Wording(_drop_frame(part)) for part in split_prose(text))
    return [wording for wording in wordings if wording.words]


def read_prose(text: str) -> str:
    """Return a passage's text without markup, line by line; inline code and formulas are kept."""
    return strip_markup(drop_markers(text), keep_spans=True)


def read_claims(text: str) -> str:
    """Return the checkable text, without citations, footnotes, titles and table headers."""
    text = _FOOTNOTE.sub("", text)
    text = _HEADING.sub(_drop_title, _CITATION.sub("", text))
    return read_prose("\n".join(_read_tables(text.split("\n"))))


def split_prose(prose: str) -> Iterator[str]:
    """Yield the sentences of a text; long ones in pieces of ``MOST_WORDS`` words."""
    for sentence in split_sentences(prose):
        words = sentence.split(" ") if len(sentence) > MOST_WORDS else [sentence]
        for start in range(0, len(words), MOST_WORDS):
            yield " ".join(words[start : start + MOST_WORDS])


def _drop_title(heading: re.Match[str]) -> str:
    """Return a heading that has a verb or participle, else an empty string."""
    parts = {word.part for word in split_words(heading["title"])}
    return heading[0] if parts & {Part.VERB, Part.PARTICIPLE} else ""


def _read_tables(lines: list[str]) -> list[str]:
    """Return the lines with each table row as one list item, without header and delimiter row."""
    kept: list[str] = []
    for line in lines:
        if "|" in line and "-" in line and _RULE.issuperset(line):
            if kept and kept[-1].startswith("- "):
                kept.pop()
        elif line.lstrip().startswith("|"):
            cells = (cell.strip() for cell in line.split("|"))
            kept.append("- " + ", ".join(cell for cell in cells if cell))
        else:
            kept.append(line)
    return kept


def _drop_frame(sentence: str) -> str:
    """Drop a lead-in such as ``From memory:`` and marks left behind by a removed token."""
    frame = _FRAME.match(sentence)
    is_frame = frame and set(Wording(frame[1] or "").content) <= ABOUT_REMEMBERING
    return sentence[frame.end() :] if frame and is_frame else sentence


def _read_word(match: re.Match[str]) -> WrittenWord:
    key = match[0].casefold().replace("’", "'")
    stem = stem_word(key.removesuffix("'s"))
    is_telling = stem not in _STOPPED or match[0] == "US"
    return WrittenWord(key, stem, match.start(), match.end(), is_telling)


# --- Dates ---

NAMES = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
WEEKDAYS = frozenset(f"{name}{ending}" for name in NAMES for ending in ("", "s"))
"""Casefolded words that name a weekday."""
_WEEKDAY = re.compile(rf"\b({'|'.join(NAMES)})s?\b", re.I)


def find_weekdays(text: str) -> tuple[int, ...]:
    """Return the weekdays that a text names, 0 for Monday, each once, in order."""
    names = (match.casefold() for match in _WEEKDAY.findall(text))
    return tuple(dict.fromkeys(map(NAMES.index, names)))


_AS_OF = date(2026, 1, 1)
"""A fixed reference day, so that relative times of both texts are compared as written."""
_OPEN = frozenset({EARLIEST, _AS_OF})
"""First day of a span without beginning, and last day of one without end."""
_SURE = 0.5
PERIODS = TIME_WORDS | frozenset(
    "hourly daily nightly weekly fortnightly monthly quarterly yearly annually annual autumn noon "
    "midday midnight dawn dusk sunrise sunset mornings afternoons evenings nights".split()
)
"""Words of time that contradict each other if one replaces the other."""


@dataclass(frozen=True, slots=True)
class Date:
    """One date, month, year or weekday as it stands in a text."""

    start: int
    stop: int
    text: str
    unit: str
    """``day``, ``month``, ``year``, ``span`` or ``weekday``."""
    has_year: bool
    windows: tuple[Window, ...]
    weekday: int | None = None

    def agrees(self, other: Date) -> bool:
        """Return whether two dates can be the same: one contains the other, as far as stated."""
        if self.text.casefold() == other.text.casefold():
            return True
        if self.weekday is not None or other.weekday is not None:
            return not {*self._weekdays()}.isdisjoint(other._weekdays())
        if self.unit == other.unit == "span":
            return not set(self._ends()).isdisjoint(other._ends())
        if "span" in (self.unit, other.unit):
            span, day = (self, other) if self.unit == "span" else (other, self)
            closed = [w for w in span.windows if _OPEN.isdisjoint((w.first, w.last))]
            if any(_holds(w, each) for w in closed for each in day.windows):
                return True
            return any(w.first <= end <= w.last for w in day.windows for end in span._ends())
        if self.has_year and other.has_year:
            return any(_holds(a, b) for a in self.windows for b in other.windows)
        if "year" in (self.unit, other.unit):
            return False
        both_days = self.unit == other.unit == "day"
        return any(
            a.first.month == b.first.month and (not both_days or a.first.day == b.first.day)
            for a in self.windows
            for b in other.windows
        )

    def _ends(self) -> Iterator[date]:
        """Yield the first and last day of a span; "until May" has no first."""
        for window in self.windows:
            yield from (day for day in (window.first, window.last) if day not in _OPEN)

    def is_comparable(self, other: Date) -> bool:
        """Return whether one date could replace the other: both calendar dates, or both weekdays.

        A date without a year and a year alone are not comparable.
        """
        if (self.weekday is None) != (other.weekday is None):
            return False
        is_year = self.unit == "year", other.unit == "year"
        return is_year[0] == is_year[1] or (self.has_year and other.has_year)

    def _weekdays(self) -> Iterator[int]:
        if self.weekday is not None:
            yield self.weekday
        elif self.unit == "day" and self.has_year:
            yield from (window.first.weekday() for window in self.windows)


def _holds(one: Window, other: Window) -> bool:
    is_in = one.first <= other.first and other.last <= one.last
    return is_in or (other.first <= one.first and one.last <= other.last)


@lru_cache(maxsize=1 << 10)
def find_dates(text: str) -> tuple[Date, ...]:
    """Return the dates of a text in order, without doubtful ones such as "fall"."""
    found = []
    for each in find_times(text, _AS_OF):
        weekdays = find_weekdays(each.text) if each.text.casefold().split()[-1] in WEEKDAYS else ()
        if each.certainty < _SURE and not weekdays:
            continue
        if not (weekdays or _is_told(each)):
            continue
        weekday = weekdays[0] if weekdays and not each.is_calendar else None
        unit = "weekday" if weekday is not None else each.unit
        found.append(
            Date(each.start, each.end, each.text, unit, each.has_year, each.windows, weekday)
        )
    return tuple(found)


def _is_told(each: TimeExpression) -> bool:
    """Return whether an expression is a date by itself, unlike "yesterday"."""
    if each.has_year:
        return all(window.first != _AS_OF for window in each.windows)
    if each.unit == "span":
        words = (find_times(word, _AS_OF) for word in each.text.split())
        return any(found.unit == "month" for read in words for found in read)
    return each.unit == "month" or each.is_calendar

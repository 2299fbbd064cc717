"""The index terms of a passage: its words, and facts, which are pairs of a kind and a key."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from memory_palace.config import ROOMS, Config
from memory_palace.index.commit import Detail
from memory_palace.index.values import Derived
from memory_palace.language.sentences import find_speakers
from memory_palace.language.time_words import may_name_time
from memory_palace.language.words import Languages, squeeze_all, tell_tongue, tokenize
from memory_palace.markdown.markup import strip_markup
from memory_palace.models import Problem
from memory_palace.notes.note import Chunk, Fence, Note, stem_of
from memory_palace.places import PALACE
from memory_palace.signals import fact_readers

if TYPE_CHECKING:
    from memory_palace.language.time_spans import TimeExpression


class FactKind(StrEnum):
    """The kinds of facts; the value is the kind's name in posting lists."""

    DATE = "date"
    SPEAKER = "speaker"
    """A word of a speaker's name."""
    FORM = "form"
    """``question`` for a passage that ends in a question mark."""
    TONGUE = "tongue"
    """``other`` for a passage that is not English, ``unclear`` for one of unclear language."""
    HEADING = "heading"
    """A heading inside a passage, folded by ``squeeze_all``."""


class Fact(NamedTuple):
    """A kind and a key; a tuple, because a passage has dozens.

    A fact of a question matches an equal fact of a passage.
    """

    kind: StrEnum
    """One of ``FactKind``, or of the kinds of an extension."""
    key: str


def date_key(day: date, unit: Literal["day", "month", "year"]) -> str:
    """Return the key of a day, of its month or of its year."""
    return day.isoformat()[: {"day": 10, "month": 7, "year": 4}[unit]]


def yearless_key(day: date) -> str:
    """Return the key of a day without a year, such as ``--03-01``."""
    return "-" + day.isoformat()[4:]


def within_key(day: date) -> str:
    """Return the key of any day in a day's month: a day in March answers for March."""
    return date_key(day, "month") + "~"


_HEADING = re.compile(r"^#{1,6}[ \t]++(\S[^\n]*)$", re.M)
DEFAULTS = Config()
_ANY_DAY = date(2000, 12, 31)
"""Reference day for days without a year, in a leap year."""
_WEEK_DAYS = 7


def derive(note: Note, detail: Detail, config: Config = DEFAULTS) -> Sequence[Derived]:
    """Return the index terms of each chunk of a note, then of each of its questions, in order.

    Registered extensions add facts of each chunk, that of structure if ``detail`` includes it.
    """
    problems: list[Problem] = []
    fence, languages = Fence(note.path, problems.append), config.languages
    readers = fact_readers(structured=detail >= Detail.STRUCTURED)

    def words_of(chunk: Chunk) -> tuple[str, ...]:
        read = partial(tokenize, chunk.embed_text, languages=languages)
        return tuple(fence.read("words", read, [], chunk.first_line))

    written = fence.read("its day", lambda: _day_of(note), None)
    named = [(FactKind.DATE.value, yearless_key(note.yearless))] if note.yearless else []
    called = tuple(fence.read("names", lambda: sorted(_name_terms(note, languages)), []))
    found: list[Derived] = []
    for chunk in note.chunks:
        others = [
            fence.read(
                each.name, partial(each.facts, note, chunk, config), Derived(), chunk.first_line
            )
            for each in readers
            if each.facts
        ]
        derived = Derived(
            words=words_of(chunk),
            names=() if found else called,
            extras=tuple(word for each in others for word in each.extras),
            facts=(
                *(fact for each in others for fact in each.facts),
                *_find_facts(chunk, note.talkers, written, config, fence),
                *named,
            ),
        )
        found.append(derived)
    found += [Derived(words=words_of(chunk)) for chunk in note.questions]
    return [replace(each, problems=tuple(problems)) for each in found[:1]] + found[1:]


def _name_terms(note: Note, languages: Languages) -> set[str]:
    folders = note.path.split("/")[:-1]
    rooms = folders[1:] if folders[:1] == [PALACE] else folders
    if rooms and rooms[0] in ROOMS:
        folders = rooms[1:]
    names = (note.title, stem_of(note.path), *note.aliases, *folders, *note.tags)
    return {token for name in names for token in tokenize(name, languages=languages)}


def extract_dates(text: str, written: date | None = None, *, locale: str = "") -> list[Fact]:
    """Return the facts for the dates that a passage names.

    ``written`` is the day of the note, if known, to which "yesterday" refers. ``locale`` decides
    the order of day and month in 3/4/2026.
    """
    if not may_name_time(text):
        return []
    from memory_palace.language.times import find_times  # delayed: many notes name no time

    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    found = find_times(strip_markup(text), written or _ANY_DAY, locale=locale)
    return [fact for item in found for fact in _facts_of(item, has_day=written is not None)]


def _find_facts(
    chunk: Chunk, talkers: Container[str], written: date | None, config: Config, fence: Fence
) -> Iterator[tuple[str, str]]:
    text, line = chunk.text, chunk.first_line
    for who in fence.read_lines("speakers", partial(find_speakers, talkers=talkers), text, line):
        yield FactKind.SPEAKER.value, who
    if text.rstrip().endswith(("?", "？")):
        yield FactKind.FORM.value, "question"
    tongue = fence.read("language", partial(tell_tongue, chunk.embed_text), "english", line)
    if tongue != "english":
        yield FactKind.TONGUE.value, tongue
    for heading in fence.read_lines("headings", _squeeze_headings, text, line):
        yield FactKind.HEADING.value, heading
    dates = partial(extract_dates, written=written, locale=config.locale)
    for fact in fence.read_lines("dates", dates, text, line):
        yield fact.kind.value, fact.key


def _squeeze_headings(text: str) -> Iterator[str]:
    return filter(None, squeeze_all([strip_markup(line) for line in _HEADING.findall(text)]))


def _day_of(note: Note) -> date | None:
    """Return the day that a note gives itself; git's and the file's times are not reliable."""
    for first, last in note.days:
        if first == last:
            return first
    return datetime.fromtimestamp(note.date.timestamp, UTC).date() if note.date else None


def _facts_of(found: TimeExpression, *, has_day: bool) -> Iterator[Fact]:
    if not (found.has_year or has_day):
        if found.unit == "day" and found.is_calendar:
            yield Fact(FactKind.DATE, yearless_key(found.windows[0].first))
        return
    for window in found.windows:
        middle = window.first + (window.last - window.first) / 2
        if (window.last - window.first).days < _WEEK_DAYS:
            yield Fact(FactKind.DATE, date_key(middle, "day"))
            yield Fact(FactKind.DATE, within_key(middle))
        else:
            unit: Literal["month", "year"] = "year" if found.unit == "year" else "month"
            yield Fact(FactKind.DATE, date_key(middle, unit))

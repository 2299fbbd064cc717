"""An answer for display: one JSON object, lines for a pipe, or entries laid out on a screen."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import ClassVar, Literal
from urllib.parse import quote

from memory_palace.config import PalacePaths
from memory_palace.language.visible import shown_text, visible, visible_line
from memory_palace.models import (
    ELLIPSIS,
    Contribution,
    FiredAnchor,
    Hit,
    Piece,
    QueryResult,
    TimeReading,
    Validity,
    cut_confidence,
)
from memory_palace.shown import (
    ABSENT,
    ANSWERS,
    Absent,
    Shown,
    inner,
    open_path,
    print_json,
    say,
    show_date,
    to_record,
)

_OPEN = date(1900, 1, 1)
"""Start of an open period such as "until May", by its year."""
_SURE = 0.5
Format = Literal["text", "json", "paths", "markdown"]


# --- Validity ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Superseded:
    """The date since when a claim is superseded, and the superseding notes."""

    date: str | None
    see: tuple[str, ...]

    @classmethod
    def of(cls, validity: Validity) -> Superseded:
        return cls(day_of(validity.valid_until), validity.superseded_by)

    def __str__(self) -> str:
        return f"superseded {self.date}, see {', '.join(self.see)}"


def day_of(moment: float | None) -> str | None:
    """Return the day of a moment, UTC; ``None`` without a moment."""
    return None if moment is None else show_date(moment)


def _say_validity(validity: Validity) -> Iterator[str]:
    named = (("valid from", validity.valid_from), ("valid until", validity.valid_until))
    said = [f"{words} {show_date(moment)}" for words, moment in named if moment is not None]
    if validity.superseded_by:
        said.append(f"superseded by {', '.join(validity.superseded_by)}")
    if said:
        yield ", ".join(said)


# --- JSON ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HitShown:
    """A hit. Fields without information are absent, except with ``--details``."""

    path: str
    line: int
    last_line: int
    title: str
    date: str
    confidence: float | None
    text: str
    date_source: str | Absent = ABSENT
    linked_from: str | Absent | None = ABSENT
    """The path of the hit that a linked note is linked with."""
    superseded: Superseded | Absent = ABSENT
    disputed_in: tuple[str, ...] | Absent = ABSENT
    role: Literal["core", "neighbor"] | Absent = ABSENT
    passage_line: int | Absent = ABSENT
    passage_last_line: int | Absent = ABSENT
    headings: tuple[str, ...] | Absent = ABSENT
    type: str | Absent = ABSENT
    priority: str | Absent | None = ABSENT
    valid_from: str | Absent | None = ABSENT
    valid_until: str | Absent | None = ABSENT
    superseded_by: tuple[str, ...] | Absent = ABSENT
    preferred: str | Absent = ABSENT
    cold: bool | Absent = ABSENT
    score: float | Absent = ABSENT
    parts: tuple[Contribution, ...] | Absent = ABSENT
    snippet: str | Absent = ABSENT
    same_passage: int | Absent = ABSENT
    """How many near-identical hits were folded into this one."""

    @classmethod
    def of(cls, hit: Hit, *, is_whole: bool = False, details: bool = False) -> HitShown:
        """Build it from a hit; with ``is_whole`` its text is the passage, unchanged."""
        passage = hit.chunk.first_line, hit.chunk.last_line
        (line, last_line), source = hit.lines, hit.note.date.source
        shown = cls(
            path=hit.path,
            line=line,
            last_line=last_line,
            title=hit.title,
            date=show_date(hit.note.date.timestamp),
            confidence=hit.confidence if details else cut_confidence(hit.confidence),
            text=hit.text if is_whole else shown_text(hit.text),
            date_source=source if details or source == "mtime" else ABSENT,
            linked_from=hit.linked_from if details or hit.linked_from else ABSENT,
            superseded=Superseded.of(hit.superseded) if hit.is_superseded else ABSENT,
            disputed_in=hit.disputed_in if details or hit.disputed_in else ABSENT,
        )
        if not details:
            return shown
        validity = hit.note.validity
        return replace(
            shown,
            role=hit.role,
            passage_line=passage[0],
            passage_last_line=passage[1],
            headings=hit.chunk.heading_path,
            type=hit.note.type,
            priority=hit.note.priority,
            valid_from=day_of(validity.valid_from),
            valid_until=day_of(validity.valid_until),
            superseded_by=validity.superseded_by,
            preferred=hit.preferred,
            cold=hit.note.is_cold,
            score=hit.score,
            parts=hit.contributions,
            snippet=hit.snippet,
            same_passage=hit.folded,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Shown):
    """An answer. Fields with their usual value are absent, except with ``--details``."""

    schema: ClassVar[int] = ANSWERS

    answered: bool
    """Whether the confidence of a hit reaches what was demanded."""
    perhaps: Literal[True] | Absent
    """There where the notes are about the question, and may not answer it."""
    mode: Literal["vector", "lexical", "listing"] | Absent
    unread_by: str | Absent
    """The embedder, where it cannot read the language of the question."""
    freshness: Literal["current", "stale", "unchecked"] | Absent
    behind: int | Absent
    """Notes that differ from the index."""
    awaiting: int | Absent
    """Passages that words alone can find so far, while their vectors are made."""
    times: tuple[TimeReading, ...] | Absent
    """How expressions of time in the question, and of --when, were read."""
    unmatched_quotes: tuple[str, ...] | Absent
    """What the question has in quotation marks and no note holds."""
    query: str | Absent = ABSENT
    confidence: float | Absent | None = ABSENT
    """That of the first hit, 0 without any; null where nothing was asked."""
    profile: str | Absent = ABSENT
    embedder: str | Absent | None = ABSENT
    answered_by: str | Absent | None = ABSENT
    """Which way answered: anchors, pronoun or dense; null where no anchor was asked."""
    anchors: tuple[FiredAnchor, ...] | Absent = ABSENT
    hits: tuple[HitShown, ...]
    result: QueryResult = inner()
    is_whole: bool = inner(default=False)
    """Whether texts are whole passages, as they were asked for."""
    root: Path | None = inner(default=None)
    """The folder of the palace; ``None`` of a store."""
    sources: PalacePaths | None = inner(default=None)
    """Where notes lie that are not below ``root``."""
    details: bool = inner(default=False)
    neighbors: bool = inner(default=False)
    """Whether linked notes are entries of their own."""
    shows_all: bool = inner(default=True)
    """Whether hits with a confidence below ``PERHAPS`` are shown too."""
    format: Format = inner(default="text")
    said: Sequence[str] = inner(default=())
    """Remarks on the answer."""

    @classmethod
    def of(
        cls,
        result: QueryResult,
        *,
        is_whole: bool = False,
        details: bool = False,
        root: Path | None = None,
        neighbors: bool = False,
    ) -> Answer:
        """Build the answer from a result, with the format "text" and all hits."""
        is_odd = result.freshness != "current"
        shown = (HitShown.of(hit, is_whole=is_whole, details=details) for hit in result.hits)
        answer = cls(
            answered=result.is_answered,
            perhaps=True if result.may_answer else ABSENT,
            mode=result.mode if details or result.mode != "vector" else ABSENT,
            unread_by=result.unread_by if details or result.unread_by else ABSENT,
            freshness=result.freshness if details or is_odd else ABSENT,
            behind=result.behind if details or is_odd else ABSENT,
            awaiting=result.awaiting if details or result.awaiting else ABSENT,
            times=result.times if details or result.times else ABSENT,
            unmatched_quotes=(
                result.unmatched_quotes if details or result.unmatched_quotes else ABSENT
            ),
            hits=tuple(shown),
            result=result,
            is_whole=is_whole,
            root=root,
            details=details,
            neighbors=neighbors,
        )
        if not details:
            return answer
        return replace(
            answer,
            query=result.text,
            confidence=result.confidence,
            profile=result.profile,
            embedder=result.embedder,
            answered_by=result.anchors.answered_by if result.anchors else None,
            anchors=result.anchors.fired if result.anchors else (),
        )

    def show(self, *, as_json: bool) -> None:
        """Print the answer in its format, after the remark if unsure, before other remarks."""
        if not self.result.is_answered:
            say(self._say_unsure())
        remarks = list(self.said)
        if as_json or self.format == "json":
            print_json({"schema": self.schema, **to_record(self)})
        elif self.format == "text":
            self._show_text(remarks)
        else:
            entries = self.arrange().entries
            write = _write_markdown if self.format == "markdown" else _write_paths
            for line in write(entries):
                print(line)
        for remark in remarks:
            say(remark)
        sys.stderr.flush()

    def _say_unsure(self) -> str:
        if not self.result.hits:
            return "nothing found"
        if self.perhaps is True:
            return "perhaps; the notes are about that, and may not answer it"
        return f"nothing here answers that; the nearest is {self.result.hits[0].title}"

    def _show_text(self, remarks: list[str]) -> None:
        """Print the hits worth reading, and add a remark if others are hidden."""
        shown = self
        if not self.shows_all:
            read = self.result.worth_reading()
            if len(read.hits) < len(self.result.hits) and not self.result.is_answered:
                remarks.append("--min-confidence 0 shows what else was found")
            pairs = zip(self.result.hits, self.hits, strict=True)
            kept = tuple(hit for found, hit in pairs if found in read.hits)
            shown = replace(self, result=read, hits=kept)
        if sys.stdout.isatty():
            from memory_palace.features.asking.screen import show_answer  # delayed: rich

            below = remarks if sys.stderr.isatty() else ()
            show_answer(shown.arrange(), self.result.text, below, os.environ)
            return
        for line in shown.lines():
            print(line)

    def lines(self) -> Iterable[str]:
        return write_lines(self.arrange())

    def arrange(self) -> LaidAnswer:
        """Return the answer laid out for people; linked notes become a list of titles."""
        root, number = self.root.resolve() if self.root is not None else None, 0
        is_detailed = self.details and self.format == "text"
        entries, linked = [], []
        for hit, record in zip(self.result.hits, self.hits, strict=True):
            if hit.role == "core":
                number += 1
            elif not self.neighbors:
                linked.append(visible(hit.title))
                continue
            mark = str(number) if hit.role == "core" else "→"
            entries.append(self._enter(root, hit, record, mark, details=is_detailed))
        before = tuple(_scoring(self.result)) if is_detailed else ()
        titles = tuple(dict.fromkeys(linked))
        return LaidAnswer(before, tuple(entries), titles, self.is_whole, self.result.languages)

    def _enter(
        self, root: Path | None, hit: Hit, shown: HitShown, mark: str, *, details: bool
    ) -> Entry:
        file = Path(root or "", hit.path)
        if self.sources is not None and self.sources.source_of(hit.path) is not None:
            file = self.sources.file_of(hit.path)
        above = dict.fromkeys(hit.chunk.heading_path)
        above.pop(hit.title, None)
        remarks = [str(shown.superseded)] if isinstance(shown.superseded, Superseded) else []
        remarks += [f"disputed in {path}" for path in hit.disputed_in]
        if hit.preferred and details:
            remarks.append(hit.preferred)
        if hit.folded:
            remarks.append(f"and {hit.folded} more with the same passage")
        sure = cut_confidence(hit.confidence)
        return Entry(
            mark=mark,
            title=visible(hit.title),
            above=visible(" › ".join(above)),
            file=file,
            place=visible_line(f"{open_path(file)}:{shown.line}"),
            line=shown.line,
            date="" if hit.note.date.source == "mtime" else write_date(hit.note.date.timestamp),
            sure="" if sure is None else f"{sure:.2f}",
            text=visible((shown.text or shown_text(hit.snippet)).strip("\n")),
            pieces=()
            if self.is_whole
            else tuple(replace(p, text=visible(p.text)) for p in hit.pieces),
            remarks=tuple(map(visible, remarks)),
            details=tuple(map(visible, _details(hit))) if details else (),
            is_here=root is not None,
        )


# --- Entries for people --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """One hit laid out for people. All its text is visible: control characters are escaped."""

    mark: str
    """A number; an arrow for a note that is linked with a hit."""
    title: str
    above: str
    """The headings above the passage, the title left out."""
    file: Path
    place: str
    """Path and line, relative to the working folder if below it."""
    line: int
    date: str
    """As people write it; empty if only the mtime is known."""
    sure: str
    """Confidence with two decimals; empty in a listing."""
    text: str
    pieces: tuple[Piece, ...] = ()
    """The pieces of the text, if a part of it may be shown alone."""
    remarks: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    is_here: bool = True

    @property
    def heading(self) -> str:
        return f"{self.title} › {self.above}" if self.above else self.title


@dataclass(frozen=True, slots=True)
class LaidAnswer:
    """An answer laid out for people."""

    before: tuple[str, ...]
    entries: tuple[Entry, ...]
    linked: tuple[str, ...]
    """Titles of notes linked with the hits, if these notes are not entries themselves."""
    is_whole: bool = False
    """Whether the texts are whole passages, as they were asked for."""
    languages: tuple[str, ...] = ()
    """Languages of the stemmers that the search used."""


def write_date(timestamp: float) -> str:
    """Return the day of a moment (UTC) as people write it: ``18 June 2026``."""
    day = datetime.fromtimestamp(timestamp, UTC)
    return f"{day.day} {day:%B} {day.year}"


def write_lines(arranged: LaidAnswer) -> Iterator[str]:
    """Yield an answer as plain text: nothing is wrapped, cut or coloured."""
    yield from arranged.before
    for place, entry in enumerate(arranged.entries):
        if place or arranged.before:
            yield ""
        head = (entry.mark, entry.heading, entry.place, entry.date, entry.sure)
        yield "  ".join(filter(None, head))
        text = entry.text.split("\n") if entry.text else ()  # a note may be empty
        rows = (*text, *entry.remarks, *entry.details)
        yield from (f"   {row}" if row else "" for row in rows)
    if arranged.linked:
        yield ""
        yield f"linked: {' · '.join(arranged.linked)}"


def _write_paths(entries: Sequence[Entry]) -> Iterator[str]:
    return (visible_line(open_path(entry.file)) for entry in entries)


def _write_markdown(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a list of links, each with its text as a quotation."""
    for number, entry in enumerate(entries, start=1):
        name = re.sub(r"([\\\[\]`*_<>])", r"\\\1", entry.heading)
        if entry.is_here:
            head = f"[{name}]({quote(open_path(entry.file), safe='/')})"
        else:
            head = f"{name}, {visible_line(str(entry.file))}"
        after = filter(None, (f"line {entry.line}", entry.date, entry.sure))
        yield f"{number}. {head}, {', '.join(after)}"
        text = entry.text.split("\n") if entry.text else ()
        yield from ("", *(f"   > {row}".rstrip() for row in text), *([""] if text else ()))
        yield from (f"   {remark}\n" for remark in entry.remarks)


def _scoring(result: QueryResult) -> Iterator[str]:
    yield from map(_write_time, result.times)
    if result.anchors:
        fired = ", ".join(map(str, result.anchors.fired)) or "no anchor"
        yield visible(f"answered by {result.anchors.answered_by}: {fired}")


def _write_time(time: TimeReading) -> str:
    """Return a parsed time expression: ``"last May" read as 2026-05-01 … 2026-05-31``."""
    first, last = str(time.first), str(time.last)
    if time.first == _OPEN:
        first = ""
    days = last if first == last else f"{first} {ELLIPSIS} {last}".strip()
    verb = "read as" if time.certainty >= _SURE else "may be a topic, or mean"
    return visible_line(f'"{time.text}" {verb} {days}')


def _details(hit: Hit) -> Iterator[str]:
    yield f"{'score':<12} {hit.score:.6f}"
    for part in hit.contributions:
        if part.value:
            factors = f"{part.value:.6f} x {part.weight:.6f}"
            yield f"{part.signal:<12} {factors} = {part.contribution:.6f}"
    date, priority = hit.note.date, hit.note.priority or "none"
    yield f"{f'date {date.day} ({date.source})' if date.day else 'no date'}, priority {priority}"
    yield from _say_validity(hit.note.validity)

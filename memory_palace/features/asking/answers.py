"""How an answer looks: one JSON object, or the same in lines for people.

``cli/screen.py`` lays the lines out on a terminal, and ``cli/formats.py`` has the other formats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from memory_palace.features.asking.validities import (
    say_validity,
    superseded_record,
    validity_record,
    write_superseded,
)
from memory_palace.language.visible import visible, visible_line
from memory_palace.markdown.prose import shown_text
from memory_palace.models import (
    ELLIPSIS,
    Hit,
    Piece,
    QueryResult,
    TimeReading,
    cut_confidence,
)
from memory_palace.shown import show_date, to_record

_OPEN = date(1900, 1, 1)
"""Where "until May" begins."""
_SURE = 0.5


@dataclass(frozen=True, slots=True)
class Entry:
    """One hit as people read it. Everything in it is visible text."""

    mark: str
    """The number that ``--open`` takes; an arrow for a note that is linked with a hit."""
    title: str
    above: str
    """The headings above the passage, the title left out."""
    file: Path
    place: str
    """Path and line, as they open from the working folder."""
    line: int
    date: str
    """As people write it; empty where it would tell nothing."""
    sure: str
    """Confidence with two decimals; empty where nothing was asked."""
    text: str
    pieces: tuple[Piece, ...] = ()
    """What the text is made of, where a part of it may be shown alone."""
    remarks: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    is_here: bool = True


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer as people read it."""

    before: tuple[str, ...]
    entries: tuple[Entry, ...]
    linked: tuple[str, ...]
    """Titles of notes that are linked with the hits, where they are not entries themselves."""
    is_whole: bool = False
    """Whether the texts are whole passages, as they were asked for."""
    languages: tuple[str, ...] = ()
    """Those whose stemmers found the words."""


def arrange(
    root: Path | None,
    result: QueryResult,
    texts: Sequence[str] | None = None,
    *,
    details: bool = False,
    neighbors: bool = False,
) -> Shown:
    """Return what is shown of an answer; ``texts`` stand for the excerpts of the hits.

    ``root`` is the folder of the palace; ``None`` of a store. Linked notes become a list of titles,
    or with ``neighbors`` entries of their own.
    """
    root, number = root.resolve() if root is not None else None, 0
    entries, linked = [], []
    for hit, text in zip(result, texts or [""] * len(result), strict=True):
        if hit.role == "core":
            number += 1
        elif not neighbors:
            linked.append(_title(hit))
            continue
        mark = str(number) if hit.role == "core" else "→"
        date = write_date(hit.note.date.timestamp) if hit.note.date.day else ""
        entries.append(_entry(root, hit, mark, text, date, details=details))
    before = tuple(_scoring(result)) if details else ()
    titles = tuple(dict.fromkeys(linked))
    return Shown(before, tuple(entries), titles, texts is not None, result.languages)


def _entry(root: Path | None, hit: Hit, mark: str, text: str, date: str, *, details: bool) -> Entry:
    file, line = Path(root or "", hit.path), hit.chunk.first_line if hit.chunk else 1
    line = hit.text_lines[0] if hit.text_lines and not text else line
    above = dict.fromkeys(hit.chunk.heading_path if hit.chunk else ())
    above.pop(hit.title, None)
    remarks = [write_superseded(hit.superseded)] if hit.is_superseded else []
    remarks += [f"disputed in {path}" for path in hit.disputed_in]
    if hit.preferred and details:
        remarks.append(hit.preferred)
    if hit.folded:
        remarks.append(f"and {hit.folded} more with the same passage")
    return Entry(
        mark=mark,
        title=_title(hit),
        above=visible(" › ".join(above)),
        file=file,
        place=visible_line(f"{open_path(file)}:{line}"),
        line=line,
        date=date,
        sure=write_confidence(hit.confidence),
        text=visible((text or shown_text(hit.text or hit.snippet)).strip("\n")),
        pieces=() if text else tuple(replace(p, text=visible(p.text)) for p in hit.pieces),
        remarks=tuple(map(visible, remarks)),
        details=tuple(map(visible, _details(hit))) if details else (),
        is_here=root is not None,
    )


def _title(hit: Hit) -> str:
    return visible(hit.title)


def open_path(file: Path) -> str:
    """Return the path by which a file opens from the working folder: relative where it is below."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def write_date(timestamp: float) -> str:
    """Return the day of a moment (UTC) as people write it: ``18 June 2026``."""
    day = datetime.fromtimestamp(timestamp, UTC)
    return f"{day.day} {day:%B} {day.year}"


def write_confidence(confidence: float | None) -> str:
    """Return a confidence with two decimals, see ``cut_confidence``."""
    cut = cut_confidence(confidence)
    return "" if cut is None else f"{cut:.2f}"


def write_lines(shown: Shown) -> Iterator[str]:
    """Yield an answer as plain text: nothing is wrapped, cut or coloured."""
    yield from shown.before
    for place, entry in enumerate(shown.entries):
        if place or shown.before:
            yield ""
        title = f"{entry.title} › {entry.above}" if entry.above else entry.title
        yield "  ".join(filter(None, (entry.mark, title, entry.place, entry.date, entry.sure)))
        text = entry.text.split("\n") if entry.text else ()  # a note may be nothing but its name
        rows = (*text, *entry.remarks, *entry.details)
        yield from (f"   {row}" if row else "" for row in rows)
    if shown.linked:
        yield ""
        yield f"linked: {' · '.join(shown.linked)}"


def write_time(time: TimeReading) -> str:
    """Return how an expression of time was read: ``"last May" read as 2026-05-01 … 2026-05-31``."""
    first, last = str(time.first), str(time.last)
    if time.first == _OPEN:
        first = ""
    days = last if first == last else f"{first} {ELLIPSIS} {last}".strip()
    verb = "read as" if time.certainty >= _SURE else "may be a topic, or mean"
    return visible_line(f'"{time.text}" {verb} {days}')


def _scoring(result: QueryResult) -> Iterator[str]:
    yield from map(write_time, result.times)
    if result.anchors:
        fired = ", ".join(map(str, result.anchors.fired)) or "no anchor"
        yield visible(f"answered by {result.anchors.answered_by}: {fired}")


def _details(hit: Hit) -> Iterator[str]:
    """Yield the score and every part that adds something; JSON has the silent ones as well."""
    yield f"{'score':<12} {hit.score:.6f}"
    for part in hit.contributions:
        if part.value:
            factors = f"{part.value:.6f} x {part.weight:.6f}"
            yield f"{part.signal:<12} {factors} = {part.contribution:.6f}"
    date, priority = hit.note.date, hit.note.priority or "none"
    yield f"{f'date {date.day} ({date.source})' if date.day else 'no date'}, priority {priority}"
    yield from say_validity(hit.note.validity)


def answer_record(
    result: QueryResult, texts: Sequence[str] | None = None, *, details: bool = False
) -> dict[str, Any]:
    """Return what JSON has of an answer; ``texts`` are whole passages, one per hit.

    That is what a reader needs, and no more bytes than that: what is as it should be is not said.
    ``details`` adds all there is.
    """
    record: dict[str, Any] = {"answered": result.is_answered}
    if result.may_answer:
        record["perhaps"] = True
    if details or result.mode != "vector":
        record["mode"] = result.mode
    if details or result.unread_by:
        record["unread_by"] = result.unread_by
    if details or result.freshness != "current":
        record |= {"freshness": result.freshness, "behind": result.behind}
    if details or result.awaiting:
        record["awaiting"] = result.awaiting
    if details or result.times:
        record["times"] = [to_record(time) for time in result.times]
    if details or result.unmatched_quotes:
        record["unmatched_quotes"] = list(result.unmatched_quotes)
    if details:
        record |= {
            "query": result.text,
            "confidence": result.confidence,
            "profile": result.profile,
            "embedder": result.embedder,
            **anchors_record(result),
        }
    return record | {"hits": hit_records(result, texts, details=details)}


def hit_records(
    result: QueryResult, texts: Sequence[str] | None = None, *, details: bool = False
) -> list[dict[str, Any]]:
    """Return what JSON has of each hit; see ``answer_record``."""
    return [
        _hit_record(hit, None if texts is None else texts[place], details=details)
        for place, hit in enumerate(result)
    ]


def anchors_record(result: QueryResult) -> dict[str, Any]:
    """Return which anchors fired and which way answered, ``None`` where no anchor was asked."""
    fired = result.anchors.fired if result.anchors else ()
    return {
        "answered_by": result.anchors.answered_by if result.anchors else None,
        "anchors": [{"anchor": a.display, "kind": a.kind} for a in fired],
    }


def _hit_record(hit: Hit, text: str | None, *, details: bool) -> dict[str, Any]:
    passage = (hit.chunk.first_line, hit.chunk.last_line) if hit.chunk else (None, None)
    line, last_line = (hit.text_lines if text is None else None) or passage
    record: dict[str, Any] = {
        "path": hit.path,
        "line": line,
        "last_line": last_line,
        "title": hit.title,
        "date": show_date(hit.note.date.timestamp),
        "confidence": hit.confidence if details else cut_confidence(hit.confidence),
        "text": shown_text(hit.text) if text is None else text,
    }
    if not hit.note.date.day:
        record["date_source"] = hit.note.date.source
    if details or hit.linked_from:
        record["linked_from"] = hit.linked_from
    if hit.is_superseded:
        record["superseded"] = superseded_record(hit.superseded)
    if details or hit.disputed_in:
        record["disputed_in"] = list(hit.disputed_in)
    return record | (_detail_record(hit, passage) if details else {})


def _detail_record(hit: Hit, passage: tuple[int | None, int | None]) -> dict[str, Any]:
    return {
        "role": hit.role,
        "passage_line": passage[0],
        "passage_last_line": passage[1],
        "headings": list(hit.chunk.heading_path) if hit.chunk else [],
        "type": hit.note.type,
        "priority": hit.note.priority,
        "date_source": hit.note.date.source,
        **validity_record(hit.note.validity),
        "preferred": hit.preferred,
        "cold": hit.note.is_cold,
        "score": hit.score,
        "parts": to_record(hit.contributions),
        "snippet": hit.snippet,
        "same_passage": hit.folded,
    }

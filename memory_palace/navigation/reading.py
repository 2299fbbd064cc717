"""What a search reads of a note: the passages that bear on its goal, within a budget."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from memory_palace.engine import Engine
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import ChunkRecord, Query
from memory_palace.notes.excerpt import NoteText
from memory_palace.ranking import DEFAULT_PROFILE
from memory_palace.retrieval.excerpts import NoteReader
from memory_palace.retrieval.question import embed_question
from memory_palace.retrieval.search import search

READ_BYTES = 1_500
"""As much as `palace recall` says."""
_MOST_PASSAGES = 50
_LEAST_BYTES = 100
"""With less left the next passage is not begun."""


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """Lines of a note, 1-based and inclusive, or the part of them that there is room for."""

    first_line: int
    last_line: int
    text: str


@dataclass(frozen=True, slots=True)
class NoteReading:
    """A note, and what of it is shown: all of it, or the best passages first."""

    note: NoteText
    passages: tuple[ReadPassage, ...]

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return len(self.passages) == 1 and self.passages[0].text == self.note.text

    @property
    def bytes(self) -> int:
        """UTF-8 bytes of what is shown."""
        return sum(map(_size, (passage.text for passage in self.passages)))

    def left_out(self) -> Iterator[tuple[int, int]]:
        """Yield the lines that no passage is of, first and last."""
        line = 1
        spans = sorted((passage.first_line, passage.last_line) for passage in self.passages)
        for first, last in (*spans, (self.note.total_lines + 1, self.note.total_lines)):
            if first > line:
                yield line, first - 1
            line = max(line, last + 1)


def read_passages(
    engine: Engine, path: str, goal: str, *, budget_bytes: int = READ_BYTES
) -> NoteReading:
    """Read a note whole where it is no longer than the budget, else what bears on the goal.

    A note that has changed since it was indexed is cut where it has most of the goal.
    """
    note = engine.read(path)
    if _size(note.text) <= budget_bytes:
        return NoteReading(note, (ReadPassage(1, note.total_lines, note.text),))
    snapshot = engine.snapshot()
    reader = NoteReader(snapshot, engine.paths, goal)
    chunks = _rank_passages(engine, snapshot, path, goal)
    passages = tuple(_fill(reader, chunks, budget_bytes))
    if not passages:
        text = reader.cut(note.text, budget_bytes, measure=_size)
        passages = (_find_lines(note.text, text),)
    return NoteReading(note, passages)


def _fill(reader: NoteReader, chunks: Sequence[ChunkRecord], left: int) -> Iterator[ReadPassage]:
    """Yield passages while there is room, the last one cut where it has most of the goal."""
    for chunk in chunks:
        text = reader.read(chunk.path, chunk.first_line, chunk.last_line)
        if not text or left < _LEAST_BYTES:
            return
        if _size(text) > left:
            part = _find_lines(text, reader.cut(text, left, measure=_size))
            first = chunk.first_line - 1
            yield ReadPassage(first + part.first_line, first + part.last_line, part.text)
            return
        left -= _size(text)
        yield ReadPassage(chunk.first_line, chunk.last_line, text)


def _rank_passages(engine: Engine, snapshot: Snapshot, path: str, goal: str) -> list[ChunkRecord]:
    place = bisect_left(snapshot.paths, path)
    if snapshot.paths[place : place + 1] != [path]:
        return []
    rows = np.flatnonzero(snapshot.row_note == place)
    if not len(rows):
        return []
    query = Query(goal, time.time(), rows=rows)
    if snapshot.commit.dimension:
        query = embed_question(query, engine.embedder())
    hits = search(
        query,
        snapshot,
        profile=DEFAULT_PROFILE,
        limit=_MOST_PASSAGES,
        per_note=False,
    ).hits
    return [hit.chunk for hit in hits if hit.chunk is not None]


def _find_lines(whole: str, text: str) -> ReadPassage:
    """Return a cut of a text with the lines that it is of."""
    core = text.strip("… \n")
    start = max(whole.find(core), 0)
    first = 1 + whole.count("\n", 0, start)
    return ReadPassage(first, first + core.count("\n"), text)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))

"""Read passages back from their notes, with the terms they offer and the words they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.terms import (
    PER_NOTE,
    Term,
    chunk_terms,
    clean_display,
    is_usable,
    match_key,
    note_terms,
    words_of,
)  # fmt: skip
from memory_palace.anchors.tier import Keys
from memory_palace.embedding.base import Embedder
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import FileStat, SourceFile
from memory_palace.notes.parsing import parse_note
from memory_palace.notes.reading import NoteUnreadable, read_note

CURATED = "palace/grand_hall/anchors.md"
"""One anchor a line, ``- term`` or ``- term: other name, other name``; never pruned."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that is in the index as it stands in its note."""

    row: int
    note: int
    """Place of its note in the snapshot."""
    terms: tuple[Term, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """What reading notes takes."""

    root: Path
    embedder: Embedder
    limit_bytes: int


def row_keys(snapshot: Snapshot) -> Keys:
    """Return for each row the first eight bytes of its text digest."""
    return np.ascontiguousarray(snapshot.row_digests).view("<u8").reshape(-1, 2)[:, 0]


def live_rows(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the rows that anchors may lead to: of live notes, not private, not cold."""
    is_open = np.append(~snapshot.private & ~snapshot.cold, np.False_)
    rows: NDArray[np.int64] = np.flatnonzero(is_open[snapshot.row_note])
    return rows


def read_passages(reader: Reader, snapshot: Snapshot, rows: NDArray[np.int64]) -> Iterator[Passage]:
    """Yield the passages of some rows. Those whose note has changed since are left out."""
    keys = row_keys(snapshot)
    by_note: dict[int, dict[int, int]] = {}
    for row in rows.tolist():
        by_note.setdefault(int(snapshot.row_note[row]), {})[int(keys[row])] = row
    for place in sorted(by_note):
        yield from _of_note(reader, snapshot.paths[place], place, by_note[place])


def _of_note(reader: Reader, path: str, place: int, wanted: dict[int, int]) -> Iterator[Passage]:
    data = _read(reader, path)
    if data is None:
        return
    embedder = reader.embedder
    note = parse_note(
        path, data, count_tokens=embedder.count_tokens, token_limit=embedder.token_limit
    )
    offered = note_terms(note)
    seen = {term.key for term in offered}
    for chunk in note.chunks:
        row = wanted.get(int.from_bytes(bytes.fromhex(chunk.digest)[:8], "little"))
        if row is None:
            continue
        terms = [term for term in chunk_terms(chunk, note) if _admit(term, seen)]
        words = tuple(words_of(chunk.embed_text))
        yield Passage(row, place, tuple(dict.fromkeys([*offered[:PER_NOTE], *terms])), words)


def _admit(term: Term, seen: set[str]) -> bool:
    """Say whether a note may offer a term: it is one of its first ``PER_NOTE`` different ones."""
    if term.key not in seen and len(seen) >= PER_NOTE:
        return False
    seen.add(term.key)
    return True


def read_curated(reader: Reader) -> list[Term]:
    """Return the terms a person listed, each followed by its other names."""
    data = _read(reader, CURATED)
    lines = data.decode(errors="replace").splitlines() if data else []
    found: list[Term] = []
    for line in lines:
        if line.lstrip()[:2] in ("- ", "* "):
            term, _, others = line.lstrip()[2:].partition(":")
            found += _curated(term, [name for name in others.split(",") if name.strip()])
    return found


def _curated(display: str, others: Iterable[str]) -> Iterator[Term]:
    first = Term("curated", clean_display(display), match_key(display))
    if not is_usable(first.display, first.key):
        return
    yield first
    for other in others:
        yield Term("curated", clean_display(other), match_key(other), first.key)


def _read(reader: Reader, path: str) -> bytes | None:
    file = SourceFile(path, FileStat(0, 0, 0, 0), is_cold=False)
    try:
        data, _ = read_note(reader.root, file, limit_bytes=reader.limit_bytes)
    except (FileNotFoundError, NoteUnreadable):
        return None  # the next update of the index reports it, and takes it out
    return data

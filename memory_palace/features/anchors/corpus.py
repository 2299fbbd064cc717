"""Read passages back from their notes, with the terms they offer and the words they hold."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import Config, PalacePaths
from memory_palace.embedding.base import Embedder
from memory_palace.errors import RoomNotMappedError
from memory_palace.features.anchors.anchor_file import Keys
from memory_palace.features.anchors.policy import allowed_notes
from memory_palace.features.anchors.terms import (
    PER_NOTE,
    Term,
    chunk_terms,
    clean_display,
    is_usable,
    match_key,
    note_terms,
    words_of,
)
from memory_palace.fence import Fence
from memory_palace.index.context import Progress
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import FileStat
from memory_palace.notes.discovery import SourceFile
from memory_palace.notes.parsing import parse_note
from memory_palace.notes.reading import NoteUnreadable, read_note
from memory_palace.ranking import AnchorSettings

CURATED = "anchors.md"
"""One anchor a line, ``- term`` or ``- term: other name, other name``; never pruned."""


@dataclass(frozen=True, slots=True)
class TermedPassage:
    """A passage that is in the index as it stands in its note, with the terms it offers."""

    row: int
    note: int
    """Place of its note in the snapshot."""
    terms: tuple[Term, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnchorWork:
    """What making anchors takes."""

    paths: PalacePaths
    config: Config
    embedder: Embedder
    now_ns: int
    progress: Progress = lambda doing, done, total: None


def row_keys(snapshot: Snapshot) -> Keys:
    """Return for each row the first eight bytes of its text digest."""
    return np.ascontiguousarray(snapshot.row_digests).view("<u8").reshape(-1, 2)[:, 0]


def open_rows(snapshot: Snapshot, settings: AnchorSettings) -> NDArray[np.int64]:
    """Return the rows that anchors may lead to: of live notes, not private, not cold, allowed."""
    allowed = allowed_notes(snapshot.paths, settings)
    is_open = np.append(~snapshot.private & ~snapshot.cold & allowed, np.False_)
    rows: NDArray[np.int64] = np.flatnonzero(is_open[snapshot.row_note])
    return rows


def distinct_rows(work: AnchorWork, snapshot: Snapshot) -> tuple[Keys, NDArray[np.int64]]:
    """Return the key of every passage anchors may lead to, ascending, and one row of each.

    The list of curated anchors is left out: it names them all and tells nothing of them.
    """
    rows, listing = open_rows(snapshot, work.config.anchors), curated_path(work.paths)
    first, last = bisect_left(snapshot.paths, listing), bisect_right(snapshot.paths, listing)
    rows = rows[(snapshot.row_note[rows] < first) | (snapshot.row_note[rows] >= last)]
    keys, firsts = np.unique(row_keys(snapshot)[rows], return_index=True)
    return keys, rows[firsts]


def read_passages(
    work: AnchorWork, snapshot: Snapshot, rows: NDArray[np.int64]
) -> list[TermedPassage]:
    """Return the passages of some rows, without those whose note has changed since."""
    keys = row_keys(snapshot)
    by_note: dict[int, dict[int, int]] = {}
    for row in rows.tolist():
        by_note.setdefault(int(snapshot.row_note[row]), {})[int(keys[row])] = row
    found: list[TermedPassage] = []
    for done, place in enumerate(sorted(by_note)):
        work.progress("reading notes", done, len(by_note))
        found += _read_note(work, snapshot.paths[place], place, by_note[place])
    return found


def _read_note(
    work: AnchorWork, path: str, place: int, wanted: dict[int, int]
) -> Iterator[TermedPassage]:
    data = _read(work, path)
    if data is None:
        return
    embedder = work.embedder
    note = parse_note(
        path, data, count_tokens=embedder.count_tokens, token_limit=embedder.token_limit
    )
    offered = Fence(path).read("anchors", lambda: note_terms(note, work.paths.rooms), [])
    seen = {term.key for term in offered}
    for chunk in note.chunks:
        row = wanted.get(int.from_bytes(bytes.fromhex(chunk.digest)[:8], "little"))
        if row is None:
            continue
        terms = dict.fromkeys(offered[:PER_NOTE])
        for term in Fence(path).read(
            "anchors", partial(chunk_terms, chunk, note), (), chunk.first_line
        ):
            if term.key in seen or len(seen) < PER_NOTE:
                seen.add(term.key)
                terms[term] = None
        yield TermedPassage(row, place, tuple(terms), tuple(words_of(chunk.embed_text)))


def curated_path(paths: PalacePaths) -> str:
    """Return where a person lists anchors: in the grand hall, else beside the settings."""
    try:
        return paths.rooms.path_of(f"grand_hall/{CURATED}")
    except RoomNotMappedError:
        return paths.shown(paths.own / CURATED)


def read_curated(work: AnchorWork) -> Iterator[Term]:
    """Yield the terms a person listed, each followed by its other names."""
    data = _read(work, curated_path(work.paths)) or b""
    for line in map(str.lstrip, data.decode(errors="replace").splitlines()):
        if not line.startswith(("- ", "* ")):
            continue
        display, _, others = line[2:].partition(":")
        first = Term("curated", clean_display(display), match_key(display))
        if is_usable(first.display, first.key):
            yield first
            for name in filter(str.strip, others.split(",")):
                yield Term("curated", clean_display(name), match_key(name), first.key)


def _read(work: AnchorWork, path: str) -> bytes | None:
    file = SourceFile(path, FileStat(0, 0, 0, 0), is_cold=False)
    try:
        data, _ = read_note(work.paths, file, limit_bytes=work.config.max_note_bytes)
    except (FileNotFoundError, NoteUnreadable):
        return None  # the next update of the index reports it, and takes it out
    return data

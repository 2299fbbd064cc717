"""The committed index as a server is given it: notes, each with its rows and its text as shown.

Private notes are left out.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np

from memory_palace.config import PalacePaths, Rooms
from memory_palace.errors import IndexMissingError, NotesFailedError
from memory_palace.index.commit import Commit
from memory_palace.index.diff import open_state
from memory_palace.index.segment import (
    CONTENT,
    HAS_PROBLEMS,
    NUMBER_COLUMNS,
    PRIVATE,
    SOURCES,
    STAT,
    TEXT_COLUMNS,
    Array,
    Fold,
    Segment,
)
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.writing import ChunkRow, NoteRow, read_row, with_chunks
from memory_palace.notes.note import find_disputes, read_indexed

STAMP_BYTES = 16
_BY_MTIME = SOURCES.index("mtime")


@dataclass(frozen=True, slots=True)
class StoredNote:
    """A live note with everything that a store keeps of it."""

    row: NoteRow
    is_cold: bool
    text: str
    """Its lines as they may be shown, where they stand."""


def stamp(row: NoteRow, rows: bytes, *, is_cold: bool, fingerprint: str) -> bytes:
    """Return the digest of all that a store keeps of a note, given ``mark_chunks`` of its rows.

    The recipe and the note's own digest stand for words and vectors. Where a file lies and when it
    was touched is of one machine, unless the time is all that dates the note.
    """
    kept = settle(row)
    texts = "\0".join(getattr(kept, field) for field in TEXT_COLUMNS.values())
    numbers = [getattr(kept, name) for name in NUMBER_COLUMNS if name != "kind"]
    head = f"{fingerprint}\0{is_cold:d}\0{texts}\0{numbers}\0{kept.days}\0{kept.stat}\0"
    parts = (head.encode(), kept.digest, len(kept.line).to_bytes(4), kept.line, rows)
    return blake2b(b"".join(parts), digest_size=STAMP_BYTES).digest()


def settle(row: NoteRow) -> NoteRow:
    """Return a record without what is of one machine alone."""
    changed = row.stat[STAT.changed_ns] if row.date_source == _BY_MTIME else 0
    return replace(row, kind=CONTENT, stat=(row.stat[STAT.size], 0, 0, 0, changed))


def mark_chunks(chunks: Sequence[ChunkRow]) -> bytes:
    """Return bytes that identify the rows of a note: lines, checksums and digests."""
    return b"".join(
        np.array([c.first_line, c.last_line, zlib.crc32(c.line)], "<u4").tobytes() + c.digest
        for c in chunks
    )


class IndexFiles:
    """The committed index of a folder."""

    def __init__(self, paths: PalacePaths) -> None:
        self._paths, self._state = paths, open_state(paths)

    def read_commit(self) -> Commit:
        """Return the commit record; raise ``IndexMissingError`` where there is none."""
        if self._state.commit is None:
            raise IndexMissingError(f"there is no index in {self._paths.index}; run `palace index`")
        if waiting := self._state.commit.awaiting:
            raise IndexMissingError(f"{waiting:,} passages have no vectors yet; run `palace index`")
        return self._state.commit

    @cached_property
    def snapshot(self) -> Snapshot:
        """The notes outside the cold zone."""
        return Snapshot(self.read_commit(), [self._state.hot], rooms=self._paths.rooms)

    def list_stamps(self) -> Mapping[str, bytes]:
        """Return the stamp of every live note that is not private, by path."""
        fingerprint = self.read_commit().fingerprint
        stamps: dict[str, bytes] = {}
        for is_cold in (False, True):
            fold = self._state.fold(is_cold)
            marks = {segment.name: _mark_rows(segment) for segment in fold.segments}
            for place, path in enumerate(fold.paths):
                row = read_row(fold, place, kind=CONTENT)
                if not row.flags & PRIVATE:
                    owner, rows = _rows_of(fold, place)
                    mark = marks[owner.name][rows.start : rows.stop].tobytes()
                    stamps[path] = stamp(row, mark, is_cold=is_cold, fingerprint=fingerprint)
        return stamps

    @property
    def rooms(self) -> Rooms:
        """Which folder is which room."""
        return self._paths.rooms

    def list_disputes(self, shown: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return the open conflicts of every note that is party to one, of those that are shown."""
        found = {
            path: tuple(conflict for conflict in conflicts if conflict in shown)
            for path, conflicts in find_disputes(self._paths).items()
        }
        return {path: kept for path, kept in found.items() if kept and path in shown}

    def note_digests(self, paths: Collection[str]) -> dict[str, bytes]:
        """Return the digests of some notes, by path."""
        wanted = set(paths)
        return {note.path: note.digest for note in self._state.known() if note.path in wanted}

    def read_notes(self, paths: Collection[str]) -> Iterator[StoredNote]:
        """Yield notes; raise ``NotesFailedError`` for one that is no longer what was indexed."""
        wanted = set(paths)
        for is_cold in (False, True):
            fold = self._state.fold(is_cold)
            for place, path in enumerate(fold.paths):
                if path in wanted:
                    owner, rows = _rows_of(fold, place)
                    row = with_chunks(read_row(fold, place, kind=CONTENT), owner, rows)
                    yield StoredNote(row, is_cold, self._read_text(row))

    def _read_text(self, row: NoteRow) -> str:
        is_withheld = bool(row.flags & HAS_PROBLEMS)
        size = row.stat[STAT.size]
        lines = read_indexed(
            self._paths, row.path, size=size, digest=row.digest, is_withheld=is_withheld
        )
        if not lines:
            raise NotesFailedError(f"{row.path} has changed since it was indexed; run it again")
        return "\n".join(lines)


def _mark_rows(segment: Segment) -> Array:
    """Return ``mark_chunks`` of every row of a segment, one line of bytes for each."""
    arrays = segment.arrays
    numbers = [arrays["chunk_lines"].astype("<u4"), arrays["chunk_crc"].astype("<u4")[:, None]]
    figures = np.ascontiguousarray(np.concatenate(numbers, axis=1)).view(np.uint8)
    marks: Array = np.concatenate([figures, arrays["chunk_digest"]], axis=1)
    return marks


def _rows_of(fold: Fold, place: int) -> tuple[Segment, range]:
    """Return the segment that holds the chunks of a note, and their rows there."""
    owner, record = fold.locate(int(fold.owners[place]))
    first, last = np.searchsorted(owner.arrays["chunk_note"], [record, record + 1])
    return owner, range(int(first), int(last))

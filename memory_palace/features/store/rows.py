"""Convert a file index's generation and notes to rows of a store, and rows back.

Private notes are left out. Every row read is validated, since a role with write access may
store malformed data.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from memory_palace.config import ROOMS, Config, PalacePaths
from memory_palace.errors import IndexDamagedError, IndexMissingError, NotesFailedError
from memory_palace.features.store.connecting import Statements
from memory_palace.index.commit import Commit
from memory_palace.index.diff import open_state
from memory_palace.index.segment import (
    CONTENT,
    FIELDS,
    HAS_PROBLEMS,
    NUMBER_COLUMNS,
    PRIORITIES,
    PRIVATE,
    SOURCES,
    STAT,
    TEXT_COLUMNS,
    Array,
    Fold,
    KeyCounts,
    Segment,
)
from memory_palace.index.writing import (
    DIGEST_BYTES,
    NO_DAYS,
    ChunkRow,
    NoteRow,
    read_row,
    with_chunks,
)
from memory_palace.models import Matrix
from memory_palace.notes.note import find_disputes, read_indexed
from memory_palace.settings import parse_config

STAMP_BYTES = 16
_BY_MTIME = SOURCES.index("mtime")


@dataclass(frozen=True, slots=True)
class StoredNote:
    """A live note with all data that a store keeps."""

    row: NoteRow
    is_cold: bool
    text: str
    """The note's lines at their line numbers, with private spans and secrets withheld."""


def stamp(row: NoteRow, rows: bytes, *, is_cold: bool, fingerprint: str) -> bytes:
    """Return the digest of a note's stored data; ``rows`` are the bytes of its ``_mark_rows``.

    The recipe's fingerprint and the note's digest represent words and vectors. Inode and times of
    the file are left out as specific to a machine, except an mtime that is the note's only date.
    """
    kept = settle(row)
    texts = "\0".join(getattr(kept, field) for field in TEXT_COLUMNS.values())
    numbers = [getattr(kept, name) for name in NUMBER_COLUMNS if name != "kind"]
    head = f"{fingerprint}\0{is_cold:d}\0{texts}\0{numbers}\0{kept.days}\0{kept.stat}\0"
    parts = (head.encode(), kept.digest, len(kept.line).to_bytes(4), kept.line, rows)
    return blake2b(b"".join(parts), digest_size=STAMP_BYTES).digest()


def settle(row: NoteRow) -> NoteRow:
    """Return a note record without file status that is specific to one machine."""
    changed = row.stat[STAT.changed_ns] if row.date_source == _BY_MTIME else 0
    return replace(row, kind=CONTENT, stat=(row.stat[STAT.size], 0, 0, 0, changed))


class IndexFiles:
    """The committed index files of a palace, as the source of a push."""

    def __init__(self, paths: PalacePaths) -> None:
        self.paths, self.state = paths, open_state(paths)

    def read_commit(self) -> Commit:
        """Return the commit record; raise ``IndexMissingError`` for none or missing vectors."""
        if self.state.commit is None:
            raise IndexMissingError(f"there is no index in {self.paths.index}; run `palace index`")
        if waiting := self.state.commit.awaiting:
            raise IndexMissingError(f"{waiting:,} passages have no vectors yet; run `palace index`")
        return self.state.commit

    def list_stamps(self) -> Mapping[str, bytes]:
        """Return the stamp of every live note that is not private, by path."""
        fingerprint = self.read_commit().fingerprint
        stamps: dict[str, bytes] = {}
        for is_cold in (False, True):
            fold = self.state.fold(is_cold)
            marks = {segment.name: _mark_rows(segment) for segment in fold.segments}
            for place, path in enumerate(fold.paths):
                row = read_row(fold, place, kind=CONTENT)
                if not row.flags & PRIVATE:
                    owner, rows = _rows_of(fold, place)
                    mark = marks[owner.name][rows.start : rows.stop].tobytes()
                    stamps[path] = stamp(row, mark, is_cold=is_cold, fingerprint=fingerprint)
        return stamps

    def read_notes(self, paths: Collection[str]) -> Iterator[StoredNote]:
        """Yield the notes at ``paths``; raise ``NotesFailedError`` if one is not as indexed."""
        wanted = set(paths)
        for is_cold in (False, True):
            fold = self.state.fold(is_cold)
            for place, path in enumerate(fold.paths):
                if path in wanted:
                    owner, rows = _rows_of(fold, place)
                    row = with_chunks(read_row(fold, place, kind=CONTENT), owner, rows)
                    lines = read_indexed(
                        self.paths,
                        path,
                        size=row.stat[STAT.size],
                        digest=row.digest,
                        is_withheld=bool(row.flags & HAS_PROBLEMS),
                    )
                    if not lines:
                        why = "has changed since it was indexed; run it again"
                        raise NotesFailedError(f"{path} {why}")
                    yield StoredNote(row, is_cold, "\n".join(lines))


def _mark_rows(segment: Segment) -> Array:
    """Return line numbers, CRC and digest of every chunk of a segment, one row of bytes each."""
    arrays = segment.arrays
    numbers = [arrays["chunk_lines"].astype("<u4"), arrays["chunk_crc"].astype("<u4")[:, None]]
    figures = np.ascontiguousarray(np.concatenate(numbers, axis=1)).view(np.uint8)
    return np.concatenate([figures, arrays["chunk_digest"]], axis=1)


def _rows_of(fold: Fold, place: int) -> tuple[Segment, range]:
    """Return the segment with a note's chunks, and the range of their rows in the segment."""
    owner, record = fold.locate(int(fold.owners[place]))
    first, last = np.searchsorted(owner.arrays["chunk_note"], [record, record + 1])
    return owner, range(int(first), int(last))


# --- Rows ---

SETTINGS = ("half_life_days", "locale", "profile")
"""Settings that affect answers and are safe to take from a store: none runs or opens anything."""
_OF_COMMIT = {
    "embedder": str,
    "fingerprint": str,
    "dimension": int,
    "calibration": dict,
    "languages": dict,
}
"""Fields of ``Commit`` that a store keeps, with their types: none about files or one build."""
RECORD: Mapping[str, type] = _OF_COMMIT | {"settings": dict, "rooms": dict, "disputes": dict}
"""Keys of a generation's record and their JSON types."""
_COLUMNS = ("number", "record", "built_by", "notes", "passages", "last_note")
FIGURES = np.dtype(
    [
        ("id", "<i4"),
        ("passages", "<i4"),
        ("words", "<i4"),
        ("priority", "i1"),
        ("date_source", "u1"),
        ("flags", "u1"),
        ("is_cold", "?"),
        ("date", "<f8"),
        ("days", "<i4", len(NO_DAYS)),
    ]
)
"""Figures of a note that every query reads for all notes; ``words`` counts passage tokens."""
TALK = 1 << 7
"""Flag, beside those of a note record, of a note with speakers."""
NOTE_COLUMNS = {
    "id": "int4",
    "path": "text",
    "type": "text",
    "tags": "text",
    **dict.fromkeys(("stamp", "digest", "figures", "record", "keys", "vectors", "text"), "bytea"),
}
PAYLOAD = "path, record, keys, vectors"
_APART = ("kind", "line", "digest", "chunks", "vectors")
_KINDS: dict[str, type] = {f.name: type(f.default) for f in fields(NoteRow) if f.name not in _APART}
_KINDS |= {"path": str, "days": list, "stat": list}
"""Fields of ``NoteRow`` that are stored unchanged, with their JSON types."""
_FARTHEST = 1e15
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Exceptions raised by code that uses a malformed row."""


def damaged(what: str) -> IndexDamagedError:
    """Return the error for unreadable data of a store."""
    return IndexDamagedError(
        f"{what} cannot be read from the store; `palace index --verify --store …`, where the notes "
        "are, writes all of it again"
    )


@dataclass(frozen=True, slots=True)
class Generation:
    """A palace's row in the table ``generation``, without the sample of vectors."""

    number: int = 0
    record: Mapping[str, Any] = field(default_factory=dict)
    built_by: str = ""
    notes: int = 0
    passages: int = 0
    """Passages outside the cold zone, without stored questions."""
    last_note: int = 0
    """Highest note number assigned so far; numbers are never reused."""

    @property
    def commit(self) -> Commit:
        """The record as the ``Commit`` of a file index without segments."""
        return Commit(self.number, **{name: self.record[name] for name in _OF_COMMIT})


def read_generation(statements: Statements) -> Generation | None:
    """Return the committed generation of a palace, or ``None`` before its first push.

    Raise ``IndexDamagedError`` for a malformed record.
    """
    found = statements.ask(
        f"SELECT {', '.join(_COLUMNS)} FROM generation WHERE palace = %(palace)s"
    )
    if not found:
        return None
    generation = Generation(*found[0])
    record = generation.record
    with suppress(LookupError, TypeError):
        if (
            all(type(record[name]) is kind for name, kind in RECORD.items())
            and record["dimension"] >= 0
            and set(record["rooms"].values()) <= ROOMS.keys()
            and all(type(value) in (int, float) for value in record["calibration"].values())
            and all(type(path) is str for found in record["disputes"].values() for path in found)
        ):
            return generation
    raise damaged("the record of the generation")


def write_generation(statements: Statements, generation: Generation, sample: bytes) -> None:
    """Replace the palace's generation row; readers see it once the transaction commits."""
    values = {name: getattr(generation, name) for name in _COLUMNS}
    values |= {"record": json.dumps(generation.record), "sample": sample}
    statements.run(
        f"INSERT INTO generation (palace, {', '.join(values)}) VALUES"
        f" (%(palace)s, {', '.join(f'%({name})s' for name in values)})"
        " ON CONFLICT (palace) DO UPDATE SET built_at = now(), "
        + ", ".join(f"{name} = EXCLUDED.{name}" for name in values),
        **values,
    )


def make_record(source: IndexFiles, settings: Config, shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a generation of ``shown`` notes."""
    usual, commit = Config(), source.read_commit()
    kept: dict[str, Any] = {name: getattr(settings, name) for name in SETTINGS}
    kept = {name: value for name, value in kept.items() if value != getattr(usual, name)}
    record = {name: getattr(commit, name) for name in _OF_COMMIT}
    disputes = {
        path: [conflict for conflict in conflicts if conflict in shown]
        for path, conflicts in find_disputes(source.paths).items()
        if path in shown
    }
    record |= {"settings": kept, "rooms": dict(source.paths.rooms.folders)}
    record |= {"disputes": {path: known for path, known in disputes.items() if known}}
    found: dict[str, Any] = json.loads(json.dumps(record))
    return found


def read_settings(values: Mapping[str, Any], source: str) -> Config:
    """Parse settings from a store; raise ``ConfigError`` for bad values, as for a file."""
    known = {name: values[name] for name in SETTINGS if name in values}
    return parse_config(known, source=source)


def read_matrix(data: bytes, dimension: int, what: str) -> Matrix:
    """Return a float32 matrix from bytes; raise ``IndexDamagedError`` for bad size or values."""
    if len(data) % (4 * dimension or 1) or (data and not dimension):
        raise damaged(what)
    found: Matrix = np.frombuffer(data, "<f4").reshape(-1, dimension or 1)[:, :dimension]
    if not np.isfinite(found).all():
        raise damaged(what)
    return found


def pack_note(number: int, note: StoredNote, stamp: bytes) -> tuple[Any, ...]:
    """Return a note as a row of ``NOTE_COLUMNS``."""
    row = settle(note.row)
    record = {name: getattr(row, name) for name in _KINDS} | {
        "line": row.line.decode(),
        "digest": row.digest.hex(),
        "chunks": [
            [chunk.first_line, chunk.last_line, chunk.digest.hex(), chunk.line.decode()]
            for chunk in row.chunks
        ],
    }
    passages = [chunk for chunk in row.chunks if chunk.first_line]
    figures = np.zeros(1, FIGURES)
    for name in ("priority", "date_source", "flags", "days"):
        figures[name] = getattr(row, name)
    figures["flags"] |= TALK if row.speakers else 0
    figures["id"], figures["is_cold"], figures["passages"] = number, note.is_cold, len(passages)
    figures["words"] = sum(int(chunk.keys[0].counts.sum()) for chunk in passages)
    changed = row.stat[STAT.changed_ns]  # kept where the file's time is all that dates the note
    figures["date"] = changed / 1e9 if changed else row.date
    return (
        number,
        *(row.path, row.type, row.tags),
        *(stamp, row.digest, figures.tobytes()),
        json.dumps(record).encode(),
        pack_keys(row.chunks),
        row.vectors.astype("<f4").tobytes(),
        note.text.encode(),
    )


def unpack_note(path: str, record: bytes, keys: bytes, vectors: bytes, dimension: int) -> NoteRow:
    """Return a note with its chunks from a row; raise ``IndexDamagedError`` if malformed."""
    with suppress(*UNREADABLE):
        found = json.loads(record)
        parts, kept = found["chunks"], dict[str, Any]()
        for name, kind in _KINDS.items():
            kept[name] = tuple(found[name]) if kind is list else found[name]
        chunks = tuple(
            ChunkRow(first, last, bytes.fromhex(digest), line.encode(), own)
            for (first, last, digest, line), own in zip(
                parts, unpack_keys(keys, len(parts)), strict=True
            )
        )
        matrix = read_matrix(vectors, dimension, f"a vector of {path}")
        if not dimension:
            matrix = np.zeros((len(chunks), 0), np.float32)
        row = NoteRow(
            kind=CONTENT,
            line=found["line"].encode(),
            digest=bytes.fromhex(found["digest"]),
            chunks=chunks,
            vectors=matrix,
            **kept,
        )
        if (
            row.path == path
            and len(matrix) == len(chunks)
            and {len(row.digest), *(len(chunk.digest) for chunk in chunks)} == {DIGEST_BYTES}
            and all(0 <= chunk.first_line <= chunk.last_line < 1 << 31 for chunk in chunks)
            and all(type(found[name]) is kind for name, kind in _KINDS.items())
            and abs(row.date) < _FARTHEST
        ):
            return row
    raise damaged(f"the record of {path}")


def read_figures(data: bytes, *, notes: int) -> np.ndarray[Any, np.dtype[np.void]]:
    """Return the ``FIGURES`` of all notes; raise ``IndexDamagedError`` if malformed."""
    found = np.frombuffer(data, FIGURES, len(data) // FIGURES.itemsize)
    if not (
        len(data) == notes * FIGURES.itemsize
        and (np.abs(found["date"]) < _FARTHEST).all()
        and (np.diff(found["id"]) > 0).all()
        and all((found[name] >= 0).all() for name in ("passages", "words", "priority", "days"))
        and (found["priority"] < len(PRIORITIES)).all()
        and (found["date_source"] < len(SOURCES)).all()
    ):
        raise damaged("the figures of the notes")
    return found


def pack_keys(chunks: Sequence[ChunkRow]) -> bytes:
    """Return the packed terms of chunks: key counts per chunk and field, then keys, then counts."""
    every = [each for chunk in chunks for each in chunk.keys]
    sizes = np.array([len(each.keys) for each in every], "<u4")
    keys = [each.keys.astype("<u8").tobytes() for each in every]
    return b"".join((sizes.tobytes(), *keys, *(each.counts.tobytes() for each in every)))


def unpack_keys(data: bytes, chunks: int) -> list[tuple[KeyCounts, ...]]:
    """Return the terms that ``pack_keys`` packed; raise ``ValueError`` for a bad length."""
    sizes = np.frombuffer(data, "<u4", chunks * len(FIELDS)).astype(np.int64)
    count, start = int(sizes.sum()), 4 * len(sizes)
    if len(data) != start + 9 * count:
        raise ValueError
    keys = np.frombuffer(data, "<u8", count, start)
    counts = np.frombuffer(data, np.uint8, count, start + 8 * count)
    ends = np.cumsum(sizes).tolist()
    spans = [slice(end - size, end) for size, end in zip(sizes.tolist(), ends, strict=True)]
    every = [KeyCounts(keys[span], counts[span]) for span in spans]
    return [tuple(every[n : n + len(FIELDS)]) for n in range(0, len(every), len(FIELDS))]

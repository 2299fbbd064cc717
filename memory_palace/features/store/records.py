"""Notes and their rows as the columns of a store, and back."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from memory_palace.config import Rooms
from memory_palace.features.store.naming import list_link_rows, list_name_rows, split_list
from memory_palace.features.store.packing import damaged, pack_keys, unpack_keys
from memory_palace.index.segment import (
    CONTENT,
    DIGEST_BYTES,
    NO_DAYS,
    PRIORITIES,
    SOURCES,
    STAT,
    ChunkRow,
    NoteRow,
)
from memory_palace.index.store import StoredNote, mark_chunks, settle, stamp
from memory_palace.models import Matrix

BUCKETS = 1024
"""Notes are compared by groups of paths: what a push reads grows with what has changed."""
LONGEST = 500
"""Characters of a name or an end of a link that a question is compared with: keys of an index of
PostgreSQL have at most 2,704 bytes."""
_MARK_BYTES = 16
NOTE_COLUMNS = {
    "id": "int4",
    "path": "text",
    "bucket": "int2",
    "stamp": "bytea",
    "is_cold": "bool",
    "title": "text",
    "type": "text",
    "room": "text",
    "folder": "text",
    "priority": "int2",
    "date": "float8",
    "days": "int4[]",
    "flags": "int2",
    "tags": "text[]",
    "line": "bytea",
    "record": "jsonb",
    "text": "bytea",
    "words": "int4",
    "rows": "int4",
}
PASSAGE_COLUMNS = {
    "id": "int4",
    "note": "int4",
    "place": "int4",
    "is_cold": "bool",
    "first_line": "int4",
    "last_line": "int4",
    "mark": "bytea",
    "digest": "bytea",
    "described_digest": "bytea",
    "line": "bytea",
    "keys": "bytea",
    "vector": "vector",
    "described": "vector",
}
NAME_COLUMNS = {
    "note": "int4",
    "kind": "int2",
    "folded": "text",
    "loose": "text",
    "value": "float4",
    "target": "text",
}
LINK_COLUMNS = {"note": "int4", "ending": "text", "target": "text"}
_RECORDED: dict[str, type | tuple[type, ...]] = {
    "own_type": str,
    "own_priority": int,
    "aliases": str,
    "targets": str,
    "link_names": str,
    "originals": str,
    "tags": str,
    "speakers": str,
    "date": (float, int),
    "date_source": int,
    "stat": list,
}
"""Fields of ``NoteRow`` that no filter asks for as they stand, and what they are in JSON."""


def bucket_of(path: str) -> int:
    """Return the group of notes that a path is of."""
    return int.from_bytes(blake2b(path.encode(), digest_size=2).digest()) % BUCKETS


def stamp_note(note: StoredNote, fingerprint: str) -> bytes:
    """Return the stamp of a note that is in hand."""
    rows = mark_chunks(note.row.chunks)
    return stamp(note.row, rows, is_cold=note.is_cold, fingerprint=fingerprint)


def note_values(number: int, note: StoredNote, stamp: bytes, rooms: Rooms) -> tuple[Any, ...]:
    """Return the values of ``NOTE_COLUMNS``."""
    row = settle(note.row)
    record = {name: getattr(row, name) for name in _RECORDED} | {
        "digest": row.digest.hex(),
        "stat": list(row.stat),
    }
    words = sum(int(c.keys[0].counts.sum()) for c in row.chunks if c.first_line)
    changed = row.stat[STAT.changed_ns]
    return (
        number,
        row.path,
        bucket_of(row.path),
        stamp,
        note.is_cold,
        row.title,
        row.type,
        rooms.room_of(row.path) or "",
        row.path.rpartition("/")[0],
        row.priority,
        changed / 1e9 if changed else row.date,
        list(row.days),
        row.flags,
        split_list(row.tags),
        row.line,
        Jsonb(record),
        note.text.encode(),
        words,
        len(row.chunks),
    )


def passage_values(
    number: int, owner: int, place: int, note: StoredNote, mark: bytes
) -> tuple[Any, ...]:
    """Return the values of ``PASSAGE_COLUMNS`` for one row of a note."""
    chunk = note.row.chunks[place]
    matrix = note.row.vectors
    return (
        number,
        owner,
        place,
        note.is_cold,
        chunk.first_line,
        chunk.last_line,
        mark,
        chunk.digest,
        None,  # of a second embedder, as older versions had
        chunk.line,
        pack_keys(chunk.keys),
        matrix[place] if matrix.shape[1] else None,
        None,
    )


def mark_rows(note: StoredNote, fingerprint: str) -> list[bytes]:
    """Return what tells each row of a note from others, wherever it stands in the note."""
    return [
        blake2b(
            b"".join(
                (
                    f"{fingerprint}\0{note.is_cold:d}{bool(chunk.first_line):d}".encode(),
                    chunk.digest,
                    pack_keys(chunk.keys),
                    chunk.line,
                )
            ),
            digest_size=_MARK_BYTES,
        ).digest()
        for chunk in note.row.chunks
    ]


def name_values(number: int, note: StoredNote) -> list[tuple[Any, ...]]:
    """Return the values of ``NAME_COLUMNS`` for all names of a note."""
    rows = dict.fromkeys(list_name_rows(note))
    return [(number, int(row.kind), *row[1:]) for row in rows if len(row.folded) <= LONGEST]


def link_values(number: int, note: StoredNote) -> list[tuple[Any, ...]]:
    """Return the values of ``LINK_COLUMNS`` for all links of a note."""
    return [(number, *row) for row in list_link_rows(note) if len(row[0]) <= LONGEST]


def read_note_row(path: str, columns: dict[str, Any], chunks: Sequence[ChunkRow] = ()) -> NoteRow:
    """Rebuild a note's record from its columns, ``record`` among them.

    Raise ``IndexDamagedError`` for a record that is none.
    """
    try:
        found = {"speakers": ""} | columns["record"]  # a store of an earlier version has none
        record = {name: found[name] for name in _RECORDED}
        digest = bytes.fromhex(columns["record"]["digest"])
    except (LookupError, TypeError, ValueError):
        raise damaged(f"the record of {path}") from None
    is_whole = (
        all(isinstance(record[name], kind) for name, kind in _RECORDED.items())
        and (len(record["stat"]), len(columns["days"])) == (5, len(NO_DAYS))
        and all(type(n) is int and abs(n) < 1 << 63 for n in (*record["stat"], *columns["days"]))
        and abs(record["date"]) < 1e15
        and 0 <= record["date_source"] < len(SOURCES)
        and 0 <= columns["priority"] < len(PRIORITIES)
        and 0 <= columns["flags"] < 1 << 8
        and _is_text(columns["line"])
    )
    if not is_whole:
        raise damaged(f"the record of {path}")
    return NoteRow(
        path,
        CONTENT,
        line=columns["line"],
        digest=digest,
        title=columns["title"],
        type=columns["type"],
        priority=columns["priority"],
        days=tuple(columns["days"]),
        flags=columns["flags"],
        chunks=tuple(chunks),
        **record | {"stat": tuple(record["stat"])},
    )


def read_text(text: bytes, path: str) -> str:
    """Return the text of a note; raise ``IndexDamagedError`` for one that is none."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise damaged(f"the text of {path}") from None


def _is_text(line: bytes) -> bool:
    try:
        return bool(line.decode())
    except UnicodeDecodeError:
        return False


def read_chunk(columns: dict[str, Any]) -> ChunkRow:
    """Rebuild a row from its columns, those of the vectors aside.

    Raise ``IndexDamagedError`` for lines, digests or keys that are none.
    """
    is_whole = 0 <= columns["first_line"] <= columns["last_line"] and _is_text(columns["line"])
    if not is_whole or len(columns["digest"]) != DIGEST_BYTES:
        raise damaged("a passage")
    return ChunkRow(
        columns["first_line"],
        columns["last_line"],
        columns["digest"],
        columns["line"],
        unpack_keys(columns["keys"]),
    )


def read_matrix(vectors: Sequence[Any], dimension: int, path: str = "a passage") -> Matrix:
    """Return the vectors of rows, shape ``(rows, dimension)``; with the dimension 0 none has one.

    Raise ``IndexDamagedError`` where a row has none, or one of another length.
    """
    if any((0 if v is None else v.dimensions()) != dimension for v in vectors):
        raise damaged(f"a vector of {path}")
    found = np.zeros((len(vectors), dimension), np.float32)
    if dimension:
        for row, vector in zip(found, vectors, strict=True):
            row[:] = vector.to_numpy()
    return found

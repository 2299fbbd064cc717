"""A note as a row of a store, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from memory_palace.features.store.generation import damaged, read_matrix
from memory_palace.index.arrays import FIELDS, KeyCounts
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
from memory_palace.index.store import StoredNote, settle

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
"""Numbers of one note that a question needs of all notes; ``words`` are those of its passages."""
NOTE_COLUMNS = {
    "id": "int4",
    "path": "text",
    "stamp": "bytea",
    "digest": "bytea",
    "figures": "bytea",
    "type": "text",
    "tags": "text",
    "record": "bytea",
    "keys": "bytea",
    "vectors": "bytea",
    "text": "bytea",
}
PASSAGE_COLUMNS = {"note": "int4", "place": "int4", "digest": "bytea", "vector": "halfvec"}
PAYLOAD = "path, record, keys, vectors"
_APART = ("kind", "line", "digest", "chunks", "vectors")
_KINDS: dict[str, type] = {f.name: type(f.default) for f in fields(NoteRow) if f.name not in _APART}
_KINDS |= {"path": str, "days": list, "stat": list}
"""Fields of ``NoteRow`` that are kept as they are, and what they are in JSON."""
_CODES = {"priority": len(PRIORITIES), "own_priority": len(PRIORITIES), "flags": 1 << 8}
_CODES |= {"date_source": len(SOURCES)}
_FARTHEST = 1e15


def pack_note(number: int, note: StoredNote, stamp: bytes) -> tuple[Any, ...]:
    """Return the values of ``NOTE_COLUMNS``."""
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
    figures["id"], figures["is_cold"], figures["passages"] = number, note.is_cold, len(passages)
    figures["words"] = sum(int(chunk.keys[0].counts.sum()) for chunk in passages)
    changed = row.stat[STAT.changed_ns]  # kept where the file's time is all that dates the note
    figures["date"] = changed / 1e9 if changed else row.date
    return (
        number,
        row.path,
        stamp,
        row.digest,
        figures.tobytes(),
        row.type,
        row.tags,
        json.dumps(record).encode(),
        pack_keys(row.chunks),
        row.vectors.astype("<f4").tobytes(),
        note.text.encode(),
    )


def unpack_note(path: str, record: bytes, keys: bytes, vectors: bytes, dimension: int) -> NoteRow:
    """Rebuild a note with its chunks; raise ``IndexDamagedError`` for one that is none."""
    try:
        found = json.loads(record)
        own = unpack_keys(keys, len(found["chunks"]))
        chunks = tuple(map(_read_chunk, found["chunks"], own))
        row = NoteRow(
            kind=CONTENT,
            line=_read_line(found["line"], dict),
            digest=bytes.fromhex(found["digest"]),
            chunks=chunks,
            **{name: found[name] for name in _KINDS},
        )
        row = replace(row, days=tuple(row.days), stat=tuple(row.stat))
        is_whole = (
            row.path == path
            and len(row.digest) == DIGEST_BYTES
            and all(type(found[name]) is kind for name, kind in _KINDS.items())
            and _are_figures(row)
        )
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        is_whole = False
    if not is_whole:
        raise damaged(f"the record of {path}")
    matrix = read_matrix(vectors, dimension, f"a vector of {path}")
    if dimension and len(matrix) != len(chunks):
        raise damaged(f"a vector of {path}")
    if not dimension:
        matrix = np.zeros((len(chunks), 0), np.float32)
    return replace(row, vectors=matrix) if chunks else row


def _read_chunk(values: Sequence[Any], keys: tuple[KeyCounts, ...]) -> ChunkRow:
    first, last, digest, line = values
    chunk = ChunkRow(first, last, bytes.fromhex(digest), _read_line(line, list), keys)
    is_whole = type(first) is type(last) is int and 0 <= first <= last < 1 << 31
    if not is_whole or len(chunk.digest) != DIGEST_BYTES:
        raise ValueError
    return chunk


def _read_line(line: str, kind: type) -> bytes:
    if not line.endswith("\n") or type(json.loads(line)) is not kind:
        raise ValueError
    return line.encode()


def _are_figures(row: NoteRow) -> bool:
    return (
        (len(row.days), len(row.stat)) == (len(NO_DAYS), 5)
        and all(type(n) is int for n in (*row.days, *row.stat))
        and all(0 <= day < 1 << 31 for day in row.days)
        and all(abs(n) < 1 << 63 for n in row.stat)
        and all(0 <= getattr(row, name) < most for name, most in _CODES.items())
        and abs(row.date) < _FARTHEST
    )


def read_figures(data: bytes) -> np.ndarray[Any, np.dtype[np.void]]:
    """Return the figures of all notes; raise ``IndexDamagedError`` where they are none."""
    if len(data) % FIGURES.itemsize:
        raise damaged("the figures of the notes")
    found = np.frombuffer(data, FIGURES)
    is_whole = (np.abs(found["date"]) < _FARTHEST).all() and (np.diff(found["id"]) > 0).all()
    for name in ("passages", "words", "priority", "days"):
        is_whole = is_whole and (found[name] >= 0).all()
    for name in ("priority", "date_source"):
        is_whole = is_whole and (found[name] < _CODES[name]).all()
    if not is_whole:
        raise damaged("the figures of the notes")
    return found


def pack_keys(chunks: Sequence[ChunkRow]) -> bytes:
    """Return what chunks are found by: for each how many keys a field has, then keys and counts."""
    every = [each for chunk in chunks for each in chunk.keys]
    sizes = np.array([len(each.keys) for each in every], "<u4")
    keys = [each.keys.astype("<u8").tobytes() for each in every]
    return b"".join((sizes.tobytes(), *keys, *(each.counts.tobytes() for each in every)))


def unpack_keys(data: bytes, chunks: int) -> list[tuple[KeyCounts, ...]]:
    """Undo ``pack_keys``; raise ``ValueError`` for another length."""
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


def read_text(text: bytes, path: str) -> str:
    """Return the text of a note; raise ``IndexDamagedError`` for one that is none."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise damaged(f"the text of {path}") from None

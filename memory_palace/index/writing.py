"""Write a segment from note records and their chunks."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.commit import SegmentRef
from memory_palace.index.npz import Array, checksum, write_arrays
from memory_palace.index.postings import FIELDS, KeyCounts, pack_postings, smallest
from memory_palace.index.segment import TOMBSTONE, VECTORS, Segment, join_texts
from memory_palace.models import Matrix
from memory_palace.storage.atomic import write_atomic, write_content

DIGEST_BYTES = 16
NO_DAYS = (0, 0, 0, 0)
SEGMENT = "seg-{}.npz"


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk to be written; its vectors are in the note's matrices."""

    first_line: int
    last_line: int
    digests: tuple[bytes, ...]
    """The first 16 bytes of the digest of each text that is embedded: one for each vector."""
    line: bytes
    """What is shown of it: one JSON line."""
    keys: tuple[KeyCounts, ...]
    """What it can be found by: one for each of ``postings.FIELDS``."""


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note record to be written, with its chunks where it is a content record."""

    path: str
    kind: int
    line: bytes = b"{}\n"
    digest: bytes = bytes(DIGEST_BYTES)
    title: str = ""
    type: str = ""
    own_type: str = ""
    """What the front matter says, so that a changed manifest line needs no parsing."""
    priority: int = 0
    own_priority: int = 0
    aliases: str = ""
    """Separated by the unit separator, as ``targets`` is."""
    targets: str = ""
    link_names: str = ""
    """What links call their targets: target, bar and name."""
    originals: str = ""
    tags: str = ""
    speakers: str = ""
    date: float = 0.0
    date_source: int = 0
    days: tuple[int, ...] = NO_DAYS
    """First and last day of two spans that it is of, each as ``date.toordinal``; 0 for none."""
    flags: int = 0
    stat: tuple[int, ...] = (0, 0, 0, 0, 0)
    chunks: tuple[ChunkRow, ...] = ()
    vectors: tuple[Matrix, ...] = ()
    """A matrix for each of ``segment.VECTORS`` that the index has, with one row per chunk."""


TEXT_COLUMNS = {
    "paths": "path",
    "titles": "title",
    "types": "type",
    "own_types": "own_type",
    "aliases": "aliases",
    "targets": "targets",
    "link_names": "link_names",
    "originals": "originals",
    "tags": "tags",
    "speakers": "speakers",
}
"""Members that hold a text of each note record, and the field of ``NoteRow`` that is written."""
NUMBER_COLUMNS = {
    "kind": np.uint8,
    "priority": np.int8,
    "own_priority": np.int8,
    "date": np.float64,
    "date_source": np.uint8,
    "flags": np.uint8,
}
"""Members that hold a number of each note record; the fields have the same names."""


def tombstone(path: str) -> NoteRow:
    """Return the record that says a note is gone."""
    return NoteRow(path, TOMBSTONE)


def write_segment(
    folder: Path,
    notes: Sequence[NoteRow],
    *,
    fingerprint: str,
    dimension: int,
    is_cold: bool,
    vectors: tuple[str, ...] = (),
) -> SegmentRef:
    """Write both files of a segment and return how the commit record names it.

    Rows may be without vectors, all of them; ``vectors`` names files that have some.
    A reader finds the npz only through a commit record, so the JSONL may follow it.
    """
    members, lines = list_members(notes, fingerprint=fingerprint, dimension=dimension)
    arrays = write_content(folder, lambda file: write_arrays(file, members), SEGMENT)
    write_atomic(arrays.with_suffix(".jsonl"), lines)
    rows = sum(len(note.chunks) for note in notes)
    return SegmentRef(
        name=arrays.stem,
        is_cold=is_cold,
        rows=rows,
        notes=len(notes),
        dead_rows=0,
        array_bytes=arrays.stat().st_size,
        line_bytes=len(lines),
        checksum=checksum(arrays),
        awaiting=rows if dimension and _has_no_vectors(notes) else 0,
        vectors=vectors,
    )


def list_members(
    notes: Sequence[NoteRow], *, fingerprint: str, dimension: int
) -> tuple[dict[str, Sequence[Array]], bytes]:
    """Return the arrays of a segment, in parts that are joined, and its JSON lines."""
    lines = b"".join(_lines(notes))
    members = _members(notes, _vectors(notes, dimension))
    members["fingerprint"] = [np.frombuffer(fingerprint.encode(), np.uint8)]
    members["lines_digest"] = [np.frombuffer(sha256(lines).digest(), np.uint8)]
    return members, lines


def _lines(notes: Sequence[NoteRow]) -> Iterator[bytes]:
    """Order of the JSONL: each note, then its chunks."""
    for note in notes:
        yield note.line
        for chunk in note.chunks:
            yield chunk.line


def _members(
    notes: Sequence[NoteRow], vectors: dict[str, Sequence[Array]]
) -> dict[str, Sequence[Array]]:
    """Return the members in the order in which they are written."""
    note_offsets, chunk_offsets = _offsets(notes)
    chunks = [chunk for note in notes for chunk in note.chunks]
    counts = [len(note.chunks) for note in notes]
    return {
        "vectors": vectors["vectors"],
        "chunk_note": [np.repeat(np.arange(len(notes), dtype=np.uint32), counts)],
        "chunk_lines": [_shaped([(c.first_line, c.last_line) for c in chunks], np.uint32, 2)],
        "chunk_digest": vectors["chunk_digest"],
        "chunk_offset": [smallest(np.array(chunk_offsets, np.int64))],
        "chunk_crc": [np.array([zlib.crc32(chunk.line) for chunk in chunks], np.uint32)],
        **_postings(chunks),
        **{
            member: [join_texts([getattr(note, field) for note in notes])]
            for member, field in TEXT_COLUMNS.items()
        },
        **{
            member: [np.array([getattr(note, member) for note in notes], dtype)]
            for member, dtype in NUMBER_COLUMNS.items()
        },
        "note_digest": [_digests([note.digest for note in notes])],
        "note_offset": [smallest(np.array(note_offsets, np.int64))],
        "note_crc": [np.array([zlib.crc32(note.line) for note in notes], np.uint32)],
        "days": [_shaped([note.days for note in notes], np.int32, len(NO_DAYS))],
        "stat": [_shaped([note.stat for note in notes], np.int64, 5)],
        **vectors,
    }


def _has_no_vectors(notes: Sequence[NoteRow]) -> bool:
    return any(note.chunks and not note.vectors[0].shape[1] for note in notes)


def _vectors(notes: Sequence[NoteRow], dimension: int) -> dict[str, Sequence[Array]]:
    members: dict[str, Sequence[Array]] = {}
    dimension = 0 if _has_no_vectors(notes) else dimension
    for place, (member, digests) in enumerate(VECTORS.items()):
        matrices = (note.vectors[place] for note in notes if note.chunks)
        members[member] = [np.zeros((0, dimension), np.float32), *matrices]
        chunks = (chunk for note in notes for chunk in note.chunks)
        members[digests] = [_digests([chunk.digests[place] for chunk in chunks])]
    return members


def _postings(chunks: Sequence[ChunkRow]) -> dict[str, Sequence[Array]]:
    members: dict[str, Sequence[Array]] = {}
    for place, field in enumerate(FIELDS):
        members |= pack_postings(field, [chunk.keys[place] for chunk in chunks])
    return members


def _offsets(notes: Sequence[NoteRow]) -> tuple[list[int], list[int]]:
    note_offsets, chunk_offsets, position = [], [], 0
    for note in notes:
        note_offsets.append(position)
        position += len(note.line)
        for chunk in note.chunks:
            chunk_offsets.append(position)
            position += len(chunk.line)
    return note_offsets, chunk_offsets


def _shaped(rows: Sequence[tuple[int, ...]], dtype: type, width: int) -> Array:
    return np.array(rows, dtype).reshape(len(rows), width)


def _digests(digests: Sequence[bytes]) -> Array:
    return np.frombuffer(b"".join(digests), np.uint8).reshape(len(digests), DIGEST_BYTES)


def write_filled(
    folder: Path,
    ref: SegmentRef,
    segment: Segment,
    matrices: Mapping[str, Array],
    without: NDArray[np.int64],
) -> SegmentRef:
    """Write a segment again with its vectors, and return how the commit record names it.

    The rows ``without`` one are dead; their digests go, by which a vector would be looked up.
    """
    arrays = {**segment.arrays, **matrices}
    for digests in segment.vector_members.values() if len(without) else ():
        arrays[digests] = arrays[digests].copy()
        arrays[digests][without] = 0
    members = {member: [array] for member, array in arrays.items()}
    path = write_content(folder, lambda file: write_arrays(file, members), SEGMENT)
    write_atomic(path.with_suffix(".jsonl"), bytes(segment.lines))
    return replace(
        ref,
        name=path.stem,
        array_bytes=path.stat().st_size,
        checksum=checksum(path),
        awaiting=0,
        vectors=(),
    )


def write_vectors(
    folder: Path, digests: Sequence[bytes], vectors: Sequence[Matrix], fingerprint: str
) -> str:
    """Write vectors beside the digests of their texts, and return the name of the file."""
    members: dict[str, Sequence[Array]] = {
        "chunk_digest": [_digests(digests)],
        "vectors": vectors,
        "fingerprint": [np.frombuffer(fingerprint.encode(), np.uint8)],
    }
    return write_content(folder, lambda file: write_arrays(file, members), "vec-{}.npz").stem

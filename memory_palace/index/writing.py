"""Write segments: from rows, again with vectors, or merged from older segments.

Small segments of like size are merged, and whatever is a tenth larger than it would be when written
anew is written again. ``segment`` reads them.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from memory_palace.index.commit import Commit, SegmentRef
from memory_palace.index.segment import (
    CONTENT,
    FIELDS,
    LOCAL_HEADER,
    META,
    NUMBER_COLUMNS,
    TEXT_COLUMNS,
    TOMBSTONE,
    Array,
    Fold,
    KeyCounts,
    Segment,
    checksum,
    fold_segments,
    group_rows,
    hash_key,
    open_segment,
)
from memory_palace.language.visible import visible
from memory_palace.models import ALWAYS, Matrix, Validity
from memory_palace.storage import write_atomic, write_content

if TYPE_CHECKING:
    from memory_palace.notes.note import Chunk, Note

PREVIEW_CHARACTERS = 200
DIGEST_BYTES = 16
NO_DAYS = (0, 0, 0, 0)
LARGE_ROWS = 16_384
"""Rows from which a segment is not merged because of its size. Also the rows of one batch of a
build: its memory grows with the batch, not with the vault."""
PILE = 8
"""Number of segments of one size tier that are merged, and the factor between tiers (log-structured
merge: each record is written again once per tier)."""
DEAD_SHARE = 0.1
"""Share of a segment, or of the small segments together, that is dead before it is rewritten. A
row takes 0.14 ms to rewrite, and 9 ms to make."""
_RECORD, _EMPTY = 0.125, 6
"""Bytes of a note record and of a segment without any, in rows."""
_MOST = 255
_PADDING_ID = 0xD935  # the extra-field id that zipalign uses for the same purpose
_BORDER = 64


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk to be written; its vector is in the note's matrix."""

    first_line: int
    last_line: int
    digest: bytes
    """The first 16 bytes of the digest of the text that is embedded."""
    line: bytes
    """Its JSON line: headings and preview."""
    keys: tuple[KeyCounts, ...]
    """Its terms: one value for each of ``FIELDS``."""


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
    """The type in the front matter, so that a changed manifest line needs no parsing."""
    priority: int = 0
    own_priority: int = 0
    aliases: str = ""
    """Values are separated by ``SEPARATOR`` here and in the next five."""
    targets: str = ""
    link_names: str = ""
    """Names that links give their targets: target, bar and name."""
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
    vectors: Matrix = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    """One row per chunk, without columns where they are yet to be made."""


def tombstone(path: str) -> NoteRow:
    """Return the record of a deleted note."""
    return NoteRow(path, TOMBSTONE)


def read_row(fold: Fold, place: int, *, kind: int) -> NoteRow:
    """Return the latest record of a live note as a row of ``kind``, without its chunks."""
    segment, record = fold.locate(int(fold.winners[place]))
    columns: dict[str, Any] = {
        field: segment.texts(member)[record] for member, field in TEXT_COLUMNS.items()
    }
    columns |= {member: segment.arrays[member][record].item() for member in NUMBER_COLUMNS}
    return NoteRow(
        **columns | {"path": fold.paths[place], "kind": kind},
        line=segment.read_line("note", record),
        digest=bytes(segment.arrays["note_digest"][record]),
        days=tuple(segment.arrays["days"][record].tolist()),
        stat=tuple(segment.arrays["stat"][record].tolist()),
    )


def with_chunks(row: NoteRow, segment: Segment, rows: Sequence[int]) -> NoteRow:
    """Return a record with its chunks, which are consecutive rows of a segment."""
    if not rows:
        return row
    lines, digests = segment.arrays["chunk_lines"], segment.arrays["chunk_digest"]
    chunks = tuple(
        ChunkRow(
            int(lines[i][0]),
            int(lines[i][1]),
            bytes(digests[i]),
            segment.read_line("chunk", i),
            tuple(keys[i] for keys in segment.row_keys),
        )
        for i in rows
    )
    return replace(row, chunks=chunks, vectors=segment.vectors[rows[0] : rows[-1] + 1])


def note_line(note: Note) -> bytes:
    """Return the JSON line of a note; the columns have the rest, empty values are left out."""
    kept = {
        "tags": note.tags,
        "entities": note.entities,
        "aliases": note.aliases,
        "links": [[k.target, k.line, k.heading, k.alias, k.is_embed] for k in note.links],
        "valid": _validity_line(note.validity),
        "problems": [[p.line, p.kind, p.message, p.is_failure] for p in note.problems],
    }
    return json_line({name: values for name, values in kept.items() if values})


def chunk_line(chunk: Chunk, before: Chunk | None = None) -> bytes:
    """Return the JSON line of a chunk: headings and preview.

    It is a list without field names, as a vault has one for every few sentences, and leaves out
    headings that equal those of the chunk ``before``. A validity with limits is appended.
    """
    headings = None if before and before.heading_path == chunk.heading_path else chunk.heading_path
    preview = visible(" ".join(chunk.text.split())[:PREVIEW_CHARACTERS])
    return json_line([headings, preview, *filter(None, [_validity_line(chunk.validity)])])


def _validity_line(validity: Validity) -> list[Any]:
    """Return a validity for a JSON line, an empty list where it is without limits."""
    if validity == ALWAYS:
        return []
    return [validity.valid_from, validity.valid_until, list(validity.superseded_by)]


def json_line(record: Mapping[str, Any] | Sequence[Any]) -> bytes:
    """Return one JSON line, the same bytes for the same record."""
    text = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return (text + "\n").encode()


def write_segment(
    folder: Path,
    notes: Sequence[NoteRow],
    commit: Commit,
    *,
    is_cold: bool,
    vectors: tuple[str, ...] = (),
) -> SegmentRef:
    """Write both files of a segment and return its reference for the commit record.

    ``commit`` has the recipe and the dimension. All rows have vectors, or none has; ``vectors``
    names files that have some.
    """
    members, lines = list_members(notes, commit)
    rows = sum(len(note.chunks) for note in notes)
    ref = SegmentRef(
        name="",
        is_cold=is_cold,
        rows=rows,
        notes=len(notes),
        dead_rows=0,
        array_bytes=0,
        line_bytes=len(lines),
        checksum=0,
        awaiting=rows if commit.dimension and _lack_vectors(notes) else 0,
        vectors=vectors,
    )
    return _write_files(folder, ref, members, lines)


def write_filled(
    folder: Path, ref: SegmentRef, segment: Segment, vectors: Matrix, without: NDArray[np.int64]
) -> SegmentRef:
    """Write a segment again with its vectors, and return its reference for the commit record.

    The rows ``without`` a vector are dead; their digests are zeroed so that no look-up finds them.
    """
    digests = segment.arrays["chunk_digest"].copy()
    digests[without] = 0
    arrays = {**segment.arrays, "vectors": vectors, "chunk_digest": digests}
    members = {member: [array] for member, array in arrays.items()}
    ref = replace(ref, awaiting=0, vectors=())
    return _write_files(folder, ref, members, bytes(segment.lines))


def _write_files(
    folder: Path, ref: SegmentRef, members: Mapping[str, Sequence[Array]], lines: bytes
) -> SegmentRef:
    """Write both files. Readers find the npz by a commit record, so the JSONL may follow it."""
    path = write_content(folder, lambda file: write_arrays(file, members), "seg-{}.npz")
    write_atomic(path.with_suffix(".jsonl"), lines)
    size = path.stat().st_size
    return replace(ref, name=path.stem, array_bytes=size, checksum=checksum(path))


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


def write_arrays(file: BinaryIO, members: Mapping[str, Sequence[Array]]) -> None:
    """Write each member as the concatenation of its parts, without joining them in memory.

    Parts of one member share dtype and trailing shape. The bytes depend on nothing but the
    members: names in order, no time stamps.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, parts in members.items():
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            start = file.tell() + LOCAL_HEADER + len(info.filename.encode())
            padding = -(start + 4) % _BORDER
            info.extra = struct.pack("<HH", _PADDING_ID, padding) + bytes(padding)
            shape = (sum(map(len, parts)), *parts[0].shape[1:])
            descr, header = npy.dtype_to_descr(parts[0].dtype), BytesIO()
            about = {"descr": descr, "fortran_order": False, "shape": shape}
            npy.write_array_header_1_0(header, about)
            with archive.open(info, "w") as member:
                member.write(header.getvalue())
                for part in parts:
                    member.write(np.ascontiguousarray(part).data)


def list_members(
    notes: Sequence[NoteRow], commit: Commit
) -> tuple[dict[str, Sequence[Array]], bytes]:
    """Return the arrays of a segment, in parts that are joined, and its JSON lines.

    The lines are those of each note, then of its chunks.
    """
    chunks = [chunk for note in notes for chunk in note.chunks]
    counts = [len(note.chunks) for note in notes]
    width = 0 if _lack_vectors(notes) else commit.dimension
    lines: list[bytes] = []
    is_note: list[bool] = []
    for note in notes:
        lines += [note.line, *(chunk.line for chunk in note.chunks)]
        is_note += [True, *(False for _ in note.chunks)]
    starts, notes_first = np.cumsum([0, *map(len, lines)])[:-1], np.array(is_note, np.bool_)
    joined = b"".join(lines)
    members: dict[str, Sequence[Array]] = {
        "vectors": [
            np.zeros((0, width), np.float32),
            *(note.vectors for note in notes if note.chunks),
        ],
        "chunk_note": [np.repeat(np.arange(len(notes), dtype=np.uint32), counts)],
        "chunk_lines": [_shaped([(c.first_line, c.last_line) for c in chunks], np.uint32, 2)],
        "chunk_digest": [_digests([chunk.digest for chunk in chunks])],
        "chunk_offset": [_smallest(starts[~notes_first])],
        "chunk_crc": [np.array([zlib.crc32(chunk.line) for chunk in chunks], np.uint32)],
    }
    for place, name in enumerate(FIELDS):
        members |= pack_postings(name, [chunk.keys[place] for chunk in chunks])
    for member, name in TEXT_COLUMNS.items():
        # One NUL stands after each text; a NUL inside one is dropped.
        texts = [getattr(note, name).replace("\0", "") + "\0" for note in notes]
        members[member] = [np.frombuffer("".join(texts).encode(), np.uint8)]
    for member, dtype in NUMBER_COLUMNS.items():
        members[member] = [np.array([getattr(note, member) for note in notes], dtype)]
    members |= {
        "note_digest": [_digests([note.digest for note in notes])],
        "note_offset": [_smallest(starts[notes_first])],
        "note_crc": [np.array([zlib.crc32(note.line) for note in notes], np.uint32)],
        "days": [_shaped([note.days for note in notes], np.int32, len(NO_DAYS))],
        "stat": [_shaped([note.stat for note in notes], np.int64, 5)],
        "fingerprint": [np.frombuffer(commit.fingerprint.encode(), np.uint8)],
        "lines_digest": [np.frombuffer(sha256(joined).digest(), np.uint8)],
    }
    return members, joined


def count_keys(terms: Iterable[str]) -> KeyCounts:
    """Return the keys and counts of the terms of one row."""
    counted = Counter(terms)
    keys = np.fromiter(map(hash_key, counted), np.uint64, len(counted))
    counts = np.minimum(np.fromiter(counted.values(), np.int64, len(counted)), _MOST)
    order = np.argsort(keys)
    return KeyCounts(keys[order], counts[order].astype(np.uint8))


def pack_postings(field: str, rows: Sequence[KeyCounts]) -> dict[str, Sequence[Array]]:
    """Return the posting lists of a field from the keys of all rows, as members of a segment.

    Rows and sizes have the smallest types that hold them; counts that are all 1 are left out.
    """
    keys = np.concatenate([np.zeros(0, np.uint64), *(row.keys for row in rows)])
    counts = np.concatenate([np.zeros(0, np.uint8), *(row.counts for row in rows)])
    owners = np.repeat(np.arange(len(rows)), [len(row.keys) for row in rows])
    lengths = np.bincount(owners, counts, len(rows)).astype(np.int64)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.append(np.ones(1, np.bool_), keys[1:] != keys[:-1]))[: len(keys)]
    return {
        f"{field}_keys": [keys[starts]],
        f"{field}_sizes": [_smallest(np.diff(np.append(starts, len(keys))))],
        f"{field}_rows": [owners[order].astype(np.min_scalar_type(max(len(rows), 1)))],
        f"{field}_counts": [counts[order] if (counts != 1).any() else counts[:0]],
        f"{field}_lengths": [_smallest(lengths)],
    }


def _smallest(numbers: Array) -> Array:
    """Return numbers in the smallest unsigned type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def _lack_vectors(notes: Sequence[NoteRow]) -> bool:
    return any(note.chunks and not note.vectors.shape[1] for note in notes)


def _shaped(rows: Sequence[tuple[int, ...]], dtype: type, width: int) -> Array:
    return np.array(rows, dtype).reshape(len(rows), width)


def _digests(digests: Sequence[bytes]) -> Array:
    return np.frombuffer(b"".join(digests), np.uint8).reshape(len(digests), DIGEST_BYTES)


def compact(folder: Path, draft: Commit, opened: dict[str, Segment]) -> tuple[SegmentRef, ...]:
    """Merge each zone until no size tier is full and nothing is a tenth too large.

    Return the segments left. ``opened`` maps names to mapped segments, and gains those opened
    here.
    """
    done: list[SegmentRef] = []
    for is_cold in (False, True):
        zone = [ref for ref in draft.segments if ref.is_cold == is_cold]
        while True:
            for ref in zone:
                if ref.name not in opened:
                    opened[ref.name] = open_segment(folder, ref)
            fold = fold_segments([opened[ref.name] for ref in zone])
            dead = (int(np.count_nonzero(notes < 0)) for notes in fold.row_notes())
            zone = [replace(ref, dead_rows=count) for ref, count in zip(zone, dead, strict=True)]
            chosen = _choose(zone, fold)
            if not chosen:
                break
            rows = _merge(fold, {zone[place].name for place in chosen})
            # By place: a merged segment may have the name of a segment that was there before.
            before = [ref for place, ref in enumerate(zone[: chosen[-1]]) if place not in chosen]
            zone = [*before, *zone[chosen[-1] + 1 :]]
            if rows:
                zone.insert(len(before), write_segment(folder, rows, draft, is_cold=is_cold))
        done += zone
    return tuple(done)


def _choose(zone: Sequence[SegmentRef], fold: Fold) -> list[int]:
    """Return the places of the segments to merge next, ascending; empty if there are none.

    First those that would be a tenth smaller as one: the smallest, up to ``LARGE_ROWS`` together,
    or one of the others alone.
    """
    owners, winners = (
        np.searchsorted(fold.starts, records, side="right") - 1
        for records in (fold.owners, fold.winners)
    )
    order = sorted(range(len(zone)), key=lambda place: zone[place].rows)
    rows = np.cumsum([zone[place].rows for place in order])
    few = int(np.count_nonzero(rows <= LARGE_ROWS))
    for group in filter(None, (order[:few], *([place] for place in order[few:]))):
        segments = [(zone[place], fold.segments[place]) for place in group]
        size = sum(ref.rows + ref.notes * _RECORD + _EMPTY for ref, _ in segments)
        kept = np.count_nonzero(np.isin(owners, group) | np.isin(winners, group))
        gone = sum(np.count_nonzero(s.arrays["kind"] == TOMBSTONE) for _, s in segments)
        live = sum(ref.rows - ref.dead_rows for ref, _ in segments)
        if live + (kept + gone) * _RECORD + _EMPTY < (1 - DEAD_SHARE) * size:
            return sorted(group)
    piles: dict[int, list[int]] = {}
    for place, ref in enumerate(zone):
        size = max(ref.rows, ref.notes, 1)
        if size < LARGE_ROWS:
            piles.setdefault(int(np.log2(size)) // 3, []).append(place)
    full = [pile for pile in piles.values() if len(pile) >= PILE]
    return full[0] if full else []


def _merge(fold: Fold, names: set[str]) -> list[NoteRow]:
    """Return the live records of some segments, in path order.

    A note whose chunks are in them is written with its latest record, wherever that is, so that
    the merged segment may stand anywhere after its parts. A tombstone is kept only while some other
    segment still has a record of its path.
    """
    parts = [segment for segment in fold.segments if segment.name in names]
    rows_of = {segment.name: group_rows(segment.arrays["chunk_note"]) for segment in parts}
    is_chosen = np.array([segment.name in names for segment in fold.segments])
    owned = is_chosen[np.searchsorted(fold.starts, fold.owners, side="right") - 1]
    described = is_chosen[np.searchsorted(fold.starts, fold.winners, side="right") - 1]
    rows: list[NoteRow] = []
    for place in np.flatnonzero(owned | described).tolist():
        if owned[place]:
            owner, record = fold.locate(int(fold.owners[place]))
            row = read_row(fold, place, kind=CONTENT)
            rows.append(with_chunks(row, owner, rows_of[owner.name].get(record, [])))
        else:
            rows.append(read_row(fold, place, kind=META))
    others = {path for s in fold.segments if s.name not in names for path in s.texts("paths")}
    gone = {
        path
        for segment in parts
        for path, kind in zip(segment.texts("paths"), segment.arrays["kind"].tolist(), strict=True)
        if kind == TOMBSTONE
    }
    rows += [tombstone(path) for path in gone & others - set(fold.paths)]
    return sorted(rows, key=lambda row: row.path)

"""One immutable segment: its rows, how they are written, and how they are read.

Records and vectors are arrays, what is shown of them is JSON lines; see references/index-format.md.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import IndexDamagedError
from memory_palace.index.arrays import (
    FIELDS,
    Array,
    KeyCounts,
    checksum,
    find_key,
    list_starts,
    map_arrays,
    pack_postings,
    smallest,
    unpack_postings,
    write_arrays,
)
from memory_palace.index.commit import SegmentRef
from memory_palace.language.visible import visible
from memory_palace.models import (
    ALWAYS,
    ChunkRecord,
    DateSource,
    Link,
    Matrix,
    NoteRecord,
    Priority,
    Problem,
    Validity,
)
from memory_palace.storage import is_named_by_content, write_atomic, write_content

if TYPE_CHECKING:
    from memory_palace.notes.note import Chunk, Note

CONTENT, META, TOMBSTONE = 0, 1, 2
"""Kinds of note records: with the note's chunks; with a changed record alone; of a note gone."""

SOURCES: tuple[DateSource, ...] = ("front matter", "file name", "git", "mtime")
PRIORITIES: tuple[Priority | Literal[""], ...] = ("", "low", "medium", "high")
EVERGREEN, PRIVATE, HAS_PROBLEMS, COPY = 1, 2, 4, 8
PREVIEW_CHARACTERS = 200
DIGEST_BYTES = 16
NO_DAYS = (0, 0, 0, 0)
LARGE_ROWS = 16_384
"""From here on a segment is left alone until a quarter of it is dead. It is also how many rows
a build embeds before it writes: the memory a build needs grows with it, not with the vault."""
SEPARATOR = "\x1f"
"""Stands between the values of a text column."""


class STAT(IntEnum):
    """Columns of the ``stat`` member, the only one that two builds differ in."""

    size, mtime_ns, ctime_ns, inode, changed_ns = range(5)


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
    """Its terms: one value for each of ``arrays.FIELDS``."""


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
_MEMBERS = frozenset(
    "fingerprint kind paths stat note_digest note_offset note_crc vectors chunk_note chunk_lines "
    "chunk_digest chunk_offset chunk_crc lines_digest".split()
)
"""Members of every segment; a file without them is none."""


def tombstone(path: str) -> NoteRow:
    """Return the record that says a note is gone."""
    return NoteRow(path, TOMBSTONE)


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


def note_record(line: dict[str, Any], **columns: Any) -> NoteRecord:
    """Join a note's line with its columns."""
    return NoteRecord(
        validity=_read_validity(line["valid"]) if "valid" in line else ALWAYS,
        tags=tuple(line.get("tags", ())),
        aliases=tuple(line.get("aliases", ())),
        entities=tuple(line.get("entities", ())),
        links=tuple(Link(*link) for link in line.get("links", ())),
        problems=tuple(Problem(columns["path"], *problem) for problem in line.get("problems", ())),
        **columns,
    )


def chunk_line(chunk: Chunk, before: Chunk | None = None) -> bytes:
    """Return the JSON line of a chunk: headings and preview.

    There is a line for every few sentences of a vault, so it names no fields, and leaves out
    headings that the chunk ``before`` it in the same note has too. A superseded claim says it.
    """
    headings = None if before and before.heading_path == chunk.heading_path else chunk.heading_path
    preview = visible(" ".join(chunk.text.split())[:PREVIEW_CHARACTERS])
    return json_line([headings, preview, *filter(None, [_validity_line(chunk.validity)])])


def chunk_record(
    line: Sequence[Any], path: str, lines: Sequence[int], digest: bytes
) -> ChunkRecord:
    """Join a chunk's line with its columns: first and last line, and digest."""
    first, last = int(lines[0]), int(lines[1])
    heading, preview, *valid = line
    known = map(_read_validity, valid)
    return ChunkRecord(path, tuple(heading), first, last, digest.hex(), preview, *known)


def _validity_line(validity: Validity) -> list[Any]:
    """Return a validity for a JSON line, an empty list where it is without limits."""
    if validity == ALWAYS:
        return []
    return [validity.valid_from, validity.valid_until, list(validity.superseded_by)]


def _read_validity(line: Sequence[Any]) -> Validity:
    first, last, heirs = line
    return Validity(first, last, tuple(heirs))


def json_line(record: Mapping[str, Any] | Sequence[Any]) -> bytes:
    """Return one JSON line, the same bytes for the same record."""
    text = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return (text + "\n").encode()


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
    """
    members, lines = list_members(notes, fingerprint=fingerprint, dimension=dimension)
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
        awaiting=rows if dimension and _lack_vectors(notes) else 0,
        vectors=vectors,
    )
    return _write_files(folder, ref, members, lines)


def write_filled(
    folder: Path, ref: SegmentRef, segment: Segment, vectors: Matrix, without: NDArray[np.int64]
) -> SegmentRef:
    """Write a segment again with its vectors, and return how the commit record names it.

    The rows ``without`` one are dead; their digests go, by which a vector would be looked up.
    """
    digests = segment["chunk_digest"].copy()
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


def list_members(
    notes: Sequence[NoteRow], *, fingerprint: str, dimension: int
) -> tuple[dict[str, Sequence[Array]], bytes]:
    """Return the arrays of a segment, in parts that are joined, and its JSON lines.

    The lines are those of each note, then of its chunks.
    """
    chunks = [chunk for note in notes for chunk in note.chunks]
    counts = [len(note.chunks) for note in notes]
    width = 0 if _lack_vectors(notes) else dimension
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
        "chunk_offset": [smallest(starts[~notes_first])],
        "chunk_crc": [np.array([zlib.crc32(chunk.line) for chunk in chunks], np.uint32)],
    }
    for place, name in enumerate(FIELDS):
        members |= pack_postings(name, [chunk.keys[place] for chunk in chunks])
    for member, name in TEXT_COLUMNS.items():
        members[member] = [_join_texts([getattr(note, name) for note in notes])]
    for member, dtype in NUMBER_COLUMNS.items():
        members[member] = [np.array([getattr(note, member) for note in notes], dtype)]
    members |= {
        "note_digest": [_digests([note.digest for note in notes])],
        "note_offset": [smallest(starts[notes_first])],
        "note_crc": [np.array([zlib.crc32(note.line) for note in notes], np.uint32)],
        "days": [_shaped([note.days for note in notes], np.int32, len(NO_DAYS))],
        "stat": [_shaped([note.stat for note in notes], np.int64, 5)],
        "fingerprint": [np.frombuffer(fingerprint.encode(), np.uint8)],
        "lines_digest": [np.frombuffer(sha256(joined).digest(), np.uint8)],
    }
    return members, joined


def _lack_vectors(notes: Sequence[NoteRow]) -> bool:
    return any(note.chunks and not note.vectors.shape[1] for note in notes)


def _shaped(rows: Sequence[tuple[int, ...]], dtype: type, width: int) -> Array:
    return np.array(rows, dtype).reshape(len(rows), width)


def _digests(digests: Sequence[bytes]) -> Array:
    return np.frombuffer(b"".join(digests), np.uint8).reshape(len(digests), DIGEST_BYTES)


def _join_texts(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Pack strings into bytes, one NUL after each; a NUL inside one is dropped."""
    packed = "".join(text.replace("\0", "") + "\0" for text in texts)
    return np.frombuffer(packed.encode(), np.uint8)


class Segment:
    """The arrays and lines of a segment, mapped from its files or made in memory."""

    def __init__(
        self,
        lines_path: Path,
        arrays: Mapping[str, Array],
        lines: bytes | mmap.mmap,
        *,
        is_cold: bool,
    ) -> None:
        self.name = lines_path.stem
        self.is_cold = is_cold
        self.arrays, self.lines = arrays, lines
        self.lacking: NDArray[np.bool_] | None = None
        """The rows that have no vector yet; ``None`` where every row has one."""
        self._lines_path = lines_path
        self._texts: dict[str, list[str]] = {}
        self._starts: dict[str, Array] = {}
        self._headed: tuple[int, list[str]] = (-1, [])

    def __getitem__(self, column: str) -> Array:
        return self.arrays[column]

    def with_vectors(self, vectors: Matrix, lacking: NDArray[np.bool_] | None) -> Segment:
        """Return the same segment with other vectors, and the rows that still lack one."""
        filled = copy(self)
        filled.arrays, filled.lacking = {**self.arrays, "vectors": vectors}, lacking
        return filled

    @property
    def vectors(self) -> Matrix:
        """Unit vectors, shape ``(rows, dimension)``."""
        vectors: Matrix = self.arrays["vectors"]
        return vectors

    @property
    def rows(self) -> int:
        """Number of chunks in it, dead ones included."""
        return len(self.arrays["vectors"])

    @property
    def notes(self) -> int:
        """Number of note records in it."""
        return len(self.arrays["kind"])

    @property
    def paths(self) -> list[str]:
        """The path of every note record."""
        return self.texts("paths")

    def texts(self, column: str) -> list[str]:
        """Decode a text column, one string per note record; decoded once."""
        if column not in self._texts:
            self._texts[column] = bytes(self.arrays[column]).decode().split("\0")[: self.notes]
        return self._texts[column]

    @property
    def postings_bytes(self) -> int:
        """Bytes of what its rows are found by."""
        fields = tuple(f"{field}_" for field in FIELDS)
        return sum(a.nbytes for name, a in self.arrays.items() if name.startswith(fields))

    @cached_property
    def row_keys(self) -> list[list[KeyCounts]]:
        """For each of ``arrays.FIELDS`` the keys of every row."""
        return [unpack_postings(self.arrays, field, self.rows) for field in FIELDS]

    def find(self, field: str, key: int) -> tuple[Array, Array]:
        """Return the rows that hold a key, dead ones included, and how often each does."""
        if field not in self._starts:
            self._starts[field] = list_starts(self.arrays, field)
        return find_key(self.arrays, field, key, starts=self._starts[field])

    def with_chunks(self, row: NoteRow, rows: Sequence[int]) -> NoteRow:
        """Return a record with its chunks, which are consecutive rows here."""
        if not rows:
            return row
        chunks = tuple(
            ChunkRow(
                int(self["chunk_lines"][i][0]),
                int(self["chunk_lines"][i][1]),
                bytes(self["chunk_digest"][i]),
                self.chunk_bytes(i),
                tuple(keys[i] for keys in self.row_keys),
            )
            for i in rows
        )
        return replace(row, chunks=chunks, vectors=self.vectors[rows[0] : rows[-1] + 1])

    def note_line(self, note: int) -> dict[str, Any]:
        """Read what is shown of a note record."""
        line: dict[str, Any] = json.loads(self.note_bytes(note))
        return line

    def chunk_line(self, row: int) -> list[Any]:
        """Read what is shown of a chunk; headings that are left out are those of the one before."""
        line: list[Any] = json.loads(self.chunk_bytes(row))
        above = row
        while line[0] is None:
            above -= 1
            known, headings = self._headed  # read in order, a long note is not read back each time
            line[0] = headings if known == above else json.loads(self.chunk_bytes(above))[0]
        self._headed = row, line[0]
        return line

    def note_bytes(self, note: int) -> bytes:
        """Read the JSON line of a note record as it stands."""
        return self._read_line(int(self["note_offset"][note]), int(self["note_crc"][note]))

    def chunk_bytes(self, row: int) -> bytes:
        """Read the JSON line of a chunk as it stands."""
        return self._read_line(int(self["chunk_offset"][row]), int(self["chunk_crc"][row]))

    def _read_line(self, offset: int, crc: int) -> bytes:
        line = self.lines[offset : self.lines.find(b"\n", offset) + 1]
        if zlib.crc32(line) != crc:
            raise damaged(self._lines_path.name, "does not match its checksum")
        return line

    def verify(self) -> None:
        """Raise ``IndexDamagedError`` unless both files match their SHA-256."""
        arrays = self._lines_path.with_suffix(".npz")
        if not is_named_by_content(arrays):
            raise damaged(arrays.name, "does not match its SHA-256")
        if sha256(self.lines).digest() != bytes(self["lines_digest"]):
            raise damaged(self._lines_path.name, "does not match its SHA-256")


def open_segment(folder: Path, ref: SegmentRef) -> Segment:
    """Map a committed segment after checking its size and checksum.

    Arrays are read-only views of the file. The JSONL is mapped as well, and not opened again: a
    writer may sweep it at any moment.
    """
    path, lines = folder / f"{ref.name}.npz", folder / f"{ref.name}.jsonl"
    try:
        if lines.stat().st_size != ref.line_bytes:
            raise damaged(lines.name, "does not have the size it was committed with")
        if path.stat().st_size != ref.array_bytes:
            raise damaged(path.name, "does not have the size it was committed with")
        if checksum(path) != ref.checksum:
            raise damaged(path.name, "does not match its checksum")
        segment = Segment(lines, map_arrays(path), _map_bytes(lines), is_cold=ref.is_cold)
        if not segment.arrays.keys() >= _MEMBERS:
            raise damaged(path.name, "is a file of another kind")
        return _fill_segment(segment, folder, ref.vectors) if ref.awaiting else segment
    except FileNotFoundError as error:
        raise damaged(Path(error.filename).name, "is missing") from None
    except ValueError as error:
        raise damaged(path.name, str(error)) from error


def _fill_segment(segment: Segment, folder: Path, names: Sequence[str]) -> Segment:
    """Return a segment that was published without vectors with those that some files have.

    A file that is damaged counts for none.
    """
    sources: list[Mapping[str, Array]] = []
    for name in names:
        with suppress(OSError, ValueError):
            if is_named_by_content(path := folder / f"{name}.npz"):
                sources.append(map_arrays(path))
    if not sources:
        return segment.with_vectors(segment.vectors, np.ones(segment.rows, np.bool_))
    keys = np.concatenate([np.ascontiguousarray(s["chunk_digest"]).view("<u8") for s in sources])
    found = np.concatenate([source["vectors"] for source in sources])
    order = np.argsort(keys[:, 0], kind="stable")
    wanted = np.ascontiguousarray(segment["chunk_digest"]).view("<u8")
    place = np.searchsorted(keys[order, 0], wanted[:, 0])
    place = order[np.minimum(place, len(order) - 1)]
    known = (keys[place] == wanted).all(axis=1)
    vectors = np.zeros((segment.rows, found.shape[1]), np.float32)
    vectors[known] = found[place[known]]
    return segment.with_vectors(vectors, ~known)


def _map_bytes(path: Path) -> bytes | mmap.mmap:
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def damaged(name: str, why: str) -> IndexDamagedError:
    """Name a file of the index that cannot be trusted, and the command that mends it."""
    return IndexDamagedError(f"index file {name} {why}; run `palace index --verify` to mend it")

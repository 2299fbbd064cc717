"""Read immutable segments: map their arrays and JSON lines, and fold them into live notes.

The arrays are an ordinary ``.npz`` whose members are stored on 64-byte borders. ``numpy.load``
reads it, but ignores ``mmap_mode`` for archives; ``map_arrays`` maps each member itself, in about a
millisecond whatever its size. Posting lists say which rows hold a key. Keys are 64-bit digests: of
a million terms two are equal with a chance of one in thirty million. See references/index-format.md
for every member, and ``writing`` for how it is written.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import IndexDamagedError
from memory_palace.index.commit import SegmentRef
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
from memory_palace.storage import is_named_by_content

Array = NDArray[Any]

CONTENT, META, TOMBSTONE = 0, 1, 2
"""Kinds of note records: a note with its chunks; changed metadata alone; a deleted note."""
SOURCES: tuple[DateSource, ...] = ("front matter", "file name", "git", "mtime")
PRIORITIES: tuple[Priority | Literal[""], ...] = ("", "low", "medium", "high")
EVERGREEN, PRIVATE, HAS_PROBLEMS, COPY = 1, 2, 4, 8
SEPARATOR = "\x1f"
"""Separates the values of a text column."""
FIELDS = ("words", "names", "extras", "facts")
"""Posting fields: the words of a passage; the words of its note's names, at the first passage
alone; describing words; extracted facts."""
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
"""Members that every segment has; files without them are refused."""
_NO_KEYS: NDArray[np.uint64] = np.zeros(0, np.uint64)


class STAT(IntEnum):
    """Columns of the ``stat`` member, the only one that differs between builds of equal notes."""

    size, mtime_ns, ctime_ns, inode, changed_ns = range(5)


class KeyCounts(NamedTuple):
    """The keys of one row in ascending order, and how often it holds each, 255 at most."""

    keys: NDArray[np.uint64]
    counts: NDArray[np.uint8]


def same_keys(first: Sequence[KeyCounts], second: Sequence[KeyCounts]) -> bool:
    """Whether two rows hold the same keys equally often in every field."""
    return all(
        np.array_equal(one.keys, other.keys) and np.array_equal(one.counts, other.counts)
        for one, other in zip(first, second, strict=True)
    )


@lru_cache(maxsize=1 << 15)
def hash_key(*parts: str) -> int:
    """Return the key of a term, or of a fact given by its kind and key."""
    return int.from_bytes(blake2b(fact_term(*parts).encode(), digest_size=8).digest(), "little")


def fact_term(*parts: str) -> str:
    """Return the posting term of a fact, of its kind and key; of another term the term itself."""
    return "\x1f".join(parts)


class Segment:
    """The arrays and lines of a segment, mapped from its files or made in memory."""

    def __init__(
        self,
        lines_path: Path,
        arrays: Mapping[str, Array],
        lines: bytes | mmap.mmap,
        *,
        is_cold: bool,
        lacking: NDArray[np.bool_] | None = None,
    ) -> None:
        self.name = lines_path.stem
        self.is_cold = is_cold
        self.arrays, self.lines = arrays, lines
        self.vectors: Matrix = arrays["vectors"]
        """Unit vectors, shape ``(rows, dimension)``."""
        self.rows, self.notes = len(self.vectors), len(arrays["kind"])
        """Numbers of chunks and of note records in it, dead ones included."""
        self.lacking = lacking
        """The rows that have no vector yet; ``None`` where every row has one."""
        self._lines_path = lines_path
        self._texts: dict[str, list[str]] = {}
        self._starts: dict[str, Array] = {}
        self._headed: tuple[int, list[str]] = (-1, [])

    def with_vectors(self, vectors: Matrix, lacking: NDArray[np.bool_] | None) -> Segment:
        """Return the same segment with other vectors, and the rows that still lack one."""
        arrays = {**self.arrays, "vectors": vectors}
        return Segment(self._lines_path, arrays, self.lines, is_cold=self.is_cold, lacking=lacking)

    def texts(self, column: str) -> list[str]:
        """Return a text column, one string per note record; decoded once."""
        if column not in self._texts:
            self._texts[column] = bytes(self.arrays[column]).decode().split("\0")[: self.notes]
        return self._texts[column]

    def find(self, field: str, key: int) -> tuple[Array, Array]:
        """Return the posting list of a key: ascending rows, dead ones too, and their counts."""
        keys: Array = self.arrays[f"{field}_keys"]
        place = int(keys.searchsorted(np.uint64(key)))  # the function would take twice as long
        if place == len(keys) or int(keys[place]) != key:
            return _NO_KEYS, _NO_KEYS
        if field not in self._starts:
            sizes = self.arrays[f"{field}_sizes"]
            self._starts[field] = np.zeros(len(sizes) + 1, np.int64)
            np.cumsum(sizes, out=self._starts[field][1:])
        part = slice(*self._starts[field][place : place + 2].tolist())
        rows, counts = self.arrays[f"{field}_rows"][part], self.arrays[f"{field}_counts"]
        return rows, counts[part] if len(counts) else np.ones(len(rows), np.uint8)

    @cached_property
    def row_keys(self) -> list[list[KeyCounts]]:
        """The keys of every row, for each of ``FIELDS``."""
        return [self._unpack(field) for field in FIELDS]

    def _unpack(self, field: str) -> list[KeyCounts]:
        owners = self.arrays[f"{field}_rows"]
        keys = np.repeat(self.arrays[f"{field}_keys"], self.arrays[f"{field}_sizes"])
        order = np.argsort(owners, kind="stable")
        ends = np.cumsum(np.bincount(owners, minlength=self.rows))[:-1]
        counts = self.arrays[f"{field}_counts"]
        counts = counts[order] if len(counts) else np.ones(len(order), np.uint8)
        pairs = zip(np.split(keys[order], ends), np.split(counts, ends), strict=True)
        return [KeyCounts(*pair) for pair in pairs][: self.rows]

    def chunk_line(self, row: int) -> list[Any]:
        """Return the JSON line of a chunk; omitted headings are taken from the chunk before it."""
        line: list[Any] = json.loads(self.read_line("chunk", row))
        above = row
        while line[0] is None:
            above -= 1
            known, headings = self._headed  # read in order, a long note is not read back each time
            line[0] = headings if known == above else json.loads(self.read_line("chunk", above))[0]
        self._headed = row, line[0]
        return line

    def read_line(self, kind: str, place: int) -> bytes:
        """Return the raw JSON line of a ``note`` or ``chunk``; raise if its CRC is wrong."""
        offset = int(self.arrays[f"{kind}_offset"][place])
        line = self.lines[offset : self.lines.find(b"\n", offset) + 1]
        if zlib.crc32(line) != int(self.arrays[f"{kind}_crc"][place]):
            raise damaged(self._lines_path.name, "does not match its checksum")
        return line

    def verify(self) -> None:
        """Raise ``IndexDamagedError`` unless both files match their SHA-256."""
        arrays = self._lines_path.with_suffix(".npz")
        if not is_named_by_content(arrays):
            raise damaged(arrays.name, "does not match its SHA-256")
        if sha256(self.lines).digest() != bytes(self.arrays["lines_digest"]):
            raise damaged(self._lines_path.name, "does not match its SHA-256")


@dataclass(frozen=True, slots=True)
class Fold:
    """Live notes of one zone, in path order. Record ids count through all segments in order."""

    segments: tuple[Segment, ...]
    starts: NDArray[np.int64]
    """First record id of each segment, and one more for the end."""
    paths: list[str]
    winners: NDArray[np.int64]
    """Record id of each note's latest record."""
    owners: NDArray[np.int64]
    """Record id of the content record that holds each note's chunks."""

    def column(self, name: str) -> Array:
        """Return one value per live note, from its latest record."""
        if not self.segments:
            return np.zeros(0, np.int64)
        joined = [segment.arrays[name] for segment in self.segments]
        column: Array = np.concatenate(joined)[self.winners]
        return column

    def texts(self, name: str) -> list[str]:
        """Return one string per live note, from its latest record."""
        joined = [text for segment in self.segments for text in segment.texts(name)]
        return [joined[record] for record in self.winners.tolist()]

    def locate(self, record: int) -> tuple[Segment, int]:
        """Return the segment of a record id, and its index in the segment."""
        number = int(np.searchsorted(self.starts, record, side="right")) - 1
        return self.segments[number], record - int(self.starts[number])

    def changed_ns(self, place: int) -> int:
        """Return when the content of a live note last changed, by its mtime at that moment."""
        segment, record = self.locate(int(self.winners[place]))
        return int(segment.arrays["stat"][record][STAT.changed_ns])

    def row_notes(self) -> list[NDArray[np.int32]]:
        """Return for each segment the note index of every row, -1 for dead rows."""
        note_of_record = np.full(int(self.starts[-1]), -1, np.int32)
        note_of_record[self.owners] = np.arange(len(self.paths), dtype=np.int32)
        return [
            note_of_record[start : start + segment.notes][segment.arrays["chunk_note"]]
            for segment, start in zip(self.segments, self.starts.tolist(), strict=False)
        ]


def fold_segments(segments: Sequence[Segment]) -> Fold:
    """Fold segments, oldest first: a later record of a path wins, a tombstone removes it."""
    starts = np.cumsum([0, *(segment.notes for segment in segments)]).astype(np.int64)
    latest: dict[str, int] = {}
    content: dict[str, int] = {}
    gone: set[str] = set()
    for segment, start in zip(segments, starts.tolist(), strict=False):
        kinds, paths = segment.arrays["kind"], segment.texts("paths")
        records = range(start, start + segment.notes)
        latest.update(zip(paths, records, strict=True))
        if not kinds.any():
            content.update(zip(paths, records, strict=True))
            gone.difference_update(paths)
            continue
        for path, record, kind in zip(paths, records, kinds.tolist(), strict=True):
            if kind == CONTENT:
                content[path] = record
            (gone.add if kind == TOMBSTONE else gone.discard)(path)
    live = sorted(path for path in latest if path not in gone and path in content)
    winners = np.fromiter((latest[path] for path in live), np.int64, len(live))
    owners = np.fromiter((content[path] for path in live), np.int64, len(live))
    return Fold(tuple(segments), starts, live, winners, owners)


def group_rows(notes: NDArray[np.integer]) -> dict[int, list[int]]:
    """Return the rows of each note, given the note of each row, -1 for a row of none."""
    rows: dict[int, list[int]] = {}
    for row, note in enumerate(notes.tolist()):
        if note >= 0:
            rows.setdefault(note, []).append(row)
    return rows


def note_record(data: bytes, **columns: Any) -> NoteRecord:
    """Join a note's JSON line with its columns."""
    line = json.loads(data)
    return NoteRecord(
        validity=_read_validity(line["valid"]) if "valid" in line else ALWAYS,
        tags=tuple(line.get("tags", ())),
        aliases=tuple(line.get("aliases", ())),
        entities=tuple(line.get("entities", ())),
        links=tuple(Link(*link) for link in line.get("links", ())),
        problems=tuple(Problem(columns["path"], *problem) for problem in line.get("problems", ())),
        **columns,
    )


def chunk_record(
    line: Sequence[Any], path: str, lines: Sequence[int], digest: bytes
) -> ChunkRecord:
    """Join a chunk's line with its columns: first and last line, and digest."""
    heading, preview, *valid = line
    known, (first, last) = map(_read_validity, valid), map(int, lines)
    return ChunkRecord(path, tuple(heading), first, last, digest.hex(), preview, *known)


def _read_validity(line: Sequence[Any]) -> Validity:
    first, last, heirs = line
    return Validity(first, last, tuple(heirs))


def open_segment(folder: Path, ref: SegmentRef) -> Segment:
    """Map a committed segment after checking its size and checksum.

    Arrays are read-only views of the file. The JSONL is mapped as well, and not opened again: a
    writer may sweep it at any moment.
    """
    path, lines = folder / f"{ref.name}.npz", folder / f"{ref.name}.jsonl"
    try:
        for file, size in ((lines, ref.line_bytes), (path, ref.array_bytes)):
            if file.stat().st_size != size:
                raise damaged(file.name, "does not have the size it was committed with")
        if checksum(path) != ref.checksum:
            raise damaged(path.name, "does not match its checksum")
        arrays = map_arrays(path)
        if not arrays.keys() >= _MEMBERS:
            raise damaged(path.name, "is a file of another kind")
        segment = Segment(lines, arrays, _map_bytes(lines), is_cold=ref.is_cold)
        return _fill_segment(segment, folder, ref.vectors) if ref.awaiting else segment
    except FileNotFoundError as error:
        raise damaged(Path(error.filename).name, "is missing") from None
    except ValueError as error:
        raise damaged(path.name, str(error)) from error


def _fill_segment(segment: Segment, folder: Path, names: Sequence[str]) -> Segment:
    """Return a segment published without vectors, with the vectors that some files have.

    Damaged files are ignored.
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
    wanted = np.ascontiguousarray(segment.arrays["chunk_digest"]).view("<u8")
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
    """Return the error for a damaged file of the index, with the command that mends it."""
    return IndexDamagedError(f"index file {name} {why}; run `palace index --verify` to mend it")


def checksum(path: Path) -> int:
    """Return the wrapping sum of a file's 64-bit words: any flipped bit changes it.

    It guards readers against damage, not against an adversary; ``doctor`` compares SHA-256.
    """
    is_small = path.stat().st_size < 4096
    data: Array = np.fromfile(path, np.uint8) if is_small else np.memmap(path, np.uint8, "r")
    whole = len(data) // 8 * 8
    tail = bytes(data[whole:]).ljust(8, b"\0")
    total = int(data[:whole].view(np.uint64).sum(dtype=np.uint64))
    return (total + int.from_bytes(tail, "little") + len(data)) % (1 << 64)


LOCAL_HEADER = 30
"""Bytes of a zip's header before a member, without its name and extra field."""
_HEADER = re.compile(
    rb"\{'descr': '([^']+)', 'fortran_order': False, 'shape': \(([\d, ]*)\), \}\s*"
)


def map_arrays(path: Path) -> dict[str, Array]:
    """Map every member read-only. Raise ``ValueError`` or ``OSError`` for an unreadable file."""
    with path.open("rb") as file:
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            with zipfile.ZipFile(file) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, struct.error, NotImplementedError) as error:
            raise ValueError(f"{path.name} is not a whole npz: {error}") from error
        return {info.filename.removesuffix(".npy"): _member(file, whole, info) for info in infos}


def _member(file: BinaryIO, whole: mmap.mmap, info: zipfile.ZipInfo) -> Array:
    """Map a member, parsing its header in the form that ``writing`` gives it.

    numpy parses it with ``ast``, which fails now and then in threads of Python 3.11 (SystemError,
    "AST constructor recursion depth mismatch").
    """
    file.seek(info.header_offset + 26)
    name_size, extra_size = struct.unpack("<HH", file.read(4))
    file.seek(info.header_offset + LOCAL_HEADER + name_size + extra_size)
    if file.read(8) != b"\x93NUMPY\x01\x00":
        raise ValueError("a member is no array of the format that is written here")
    (size,) = struct.unpack("<H", file.read(2))
    match = _HEADER.fullmatch(file.read(size))
    if match is None:
        raise ValueError("a member has a header that is not written here")
    shape = tuple(int(length) for length in match[2].split(b",") if length.strip())
    dtype = np.dtype(match[1].decode())
    if dtype.hasobject:
        raise ValueError(f"{info.filename} holds objects")
    return np.frombuffer(whole, dtype, int(np.prod(shape)), file.tell()).reshape(shape)

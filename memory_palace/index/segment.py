"""One immutable segment: records and vectors as arrays, what is shown of them as JSON lines."""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import IndexDamagedError
from memory_palace.index.commit import SegmentRef
from memory_palace.index.npz import Array, checksum, map_arrays
from memory_palace.index.postings import FIELDS, KeyCounts, find_key, list_starts, unpack_postings
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
from memory_palace.storage.atomic import is_named_by_content

if TYPE_CHECKING:
    from memory_palace.notes.note import Chunk, Note


def validity_line(validity: Validity) -> list[Any]:
    """Return what is kept of a validity, nothing of one that says nothing."""
    if validity == ALWAYS:
        return []
    return [validity.valid_from, validity.valid_until, list(validity.superseded_by)]


def read_validity(line: Sequence[Any]) -> Validity:
    """Return the validity of a line."""
    first, last, heirs = line
    return Validity(first, last, tuple(heirs))


CONTENT, META, TOMBSTONE = 0, 1, 2
"""What a note record says: here are the note's chunks; only its record changed; it is gone."""

SOURCES: tuple[DateSource, ...] = ("front matter", "file name", "git", "mtime")
PRIORITIES: tuple[Priority | Literal[""], ...] = ("", "low", "medium", "high")
EVERGREEN, PRIVATE, HAS_PROBLEMS, COPY = 1, 2, 4, 8
PREVIEW_CHARACTERS = 200


VectorMember: TypeAlias = Literal["vectors"]
VECTORS: Mapping[VectorMember, str] = {
    "vectors": "chunk_digest",
}
"""The vectors of a row, with the member that holds the digests of their texts."""


@dataclass(frozen=True, slots=True)
class StatColumns:
    """Where each figure is in the ``stat`` member, the only one that two builds differ in."""

    size: int = 0
    mtime_ns: int = 1
    ctime_ns: int = 2
    inode: int = 3
    changed_ns: int = 4


STAT = StatColumns()


_MEMBERS = frozenset(
    "fingerprint kind paths stat note_digest note_offset note_crc vectors chunk_note chunk_lines "
    "chunk_digest chunk_offset chunk_crc lines_digest".split()
)
"""What every segment has; a file without them is none."""


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
        self.arrays = arrays
        self._lines_path, self._lines = lines_path, lines
        self._texts: dict[str, list[str]] = {}
        self._starts: dict[str, Array] = {}
        self.lacking: NDArray[np.bool_] | None = None
        """The rows that have no vector yet; ``None`` where every row has one."""
        self._headed: tuple[int, list[str]] = (-1, [])

    def __getitem__(self, column: str) -> Array:
        return self.arrays[column]

    def with_vectors(
        self, arrays: Mapping[str, Array], lacking: NDArray[np.bool_] | None
    ) -> Segment:
        """Return the same segment with other vectors, and the rows that still lack one."""
        filled = copy(self)
        filled.arrays, filled.lacking = {**self.arrays, **arrays}, lacking
        return filled

    @property
    def lines(self) -> bytes | mmap.mmap:
        """All lines as they stand."""
        return self._lines

    @property
    def vectors(self) -> Matrix:
        """Unit vectors, shape ``(rows, dimension)``."""
        vectors: Matrix = self.arrays["vectors"]
        return vectors

    @property
    def vector_members(self) -> dict[VectorMember, str]:
        """Those of ``VECTORS`` that it has."""
        return {member: texts for member, texts in VECTORS.items() if member in self.arrays}

    @property
    def postings_bytes(self) -> int:
        """Bytes of what its rows are found by."""
        fields = tuple(f"{field}_" for field in FIELDS)
        return sum(a.nbytes for name, a in self.arrays.items() if name.startswith(fields))

    @cached_property
    def row_keys(self) -> list[list[KeyCounts]]:
        """For each of ``postings.FIELDS`` the keys of every row."""
        return [unpack_postings(self.arrays, field, self.rows) for field in FIELDS]

    def find(self, field: str, key: int) -> tuple[Array, Array]:
        """Return the rows that hold a key, dead ones included, and how often each does."""
        if field not in self._starts:
            self._starts[field] = list_starts(self.arrays, field)
        return find_key(self.arrays, field, key, starts=self._starts[field])

    @property
    def rows(self) -> int:
        """How many chunks are in it, dead ones included."""
        return len(self.arrays["vectors"])

    @property
    def notes(self) -> int:
        """How many note records are in it."""
        return len(self.arrays["kind"])

    @property
    def fingerprint(self) -> str:
        """The recipe its vectors were made by."""
        return bytes(self.arrays["fingerprint"]).decode()

    @property
    def paths(self) -> list[str]:
        """The path of every note record."""
        return self.texts("paths")

    def texts(self, column: str) -> list[str]:
        """Decode a text column, one string per note record; decoded once."""
        if column not in self._texts:
            self._texts[column] = split_texts(self.arrays[column], self.notes)
        return self._texts[column]

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

    def arrays_are_whole(self) -> bool:
        """Compare the npz with the SHA-256 in its name."""
        return is_named_by_content(self._lines_path.with_suffix(".npz"))

    def lines_are_whole(self) -> bool:
        """Compare the JSONL with the digest that the arrays hold of it."""
        return sha256(self._lines).digest() == bytes(self.arrays["lines_digest"])

    def _read_line(self, offset: int, crc: int) -> bytes:
        line = self._lines[offset : self._lines.find(b"\n", offset) + 1]
        if zlib.crc32(line) != crc:
            raise damaged(self._lines_path.name, "does not match its checksum")
        return line


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
        return fill_segment(segment, open_vectors(folder, ref)) if ref.awaiting else segment
    except FileNotFoundError as error:
        raise damaged(Path(error.filename).name, "is missing") from None
    except ValueError as error:
        raise damaged(path.name, str(error)) from error


def open_vectors(folder: Path, ref: SegmentRef) -> list[Mapping[str, Array]]:
    """Map the files of vectors that a segment has so far; one that is damaged counts for none."""
    found: list[Mapping[str, Array]] = []
    for name in ref.vectors:
        with suppress(OSError, ValueError):
            if is_named_by_content(path := folder / f"{name}.npz"):
                found.append(map_arrays(path))
    return found


def fill_segment(segment: Segment, sources: Sequence[Mapping[str, Array]]) -> Segment:
    """Return a segment of which only the texts are known with such vectors as the sources have.

    Each source has ``chunk_digest``, digests of texts, and ``vectors``, one for each.
    """
    if not sources:
        return segment.with_vectors({}, np.ones(segment.rows, np.bool_))
    keys = np.concatenate([np.ascontiguousarray(s["chunk_digest"]).view("<u8") for s in sources])
    order = np.argsort(keys[:, 0], kind="stable")
    vectors = [source["vectors"] for source in sources]
    arrays: dict[str, Array] = {}
    lacking = np.zeros(segment.rows, np.bool_)
    for member, digests in segment.vector_members.items():
        wanted = np.ascontiguousarray(segment[digests]).view("<u8")
        place = np.searchsorted(keys[order, 0], wanted[:, 0])
        place = order[np.minimum(place, len(order) - 1)]
        known = (keys[place] == wanted).all(axis=1)
        arrays[member] = np.zeros((segment.rows, vectors[0].shape[1]), np.float32)
        start = 0
        for part in vectors:
            inside = known & (place >= start) & (place < start + len(part))
            arrays[member][inside] = part[place[inside] - start]
            start += len(part)
        lacking |= ~known
    return segment.with_vectors(arrays, lacking)


def _map_bytes(path: Path) -> bytes | mmap.mmap:
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def damaged(name: str, why: str) -> IndexDamagedError:
    """Name a file of the index that cannot be trusted, and the command that mends it."""
    return IndexDamagedError(f"index file {name} {why}; run `palace index --verify` to mend it")


def json_line(record: Mapping[str, Any] | Sequence[Any]) -> bytes:
    """Return one JSON line, the same bytes for the same record."""
    text = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return (text + "\n").encode()


def join_texts(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Pack strings into bytes, one NUL after each; a NUL inside one is dropped."""
    packed = "".join(text.replace("\0", "") + "\0" for text in texts)
    return np.frombuffer(packed.encode(), np.uint8)


def split_texts(blob: Array, count: int) -> list[str]:
    """Undo ``join_texts``."""
    return bytes(blob).decode().split("\0")[:count]


def note_line(note: Note) -> bytes:
    """Return what is kept of a note beside the columns; what is empty is left out."""
    kept = {
        "tags": note.tags,
        "entities": note.entities,
        "aliases": note.aliases,
        "links": [[k.target, k.line, k.heading, k.alias, k.is_embed] for k in note.links],
        "valid": validity_line(note.validity),
        "problems": [[p.line, p.kind, p.message, p.is_failure] for p in note.problems],
    }
    return json_line({name: values for name, values in kept.items() if values})


def note_record(line: dict[str, Any], **columns: Any) -> NoteRecord:
    """Join a note's line with its columns."""
    return NoteRecord(
        validity=read_validity(line["valid"]) if "valid" in line else ALWAYS,
        tags=tuple(line.get("tags", ())),
        aliases=tuple(line.get("aliases", ())),
        entities=tuple(line.get("entities", ())),
        links=tuple(Link(*link) for link in line.get("links", ())),
        problems=tuple(Problem(columns["path"], *problem) for problem in line.get("problems", ())),
        **columns,
    )


def chunk_line(chunk: Chunk, before: Chunk | None = None) -> bytes:
    """Return what is kept of a chunk beside the columns: headings and preview.

    There is a line for every few sentences of a vault, so it names no fields, and leaves out
    headings that the chunk ``before`` it in the same note has too. A superseded claim says it.
    """
    headings = None if before and before.heading_path == chunk.heading_path else chunk.heading_path
    preview = visible(" ".join(chunk.text.split())[:PREVIEW_CHARACTERS])
    return json_line([headings, preview, *filter(None, [validity_line(chunk.validity)])])


def chunk_record(
    line: Sequence[Any], path: str, lines: Sequence[int], digest: bytes
) -> ChunkRecord:
    """Join a chunk's line with its columns: first and last line, and digest."""
    first, last = int(lines[0]), int(lines[1])
    heading, preview, *valid = line
    known = map(read_validity, valid)
    return ChunkRecord(path, tuple(heading), first, last, digest.hex(), preview, *known)

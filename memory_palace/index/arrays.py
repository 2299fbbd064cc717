"""Arrays of a segment: an ``.npz`` that maps into memory, and inverted lists.

An ordinary ``.npz`` whose members are stored on 64-byte borders: ``numpy.load`` reads it like any
other, but ignores ``mmap_mode`` for archives; ``map_arrays`` maps each member itself, in about a
millisecond whatever its size.

Inverted lists say which rows of a segment hold a key. Keys are 64-bit digests: of a million terms
two are equal with a chance of one in thirty million. Rows and sizes have the smallest types that
hold them; counts that are all 1 are left out.
"""

from __future__ import annotations

import mmap
import re
import struct
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

Array = NDArray[Any]

_LOCAL_HEADER = 30
_PADDING_ID = 0xD935  # the extra-field id that zipalign uses for the same purpose
_BORDER = 64
_HEADER = re.compile(
    rb"\{'descr': '([^']+)', 'fortran_order': False, 'shape': \(([\d, ]*)\), \}\s*"
)


def write_arrays(file: BinaryIO, members: Mapping[str, Sequence[Array]]) -> None:
    """Write each member as the concatenation of its parts, without joining them in memory.

    Parts of one member share dtype and trailing shape. The bytes depend on nothing but the
    members: names in order, no time stamps.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, parts in members.items():
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            start = file.tell() + _LOCAL_HEADER + len(info.filename.encode())
            padding = -(start + 4) % _BORDER
            info.extra = struct.pack("<HH", _PADDING_ID, padding) + bytes(padding)
            with archive.open(info, "w") as member:
                member.write(_header(parts))
                for part in parts:
                    member.write(np.ascontiguousarray(part).data)


def map_arrays(path: Path) -> dict[str, Array]:
    """Map every member read-only. Raise ``ValueError`` or ``OSError`` where that cannot be."""
    with path.open("rb") as file:
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            with zipfile.ZipFile(file) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, struct.error, NotImplementedError) as error:
            raise ValueError(f"{path.name} is not a whole npz: {error}") from error
        return {info.filename.removesuffix(".npy"): _member(file, whole, info) for info in infos}


def checksum(path: Path) -> int:
    """Sum a file as 64-bit words, wrapping: it sees any flipped bit, at memory speed.

    It guards readers against damage, not against an adversary; ``doctor`` compares SHA-256.
    """
    is_small = path.stat().st_size < 4096
    data: Array = np.fromfile(path, np.uint8) if is_small else np.memmap(path, np.uint8, "r")
    whole = len(data) // 8 * 8
    tail = bytes(data[whole:]).ljust(8, b"\0")
    total = int(data[:whole].view(np.uint64).sum(dtype=np.uint64))
    return (total + int.from_bytes(tail, "little") + len(data)) % (1 << 64)


def _header(parts: Sequence[Array]) -> bytes:
    first = parts[0]
    shape = (sum(len(part) for part in parts), *first.shape[1:])
    buffer = BytesIO()
    npy.write_array_header_1_0(
        buffer,
        {"descr": npy.dtype_to_descr(first.dtype), "fortran_order": False, "shape": shape},
    )
    return buffer.getvalue()


def _member(file: BinaryIO, whole: mmap.mmap, info: zipfile.ZipInfo) -> Array:
    file.seek(info.header_offset + 26)
    name_size, extra_size = struct.unpack("<HH", file.read(4))
    file.seek(info.header_offset + _LOCAL_HEADER + name_size + extra_size)
    shape, dtype = _read_header(file)
    if dtype.hasobject:
        raise ValueError(f"{info.filename} holds objects")
    count = int(np.prod(shape))
    return np.frombuffer(whole, dtype, count, file.tell()).reshape(shape)


def _read_header(file: BinaryIO) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read what ``_header`` wrote.

    numpy parses it with ``ast``, which fails now and then in threads of Python 3.11 (SystemError,
    "AST constructor recursion depth mismatch").
    """
    if file.read(8) != b"\x93NUMPY\x01\x00":
        raise ValueError("a member is no array of the format that is written here")
    (size,) = struct.unpack("<H", file.read(2))
    match = _HEADER.fullmatch(file.read(size))
    if match is None:
        raise ValueError("a member has a header that is not written here")
    shape = tuple(int(length) for length in match[2].split(b",") if length.strip())
    return shape, np.dtype(match[1].decode())


FIELDS = ("words", "names", "extras", "facts")
"""The words of a passage; those of its note's names, at the note's first passage alone; words that
help to find it; what was extracted from it."""

_MOST = 255
_NO_KEYS: NDArray[np.uint64] = np.zeros(0, np.uint64)


class KeyCounts(NamedTuple):
    """The keys of one row in ascending order, and how often it holds each, 255 at most."""

    keys: NDArray[np.uint64]
    counts: NDArray[np.uint8]


@lru_cache(maxsize=1 << 15)
def hash_key(term: str) -> int:
    """Return the key of a term."""
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")


def fact_term(kind: str, key: str) -> str:
    """Return the term that a fact is kept under."""
    return f"{kind}\x1f{key}"


def count_keys(terms: Iterable[str]) -> KeyCounts:
    """Count the keys of one row."""
    counted = Counter(terms)
    keys = np.fromiter(map(hash_key, counted), np.uint64, len(counted))
    counts = np.minimum(np.fromiter(counted.values(), np.int64, len(counted)), _MOST)
    order = np.argsort(keys)
    return KeyCounts(keys[order], counts[order].astype(np.uint8))


def same_keys(first: Sequence[KeyCounts], second: Sequence[KeyCounts]) -> bool:
    """Return whether two rows hold the same keys equally often in every field."""
    return all(
        np.array_equal(one.keys, other.keys) and np.array_equal(one.counts, other.counts)
        for one, other in zip(first, second, strict=True)
    )


def pack_postings(field: str, rows: Sequence[KeyCounts]) -> dict[str, Sequence[Array]]:
    """Turn the keys of all rows into the members of a segment."""
    keys = np.concatenate([_NO_KEYS, *(row.keys for row in rows)])
    counts = np.concatenate([np.zeros(0, np.uint8), *(row.counts for row in rows)])
    owners = np.repeat(np.arange(len(rows)), [len(row.keys) for row in rows])
    lengths = np.bincount(owners, counts, len(rows)).astype(np.int64)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.append(np.ones(1, np.bool_), keys[1:] != keys[:-1]))[: len(keys)]
    return {
        f"{field}_keys": [keys[starts]],
        f"{field}_sizes": [smallest(np.diff(np.append(starts, len(keys))))],
        f"{field}_rows": [owners[order].astype(np.min_scalar_type(max(len(rows), 1)))],
        f"{field}_counts": [counts[order] if (counts != 1).any() else counts[:0]],
        f"{field}_lengths": [smallest(lengths)],
    }


def list_starts(columns: Mapping[str, Array], field: str) -> Array:
    """Return the start of the list of each key, and one more for the end."""
    starts: Array = np.zeros(len(columns[f"{field}_sizes"]) + 1, np.int64)
    np.cumsum(columns[f"{field}_sizes"], out=starts[1:])
    return starts


def find_key(
    columns: Mapping[str, Array], field: str, key: int, *, starts: Array
) -> tuple[Array, Array]:
    """Return the rows of a segment that hold a key, ascending, and how often each does.

    ``starts`` are those of ``list_starts``, which need to be summed up only once.
    """
    keys = columns[f"{field}_keys"]
    place = int(keys.searchsorted(np.uint64(key)))  # the function would take twice as long
    if place == len(keys) or int(keys[place]) != key:
        return _NO_KEYS, _NO_KEYS
    part = slice(int(starts[place]), int(starts[place + 1]))
    rows = columns[f"{field}_rows"][part]
    counts = columns[f"{field}_counts"]
    return rows, counts[part] if len(counts) else np.ones(len(rows), np.uint8)


def unpack_postings(columns: Mapping[str, Array], field: str, rows: int) -> list[KeyCounts]:
    """Undo ``pack_postings``: the keys of every row."""
    owners = columns[f"{field}_rows"]
    keys = np.repeat(columns[f"{field}_keys"], columns[f"{field}_sizes"])
    order = np.argsort(owners, kind="stable")
    ends = np.cumsum(np.bincount(owners, minlength=rows))[:-1]
    counts = columns[f"{field}_counts"]
    counts = counts[order] if len(counts) else np.ones(len(order), np.uint8)
    return [
        KeyCounts(*pair)
        for pair in zip(np.split(keys[order], ends), np.split(counts, ends), strict=True)
    ][:rows]


def smallest(numbers: Array) -> Array:
    """Return numbers in the smallest unsigned type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))

"""What rows are found by, as bytes: the keys of one row, and the rows of one key in a block.

All numbers are little-endian. A block names its rows once; a posting list says which of them hold
its key by their places in the block, as numbers or as a bitmap, whatever is shorter. On 10^6
passages that is a seventh of row, note and length with each posting (references/measurements.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import IndexDamagedError
from memory_palace.index.postings import FIELDS, KeyCounts

BLOCK_ROWS = 1 << 16
"""Rows in a block at most, so that a place has two bytes."""
BLOCK_FIELD = -1
"""Stands for the field where a block's own arrays are kept: its rows under the key 0, and after it
the lengths of its rows in each of ``FIELDS``."""
_PLACES, _BITMAP = b"\0", b"\1"
_MOST = np.iinfo(np.uint16).max


class PostedRow(NamedTuple):
    """A row that has its number in the store."""

    row: int
    note: int
    is_question: bool
    keys: tuple[KeyCounts, ...]
    """One for each of ``FIELDS``."""


class BlockRows(NamedTuple):
    """The rows of a block, ascending."""

    rows: NDArray[np.int32]
    notes: NDArray[np.int32]
    """The note of each row; its bitwise complement where the row is a question of the note."""


class PostingList(NamedTuple):
    """The rows of a block that hold one key."""

    places: NDArray[np.int64]
    """Where in the block they are, ascending."""
    counts: NDArray[np.uint8]


def pack_keys(fields: Sequence[KeyCounts]) -> bytes:
    """Return the keys of one row: of each field how many there are, the keys and their counts."""
    parts = []
    for keys, counts in fields:
        parts += [len(keys).to_bytes(4, "little"), keys.astype("<u8").tobytes(), counts.tobytes()]
    return b"".join(parts)


def unpack_keys(data: bytes) -> tuple[KeyCounts, ...]:
    """Undo ``pack_keys``; raise ``IndexDamagedError``, as all that unpack here."""
    found, start = [], 0
    try:
        for _ in FIELDS:
            count = int.from_bytes(data[start : start + 4], "little")
            keys = np.frombuffer(data, "<u8", count, start + 4)
            counts = np.frombuffer(data, np.uint8, count, start + 4 + 8 * count)
            found.append(KeyCounts(keys, counts))
            start += 4 + 9 * count
    except ValueError:
        start = -1
    _check(len(data) == start, "the keys of a passage")
    return tuple(found)


def _check(is_whole: bool, what: str) -> None:
    if not is_whole:
        raise damaged(what)


def damaged(what: str) -> IndexDamagedError:
    """Return the error for what a store holds and nobody can read."""
    return IndexDamagedError(
        f"{what} cannot be read from the store: `palace config store verify` says what else is "
        "damaged, `palace index --verify --store …` writes it again"
    )


def pack_block(rows: Sequence[PostedRow]) -> Iterator[tuple[int, int, bytes]]:
    """Yield field, key as PostgreSQL holds it (signed), and data of all that a block holds.

    The rows are ascending.
    """
    numbers = np.array([row.row for row in rows], "<i4")
    notes = np.array([~row.note if row.is_question else row.note for row in rows], "<i4")
    yield BLOCK_FIELD, 0, numbers.tobytes() + notes.tobytes()
    for place in range(len(FIELDS)):
        fields = [row.keys[place] for row in rows]
        lengths = np.array([min(int(field.counts.sum()), _MOST) for field in fields], "<u2")
        yield BLOCK_FIELD, 1 + place, lengths.tobytes()
        yield from ((place, key, data) for key, data in _pack_field(fields))


def _pack_field(rows: Sequence[KeyCounts]) -> Iterator[tuple[int, bytes]]:
    keys = np.concatenate([row.keys for row in rows])
    owners = np.repeat(np.arange(len(rows), dtype="<u2"), [len(row.keys) for row in rows])
    order = np.argsort(keys, kind="stable")
    keys, owners = keys[order], owners[order]
    counts = np.concatenate([row.counts for row in rows])[order]
    edges = [*(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist(), len(keys)]
    start = 0
    for end in edges if len(keys) else ():
        places = owners[start:end]
        data = _PLACES + places.tobytes()
        if 2 * len(places) > len(rows) // 8:
            is_there = np.zeros(len(rows), np.bool_)
            is_there[places] = True
            data = _BITMAP + np.packbits(is_there).tobytes()
        yield int(keys[start].view(np.int64)), data + counts[start:end].tobytes()
        start = end


def unpack_block(data: bytes) -> BlockRows:
    """Return the rows of a block, given what is kept under ``BLOCK_FIELD`` and the key 0."""
    _check(len(data) % 8 == 0, "a block of posting lists")
    return BlockRows(*np.frombuffer(data, "<i4").reshape(2, -1))


def unpack_lengths(data: bytes) -> NDArray[np.uint16]:
    """Return how many terms each row of a block holds in one field, repeated ones included."""
    _check(len(data) % 2 == 0, "a block of posting lists")
    return np.frombuffer(data, "<u2")


def unpack_posting(data: bytes, size: int) -> PostingList:
    """Return which rows of a block of ``size`` rows hold a key, and how often."""
    if data[:1] == _BITMAP:
        end = 1 + (size + 7) // 8
        bits = np.unpackbits(np.frombuffer(data[1:end], np.uint8), count=size)
        places, counts = bits.nonzero()[0], np.frombuffer(data[end:], np.uint8)
    else:
        count = (len(data) - 1) // 3
        places = np.frombuffer(data[1 : 1 + 2 * count], "<u2").astype(np.int64)
        counts = np.frombuffer(data[1 + 2 * count :], np.uint8)
        _check(data[:1] == _PLACES and bool((places < size).all()), "a posting list")
    _check(len(places) == len(counts), "a posting list")
    return PostingList(places, counts)

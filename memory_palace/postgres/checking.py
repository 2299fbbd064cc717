"""Prove that what a store holds is what the index of the notes says, and agrees with itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from memory_palace.config import SEVEN, Rooms
from memory_palace.index.doctor import Finding
from memory_palace.index.postings import FIELDS, same_keys
from memory_palace.index.store import IndexFiles, StoredNote, settle
from memory_palace.postgres.exporting import StoredIndex
from memory_palace.postgres.generation import Totals, group_stamps
from memory_palace.postgres.packing import (
    BLOCK_FIELD,
    unpack_block,
    unpack_keys,
    unpack_lengths,
    unpack_posting,
)
from memory_palace.postgres.records import (
    LINK_COLUMNS,
    NAME_COLUMNS,
    NOTE_COLUMNS,
    link_values,
    mark_rows,
    name_values,
    note_values,
    stamp_note,
)
from memory_palace.postgres.writing import find_sample

_NOTES_AT_A_TIME = 256
_SPREAD = np.uint64(0xBF58476D1CE4E5B9)
"""An odd number that spreads what is summed up over 64 bits (one of SplitMix64)."""


class _Sums(dict[int, tuple[int, int]]):
    """Of each field, how many postings there are and what they come to, in whatever order."""

    def add(
        self, field: int, keys: NDArray[np.int64], is_cold: bool, figures: Sequence[NDArray[Any]]
    ) -> None:
        """Add postings, given their keys and, in parallel, whatever else there is of each."""
        mixed = keys.astype(np.int64).view(np.uint64) * np.uint64(2) + np.uint64(is_cold)
        for figure in figures:
            mixed = (mixed ^ (mixed >> np.uint64(29))) * _SPREAD
            mixed = mixed + figure.astype(np.int64).view(np.uint64)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _SPREAD
        count, total = self.get(field, (0, 0))
        self[field] = count + len(mixed), (total + int(mixed.sum(dtype=np.uint64))) % 2**64


def verify_store(
    store: StoredIndex, rooms: Rooms | None, source: IndexFiles | None
) -> list[Finding]:
    """Return what disagrees: within the store, and with the index of the notes where it is given.

    Raise ``NotesFailedError`` where a note has changed since that index was built.
    """
    stamps = dict(store.list_stamps())
    found = list(_compare_stamps(stamps, source)) if source else []
    counted = _Counted()
    paths = sorted(stamps)
    for start in range(0, len(paths), _NOTES_AT_A_TIME):
        chosen = paths[start : start + _NOTES_AT_A_TIME]
        notes = list(store.read_notes(chosen))
        ours = {note.row.path: note for note in source.read_notes(chosen)} if source else {}
        tables = _Tables(store, chosen)
        for note in notes:
            counted.add(note)
            found += (_say(note, what) for what in tables.check(note, rooms))
            own = ours.get(note.row.path)
            if own and not _is_same(note, own):
                found.append(_say(note, "is not what the index of the notes has of it"))
    return [*found, *_check_whole(store, stamps, counted), *_check_postings(store)]


class _Counted:
    """What the notes of a store come to."""

    def __init__(self) -> None:
        self.notes = self.rows = self.passages = self.hot_notes = 0
        self.lengths = [0] * len(FIELDS)

    def add(self, note: StoredNote) -> None:
        """Count a note."""
        self.notes += 1
        self.rows += len(note.row.chunks)
        passages = [] if note.is_cold else [c for c in note.row.chunks if c.first_line]
        lengths = [sum(int(c.keys[n].counts.sum()) for c in passages) for n in range(len(FIELDS))]
        self.passages += len(passages)
        self.hot_notes += bool(lengths[0])
        self.lengths = [a + b for a, b in zip(self.lengths, lengths, strict=True)]

    @property
    def statistics(self) -> Totals:
        """The same as a generation keeps it."""
        return Totals(self.passages, self.hot_notes, tuple(self.lengths))


class _Tables:
    """The rows of some notes as they stand in the tables."""

    def __init__(self, store: StoredIndex, paths: Sequence[str]) -> None:
        self._fingerprint = store.read_commit().fingerprint
        asked = store.statements.ask
        columns = ", ".join(NOTE_COLUMNS)
        notes = asked(
            f"SELECT {columns} FROM note WHERE palace = %(palace)s AND path = ANY(%(paths)s)",
            paths=list(paths),
        )
        self._notes = {row[1]: row for row in notes}
        numbers = [row[0] for row in notes]
        self._names = self._group(store, "name", NAME_COLUMNS, numbers)
        self._links = self._group(store, "link", LINK_COLUMNS, numbers)
        marks = asked(
            "SELECT note, mark FROM passage WHERE palace = %(palace)s AND note = ANY(%(notes)s)"
            " ORDER BY note, place",
            notes=numbers,
        )
        self._marks: dict[int, list[bytes]] = {}
        for number, mark in marks:
            self._marks.setdefault(number, []).append(mark)

    def check(self, note: StoredNote, rooms: Rooms | None) -> Iterator[str]:
        """Yield what does not follow from the record of a note and its rows."""
        stored = self._notes[note.row.path]
        number = stored[0]
        made = stamp_note(note, self._fingerprint)
        wanted = note_values(number, note, made, rooms or SEVEN)
        for name, there, right in zip(NOTE_COLUMNS, stored, wanted, strict=True):
            if name == "room" and rooms is None:
                continue  # only the palace's settings say which folder is which
            if there != (right.obj if isinstance(right, Jsonb) else right):
                yield f"has another {name} than its record says"
        if self._marks.get(number, []) != mark_rows(note, self._fingerprint):
            yield "has rows that do not match their marks"
        if self._names.get(number, []) != sorted(name_values(number, note)):
            yield "is found by other names than it has"
        if self._links.get(number, []) != sorted(link_values(number, note)):
            yield "is found by other links than it has"

    @staticmethod
    def _group(
        store: StoredIndex, table: str, columns: dict[str, str], notes: list[int]
    ) -> dict[int, list[Any]]:
        rows = store.statements.ask(
            f"SELECT {', '.join(columns)} FROM {table}"
            " WHERE palace = %(palace)s AND note = ANY(%(notes)s)",
            notes=notes,
        )
        found: dict[int, list[Any]] = {}
        for row in sorted(rows):
            found.setdefault(row[0], []).append(row)
        return found


def _compare_stamps(stamps: dict[str, bytes], source: IndexFiles) -> Iterator[Finding]:
    ours = source.list_stamps()
    for path in sorted(stamps.keys() | ours.keys()):
        if path not in stamps:
            yield Finding("note", path, "is not in the store")
        elif path not in ours:
            yield Finding("note", path, "is in the store, and is no note of the index")
        elif stamps[path] != ours[path]:
            yield Finding("note", path, "is another in the store than in the index")


def _is_same(stored: StoredNote, own: StoredNote) -> bool:
    """Compare everything, vectors and words included."""
    first, second = settle(stored.row), settle(own.row)
    return (
        (stored.is_cold, stored.text) == (own.is_cold, own.text)
        and all(map(np.array_equal, first.vectors, second.vectors))
        and len(first.chunks) == len(second.chunks)
        and all(
            same_keys(one.keys, other.keys)
            and (one.line, one.digests) == (other.line, other.digests)
            for one, other in zip(first.chunks, second.chunks, strict=True)
        )
    )


def _check_whole(
    store: StoredIndex, stamps: dict[str, bytes], counted: _Counted
) -> Iterator[Finding]:
    generation = store.generation
    said = (generation.notes, generation.rows, generation.statistics)
    if said != (counted.notes, counted.rows, counted.statistics):
        yield Finding("statistics", "generation", "do not count what the store holds")
    if not np.array_equal(generation.groups, group_stamps(stamps)):
        yield Finding("statistics", "generation", "has other groups than the stamps come to")
    if generation.sample != find_sample(store.statements):
        yield Finding("statistics", "generation", "has another sample of rows")
    left = store.statements.ask(
        "SELECT count(*) FROM passage WHERE palace = %(palace)s AND"
        " (id = ANY(%(dead)s) OR note NOT IN (SELECT id FROM note WHERE palace = %(palace)s))",
        dead=generation.dead.tolist(),
    )
    if left[0][0]:
        yield Finding("row", "passage", f"{left[0][0]} are of no note, or called dead")


def _check_postings(store: StoredIndex) -> Iterator[Finding]:
    wanted, found = _sum_rows(store), _sum_lists(store)
    for place, name in enumerate(FIELDS):
        if wanted.get(place, (0, 0)) != found.get(place, (0, 0)):
            yield Finding("postings", name, "are not those of the rows")


def _sum_rows(store: StoredIndex) -> _Sums:
    """Sum up the postings that the live rows should have."""
    sums = _Sums()
    with store.open_cursor() as cursor:
        cursor.execute(
            "SELECT id, note, is_cold, first_line = 0, keys FROM passage WHERE palace = %s",
            [store.statements.palace],
        )
        for row, note, is_cold, is_question, keys in cursor:
            for place, (terms, counts) in enumerate(unpack_keys(keys)):
                owner = ~note if is_question else note
                length = np.full(len(terms), counts.sum(dtype=np.int64))
                numbers, owners = np.full(len(terms), row), np.full(len(terms), owner)
                sums.add(place, terms.view(np.int64), is_cold, (numbers, owners, length, counts))
    return sums


def _sum_lists(store: StoredIndex) -> _Sums:
    """Sum up the postings of live rows that the blocks hold."""
    sums, dead = _Sums(), store.generation.dead
    sizes, own = store.generation.blocks, dict[int, dict[int, bytes]]()
    for block, key, data in store.statements.ask(
        "SELECT block, key, data FROM posting WHERE palace = %(palace)s AND field = %(field)s",
        field=BLOCK_FIELD,
    ):
        own.setdefault(block, {})[key] = data
    held = {block: unpack_block(arrays.get(0, b"")) for block, arrays in own.items()}
    lengths = {
        (block, key - 1): unpack_lengths(data)
        for block, a in own.items()
        for key, data in a.items()
    }
    live = {block: ~np.isin(rows.rows, dead) for block, rows in held.items()}
    with store.open_cursor() as cursor:
        cursor.execute(
            "SELECT field, key, block, data FROM posting WHERE palace = %s AND field >= 0",
            [store.statements.palace],
        )
        for place, key, block, data in cursor:
            if block not in held or len(held[block].rows) != sizes.get(block):
                continue  # the sums will differ
            rows = held[block]
            found, counts = unpack_posting(data, len(rows.rows))
            chosen = live[block][found]
            found, counts = found[chosen], counts[chosen]
            figures = (rows.rows[found], rows.notes[found], lengths[block, place][found], counts)
            sums.add(place, np.full(len(found), key), block < 0, figures)
    return sums


def _say(note: StoredNote, what: str) -> Finding:
    return Finding("note", note.row.path, what)

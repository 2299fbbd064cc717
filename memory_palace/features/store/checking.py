"""Prove that what a store holds is what the index of the notes says, and agrees with itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from memory_palace.config import SEVEN, Rooms
from memory_palace.errors import IndexDamagedError
from memory_palace.features.store.exporting import NOTES_AT_A_TIME, StoredIndex
from memory_palace.features.store.generation import Totals, group_notes
from memory_palace.features.store.records import (
    LINK_COLUMNS,
    NAME_COLUMNS,
    NOTE_COLUMNS,
    link_values,
    mark_rows,
    name_values,
    note_values,
    stamp_note,
)
from memory_palace.features.store.summing import check_postings
from memory_palace.features.store.writing import find_sample
from memory_palace.index.doctor import Finding
from memory_palace.index.postings import FIELDS, same_keys
from memory_palace.index.store import IndexFiles, StoredNote, settle
from memory_palace.index.values import Progress

CHECKING_NOTES = "comparing notes"


def verify_store(
    store: StoredIndex,
    rooms: Rooms | None,
    source: IndexFiles | None,
    progress: Progress = lambda doing, done, total: None,
) -> list[Finding]:
    """Return what disagrees: within the store, and with the index of the notes where it is given.

    Raise ``NotesFailedError`` where a note has changed since that index was built.
    """
    stamps = dict(store.list_stamps())
    differing = list(compare_stamps(stamps, source)) if source else []
    found = [Finding("note", path, f"is {kind}") for path, kind in differing]
    counted = _Counted()
    known = {path for path, _ in differing}
    paths = sorted(stamps)
    for start in range(0, len(paths), NOTES_AT_A_TIME):
        chosen = paths[start : start + NOTES_AT_A_TIME]
        same = [path for path in chosen if path not in known]
        ours = {note.row.path: note for note in source.read_notes(same)} if source else {}
        tables = _Tables(store, chosen)
        for raw in store.fetch(chosen):
            path = raw[0]["path"]
            try:
                note = store.decode(raw)
            except IndexDamagedError as error:
                found.append(Finding("note", path, str(error).partition(":")[0]))
                continue
            counted.add(note)
            found += (Finding("note", path, what) for what in tables.check(note, rooms))
            if path in ours and not _is_same(note, ours[path]):
                found.append(Finding("note", path, "is not what the index of the notes has of it"))
        progress(CHECKING_NOTES, min(start + NOTES_AT_A_TIME, len(paths)), len(paths))
    return [*found, *_check_whole(store, stamps, counted), *check_postings(store, progress)]


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
        rows = asked(
            "SELECT note, mark, place, is_cold FROM passage"
            " WHERE palace = %(palace)s AND note = ANY(%(notes)s) ORDER BY note, place",
            notes=numbers,
        )
        self._rows: dict[int, list[tuple[bytes, int, bool]]] = {}
        for number, *row in rows:
            self._rows.setdefault(number, []).append(tuple(row))

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
        marks = enumerate(mark_rows(note, self._fingerprint))
        if self._rows.get(number, []) != [(mark, place, note.is_cold) for place, mark in marks]:
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


def compare_stamps(stamps: dict[str, bytes], source: IndexFiles) -> Iterator[tuple[str, str]]:
    """Yield each note that differs between a store and an index, and how it stands there."""
    ours = source.list_stamps()
    for path in sorted(stamps.keys() | ours.keys()):
        if path not in stamps:
            yield path, "not in the store"
        elif path not in ours:
            yield path, "in the store alone"
        elif stamps[path] != ours[path]:
            yield path, "another there"


def _is_same(stored: StoredNote, own: StoredNote) -> bool:
    """Compare everything, vectors and words included."""
    first, second = settle(stored.row), settle(own.row)
    return (
        (stored.is_cold, stored.text) == (own.is_cold, own.text)
        and np.array_equal(first.vectors, second.vectors)
        and len(first.chunks) == len(second.chunks)
        and all(
            same_keys(one.keys, other.keys) and (one.line, one.digest) == (other.line, other.digest)
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
    if not np.array_equal(generation.groups, group_notes(stamps).sums):
        yield Finding("statistics", "generation", "has other groups than the stamps come to")
    if generation.sample != find_sample(store.statements):
        yield Finding("statistics", "generation", "has another sample of rows")
    yield from _check_numbers(store)
    yield from _find_orphans(store)


def _check_numbers(store: StoredIndex) -> Iterator[Finding]:
    """Yield which numbers would be given a second time."""
    generation = store.generation
    ((note, row),) = store.statements.ask(
        "SELECT (SELECT max(id) FROM note WHERE palace = %(palace)s),"
        " (SELECT max(id) FROM passage WHERE palace = %(palace)s)"
    )
    block = max(map(abs, generation.blocks), default=0)
    # The last number of notes and rows that was given, the next one of blocks.
    given = (note or 0, row or 0, block + 1)
    said = (generation.next_note, generation.next_row, generation.next_block)
    for name, last, known in zip(("note", "row", "block"), given, said, strict=True):
        if known < last:
            yield Finding("statistics", "generation", f"would give the number of a {name} again")


def _find_orphans(store: StoredIndex) -> Iterator[Finding]:
    """Yield rows of notes that are not there, and rows that are called dead."""
    ask = store.statements.ask
    for table in ("passage", "name", "link"):
        for note, count in ask(
            f"SELECT note, count(*) FROM {table} AS t WHERE palace = %(palace)s AND NOT EXISTS"
            " (SELECT FROM note WHERE palace = %(palace)s AND id = t.note)"
            " GROUP BY note ORDER BY note"
        ):
            yield Finding("row", table, f"{count} are of note {note}, which is not there")
    for path, count in ask(
        "SELECT path, count(*) FROM passage AS t JOIN note AS n"
        " ON n.palace = %(palace)s AND n.id = t.note"
        " WHERE t.palace = %(palace)s AND t.id = ANY(%(dead)s) GROUP BY path ORDER BY path",
        dead=store.generation.dead.tolist(),
    ):
        yield Finding("note", path, f"has {count} rows that are called dead")

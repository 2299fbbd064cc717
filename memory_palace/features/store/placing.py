"""Put notes and their rows into the tables of a store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from memory_palace.config import Rooms
from memory_palace.errors import StoreError
from memory_palace.features.store.blocks import Blocks
from memory_palace.features.store.generation import Generation
from memory_palace.features.store.packing import BLOCK_ROWS, PostedRow
from memory_palace.features.store.records import (
    LINK_COLUMNS,
    NAME_COLUMNS,
    NOTE_COLUMNS,
    PASSAGE_COLUMNS,
    link_values,
    mark_rows,
    name_values,
    note_values,
    passage_values,
)
from memory_palace.features.store.statements import Statements
from memory_palace.index.store import StoredNote

_OF_NOTES = (("note", "id"), ("name", "note"), ("link", "note"))
_MOST = np.iinfo(np.int32).max
_Placed = tuple[int, int, int]
"""Place, first and last line of a row."""


class RowWriter:
    """Writes notes of one generation, and counts what changed."""

    def __init__(
        self, statements: Statements, generation: Generation, fingerprint: str, rooms: Rooms
    ) -> None:
        self._statements, self._generation = statements, generation
        self._fingerprint, self._rooms = fingerprint, rooms
        self._blocks = Blocks(statements, generation)
        self._posted: dict[bool, list[PostedRow]] = {False: [], True: []}
        self._last_stored = generation.next_note
        self.dead: list[int] = []
        self.sent = 0

    def empty(self) -> None:
        """Begin anew: with another recipe no row stays what it was."""
        generation = self._generation
        self._last_stored = generation.next_note = generation.next_row = 0
        for table in ("note", "name", "link", "passage", "posting"):
            self._statements.delete(table)
        self._statements.ask("SELECT index_vectors(%(palace)s, 0)")
        generation.blocks, generation.rows = {}, 0
        generation.dead, generation.groups = np.zeros(0, np.int32), np.zeros_like(generation.groups)

    def remove(self, notes: Sequence[int]) -> None:
        """Remove notes with all their rows."""
        if notes:
            self._drop(notes)
            self._bury([row for (row,) in self._statements.delete("passage", note=notes)])

    def write(
        self, notes: Sequence[StoredNote], numbers: Mapping[str, int], stamps: Mapping[str, bytes]
    ) -> None:
        """Write notes, new ones and such as the store has; of these only rows that differ."""
        statements, rooms = self._statements, self._rooms
        owners = [numbers[note.row.path] for note in notes]
        rows = sum(len(note.row.chunks) for note in notes)
        if max(*owners, self._generation.next_row + rows) > _MOST:
            raise StoreError(
                "the store has numbered as many rows of this palace as it can: "
                "`palace index --verify --store …` writes it anew, from number 1"
            )
        # Asked for notes that are all new the database would go through what it has just written.
        if stored := [number for number in owners if number <= self._last_stored]:
            old = self._read_rows(stored)
            self._drop(stored)
        else:
            old = {}
        pairs = list(zip(owners, notes, strict=True))
        values = (note_values(n, note, stamps[note.row.path], rooms) for n, note in pairs)
        statements.insert("note", NOTE_COLUMNS, values)
        names = (row for number, note in pairs for row in name_values(number, note))
        statements.insert("name", NAME_COLUMNS, names)
        links = (row for number, note in pairs for row in link_values(number, note))
        statements.insert("link", LINK_COLUMNS, links)
        self._write_rows(pairs, old)

    def finish(self) -> None:
        """Write the posting lists of what is new, and merge small blocks of them."""
        self._flush()
        generation = self._generation
        generation.dead = np.union1d(generation.dead, np.array(self.dead, np.int32))
        self._blocks.merge(self.sent)

    def _drop(self, notes: Sequence[int]) -> None:
        for table, column in _OF_NOTES:
            self._statements.delete(table, **{column: notes})

    def _bury(self, rows: Sequence[int]) -> None:
        self.dead += rows
        self._generation.rows -= len(rows)

    def _read_rows(
        self, owners: Sequence[int]
    ) -> dict[int, dict[bytes, list[tuple[int, _Placed]]]]:
        """Return the rows that the store has of notes, by their marks, last ones first."""
        found: dict[int, dict[bytes, list[tuple[int, _Placed]]]] = defaultdict(dict)
        for note, row, mark, *placed in self._statements.ask(
            "SELECT note, id, mark, place, first_line, last_line FROM passage"
            " WHERE palace = %(palace)s AND note = ANY(%(notes)s) ORDER BY note, place DESC",
            notes=list(owners),
        ):
            found[note].setdefault(mark, []).append((row, tuple(placed)))
        return found

    def _write_rows(
        self,
        pairs: Sequence[tuple[int, StoredNote]],
        old: dict[int, dict[bytes, list[tuple[int, _Placed]]]],
    ) -> None:
        new: list[tuple[Any, ...]] = []
        moved: list[tuple[int, ...]] = []
        for number, note in pairs:
            before = old.get(number, {})
            for place, (mark, chunk) in enumerate(
                zip(mark_rows(note, self._fingerprint), note.row.chunks, strict=True)
            ):
                placed = (place, chunk.first_line, chunk.last_line)
                if before.get(mark):
                    row, was = before[mark].pop()
                    moved += [(row, *placed)] * (was != placed)
                    continue
                self._generation.next_row += 1
                row = self._generation.next_row
                new.append(passage_values(row, number, place, note, mark))
                is_question = not chunk.first_line
                self._posted[note.is_cold].append(PostedRow(row, number, is_question, chunk.keys))
        left = [row for marks in old.values() for rows in marks.values() for row, _ in rows]
        if left:
            self._statements.delete("passage", id=left)
            self._bury(left)
        self._move(moved)
        self._statements.insert("passage", PASSAGE_COLUMNS, new)
        self._generation.rows += len(new)
        self.sent += len(new)
        if max(map(len, self._posted.values())) > BLOCK_ROWS:
            self._flush()

    def _flush(self) -> None:
        for is_cold, rows in self._posted.items():
            self._blocks.write(rows, is_cold=is_cold)
            rows.clear()

    def _move(self, moved: Sequence[tuple[int, ...]]) -> None:
        """Give rows that are the same their new place and lines."""
        if moved:
            rows, places, firsts, lasts = map(list, zip(*moved, strict=True))
            self._statements.run(
                "UPDATE passage SET place = m.place, first_line = m.first, last_line = m.last"
                " FROM unnest(%(rows)s::int[], %(places)s::int[], %(firsts)s::int[],"
                " %(lasts)s::int[]) AS m(row, place, first, last)"
                " WHERE palace = %(palace)s AND id = m.row",
                rows=rows,
                places=places,
                firsts=firsts,
                lasts=lasts,
            )


def batch_notes(notes: Iterator[StoredNote], most_rows: int) -> Iterator[list[StoredNote]]:
    """Yield notes in lists of at most so many rows, or of one note."""
    batch: list[StoredNote] = []
    rows = 0
    for note in notes:
        if batch and rows + len(note.row.chunks) > most_rows:
            yield batch
            batch, rows = [], 0
        batch.append(note)
        rows += len(note.row.chunks)
    if batch:
        yield batch

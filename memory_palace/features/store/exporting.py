"""A palace in a store as a source of notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from psycopg import Connection, ServerCursor
from psycopg.rows import dict_row

from memory_palace.errors import IndexMissingError
from memory_palace.features.store.generation import Generation, read_generation
from memory_palace.features.store.records import read_chunk, read_matrix, read_note_row, read_text
from memory_palace.features.store.statements import Statements
from memory_palace.index.commit import Commit
from memory_palace.index.store import StoredNote

NOTES_AT_A_TIME = 256
_NOTE = "id, path, is_cold, title, type, priority, days, flags, line, record, text"
_VECTORS = ("vector", "described")
_ROW = "note, first_line, last_line, digest, described_digest, line, keys, vector, described"
RawNote: TypeAlias = tuple[dict[str, Any], list[dict[str, Any]]]
"""The columns of a note, and those of each of its rows."""


class StoredIndex:
    """The generation that a store has of a palace; all that is read of it is of one moment."""

    def __init__(self, connection: Connection, palace: int) -> None:
        """Begin a transaction, which whoever owns the connection ends."""
        self._connection, self._palace = connection, palace
        connection.rollback()
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self.statements = Statements(connection, palace)
        found = read_generation(self.statements)
        if found is None:
            raise IndexMissingError(
                "nothing was pushed to this palace of the store; run `palace index --store URL`"
            )
        self.generation: Generation = found

    def read_commit(self) -> Commit:
        """Return the record of the generation, without segments."""
        return self.generation.commit

    def list_stamps(self) -> Mapping[str, bytes]:
        """Return the stamp of every note, by path."""
        return dict(self.statements.ask("SELECT path, stamp FROM note WHERE palace = %(palace)s"))

    def read_notes(self, paths: Collection[str]) -> Iterator[StoredNote]:
        """Yield notes, in the order of their paths."""
        ordered = sorted(paths)
        for start in range(0, len(ordered), NOTES_AT_A_TIME):
            chosen = ordered[start : start + NOTES_AT_A_TIME]
            yield from map(self.decode, self.fetch(chosen))

    def open_cursor(self) -> ServerCursor:
        """Open a cursor whose rows are fetched as they are needed."""
        return self._connection.cursor("rows", binary=True)

    def fetch(self, paths: Sequence[str]) -> Iterator[RawNote]:
        """Yield the columns of notes, and those of their rows, as they stand in the tables."""
        notes = self._ask(
            f"SELECT {_NOTE} FROM note WHERE palace = %(palace)s AND path = ANY(%(paths)s)"
            " ORDER BY path",
            paths=list(paths),
        )
        rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for row in self._ask(
            f"SELECT {_ROW} FROM passage WHERE palace = %(palace)s AND note = ANY(%(notes)s)"
            " ORDER BY note, place",
            notes=[note["id"] for note in notes],
        ):
            rows[row["note"]].append(row)
        for note in notes:
            yield note, rows[note["id"]]

    def decode(self, raw: RawNote) -> StoredNote:
        """Return what columns say; raise ``IndexDamagedError`` where they say nothing."""
        note, own = raw
        record = read_note_row(note["path"], note, [read_chunk(row) for row in own])
        if own:
            rows, (dimension,) = [row[_VECTORS[0]] for row in own], self.generation.dimensions
            record = replace(record, vectors=read_matrix(rows, dimension, note["path"]))
        return StoredNote(record, note["is_cold"], read_text(note["text"], note["path"]))

    def _ask(self, statement: str, **values: Any) -> list[dict[str, Any]]:
        with self._connection.cursor(row_factory=dict_row, binary=True) as cursor:
            cursor.execute(statement.encode(), values | {"palace": self._palace})
            rows: list[dict[str, Any]] = cursor.fetchall()
            return rows

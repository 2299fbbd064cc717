"""Push a generation of an index to a store: the notes that differ, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any, LiteralString, NamedTuple

import numpy as np
from pgvector import HalfVector
from psycopg import Connection
from psycopg.errors import DiskFull

from memory_palace.address import Address
from memory_palace.config import Config, PalacePaths
from memory_palace.errors import IndexDamagedError, StoreError, WrongEmbedderError
from memory_palace.features.store.access import make_palace
from memory_palace.features.store.connecting import asking, connect
from memory_palace.features.store.generation import (
    Generation,
    begin_anew,
    is_same_record,
    kept_settings,
    read_generation,
    record_of,
    write_generation,
)
from memory_palace.features.store.lists import NO_TERMS, ListWriter, list_terms
from memory_palace.features.store.notes import (
    NOTE_COLUMNS,
    PASSAGE_COLUMNS,
    PAYLOAD,
    pack_note,
    read_figures,
    unpack_note,
)
from memory_palace.features.store.schema import migrate
from memory_palace.features.store.statements import Hook, Statements, ignore
from memory_palace.features.store.values import Pushed
from memory_palace.index.commit import has_same_vectors
from memory_palace.index.store import IndexFiles, StoredNote
from memory_palace.models import Vector
from memory_palace.storage.lock import writer_lock

_NONE: Mapping[str, Any] = MappingProxyType({})
BATCH_ROWS = 16_384
"""Rows in memory at a time."""
_NOTES_AT_A_TIME = 500
INDEXED_ROWS = 20_000
"""From here on vectors are found by an index (HNSW); below it all of them are compared."""
_COUNTED_ROWS, _COUNTED_SHARE = 500, 0.1
"""A push of more rows than this, and than this share of all, has the planner count them anew."""
_OTHER_NOTES = 10
"""So many notes, and half of all, have to go or be others before a push is taken for a mistake."""
_LINKS_BYTES = 1_000
"""What a row takes in a graph that is being built, its vector aside."""
_MOST_KIB = 2 << 20


class _Known(NamedTuple):
    """A note as the store has it."""

    number: int
    stamp: bytes
    digest: bytes


class Builder:
    """Writes one palace of a store."""

    def __init__(self, connection: Connection, address: Address, palace: int) -> None:
        self._connection, self._address, self._palace = connection, address, palace

    def find_vectors(self, fingerprint: str, digests: Sequence[bytes]) -> Mapping[bytes, Vector]:
        """Return the vectors of texts that the store has, by digest; see ``FindVectors``."""
        with asking(self._address), self._connection.transaction():
            statements = Statements(self._connection, self._palace)
            stored = read_generation(statements)
            if not digests or stored is None or not _has_vectors(stored, fingerprint):
                return {}
            size = 4 * stored.commit.dimension
            rows = statements.ask(
                "SELECT p.digest, substr(n.vectors, p.place * %(size)s + 1, %(size)s)"
                " FROM passage AS p JOIN note AS n ON n.palace = p.palace AND n.id = p.note"
                " WHERE p.palace = %(palace)s AND p.digest = ANY(%(digests)s)",
                digests=list(digests),
                size=size,
            )
        return {d: np.frombuffer(v, "<f4") for d, v in rows if size and len(v) == size}

    def push(
        self,
        paths: PalacePaths,
        config: Config,
        *,
        replaces: bool,
        renews: bool,
        wait_seconds: float,
    ) -> Pushed:
        """Make the store hold the index of a folder; ``renews`` mends what is damaged there.

        Raise ``WrongEmbedderError`` where its vectors are another embedder's, unless ``replaces``.
        """
        with writer_lock(paths.lock, wait_seconds=wait_seconds), asking(self._address):
            source = IndexFiles(paths)
            commit = source.read_commit()
            stored = self._read_generation(is_damaged=renews)
            if stored and not replaces and not _has_vectors(stored, commit.fingerprint):
                theirs = stored.commit.embedder
                raise WrongEmbedderError(
                    f"{self._address.shown} was indexed with {theirs}, and these notes with "
                    f"{commit.embedder}: `palace index --embedder {theirs} --force --store …` "
                    "makes these fit, `palace index --force --store …` replaces what is there"
                )
            return push(
                self._connection,
                self._palace,
                source,
                built_by=self._connection.info.parameter_status("application_name") or "",
                renews=renews,
                settings=kept_settings(config),
                wait_seconds=wait_seconds,
            )

    def _read_generation(self, *, is_damaged: bool) -> Generation | None:
        try:
            with self._connection.transaction():
                return read_generation(Statements(self._connection, self._palace))
        except IndexDamagedError:
            if is_damaged:
                return None
            raise


@contextmanager
def open_builder(address: Address) -> Iterator[Builder]:
    """Connect to a store, which is made or brought up to date, and to the palace in it."""
    connection = connect(address, purpose="index")
    try:
        migrate(connection, address)
        yield Builder(connection, address, make_palace(connection, address))
    finally:
        connection.close()


def _has_vectors(stored: Generation, fingerprint: str) -> bool:
    return has_same_vectors(str(stored.record["fingerprint"]), fingerprint)


def push(
    connection: Connection,
    palace: int,
    source: IndexFiles,
    *,
    built_by: str = "",
    renews: bool = False,
    settings: Mapping[str, Any] = _NONE,
    wait_seconds: float = 0.0,
    hook: Hook = ignore,
) -> Pushed:
    """Make the store hold what an index of files holds; readers see all of it or nothing.

    ``renews`` writes all of it again, whatever is there; ``settings`` go along, see
    ``kept_settings``. Raise ``IndexLockedError`` after ``wait_seconds`` of another writer of this
    palace, ``NotesFailedError`` where a note has changed since it was indexed, and ``StoreError``
    where most notes of a store that somebody else wrote, or in another folder, would be replaced.
    """
    # Whatever takes the longer the more notes there are is done before others have to wait.
    stamps = source.list_stamps()
    disputes = source.list_disputes(stamps)
    record = record_of(source.read_commit(), dict(settings), source.rooms, disputes)
    sample = take_sample(source)
    statements = Statements(connection, palace, hook)
    with statements.transaction(wait_seconds=wait_seconds):
        before = begin_anew(statements) if renews else read_generation(statements)
        if before is None or before.record.get("fingerprint") != record["fingerprint"]:
            before = Generation(before.number if before else 0)
            _empty(statements)
        known = {
            path: _Known(*values)
            for path, *values in statements.ask(
                "SELECT path, id, stamp, digest FROM note WHERE palace = %(palace)s"
            )
        }
        is_same = {path: note.stamp for path, note in known.items()} == stamps
        if is_same and is_same_record(before.record, record):
            return Pushed(before.number, is_new=False)
        if before.built_by not in ("", built_by):
            _refuse_others(source, before, known, stamps)
        made = replace(before, number=before.number + 1, record=record, built_by=built_by)
        made, pushed = _write(statements, source, made, known, stamps)
        write_generation(statements, made, sample)
        return pushed


def take_sample(source: IndexFiles) -> bytes:
    """Return the vectors that say what a cosine is by chance, none of a private note."""
    hot = source.snapshot
    if not hot.commit.dimension:
        return b""
    rows = hot.sample
    rows = rows[~hot.private[hot.row_note[rows]]]
    return hot.rows_of(rows).astype("<f4").tobytes()


def _empty(statements: Statements) -> None:
    """Begin anew: with another recipe nothing stays what it was."""
    for table in ("note", "passage", "posting"):
        statements.delete(table)
    statements.ask("SELECT index_vectors(%(palace)s, 0)")


def _refuse_others(
    source: IndexFiles,
    stored: Generation,
    known: Mapping[str, _Known],
    stamps: Mapping[str, bytes],
) -> None:
    """Raise ``StoreError`` where hardly a note stays: most likely these are of another palace."""
    gone = len(known.keys() - stamps.keys())
    digests = source.note_digests(known.keys() & stamps.keys())
    others = sum(digests[path] != known[path].digest for path in digests)
    if gone + others > max(_OTHER_NOTES, stored.notes / 2):
        raise StoreError(
            f"the store holds other notes, last pushed by {stored.built_by}: of "
            f"{stored.notes}, {gone} would go and {others} be replaced; push from "
            "where these lie, or add --verify to replace them, or name another palace after #"
        )


def _write(
    statements: Statements,
    source: IndexFiles,
    made: Generation,
    known: Mapping[str, _Known],
    stamps: Mapping[str, bytes],
) -> tuple[Generation, Pushed]:
    """Write the notes that differ; return the generation with its counts."""
    changed = {path for path in known.keys() & stamps.keys() if known[path].stamp != stamps[path]}
    added = sorted(stamps.keys() - known.keys())
    gone = known.keys() - stamps.keys()
    numbers = {path: known[path].number for path in changed}
    numbers |= {path: number for number, path in enumerate(added, made.next_note + 1)}
    lists = ListWriter(statements, made.next_note)
    removed = _remove(statements, lists, [known[path].number for path in (*gone, *changed)])
    dimension, sent = int(made.record["dimension"]), 0
    for notes in _batch(source.read_notes(numbers)):
        sent += _insert(statements, lists, notes, numbers, stamps)
    lists.flush()
    rows = made.rows + sent - removed
    if dimension and rows >= INDEXED_ROWS > made.rows:
        _index_vectors(statements, rows, dimension)
    if sent > max(_COUNTED_ROWS, _COUNTED_SHARE * rows):
        statements.ask("SELECT count_rows(%(palace)s)")
    ((data,),) = statements.ask(
        "SELECT coalesce(string_agg(figures, '' ORDER BY id), '') FROM note"
        " WHERE palace = %(palace)s"
    )
    figures = read_figures(data)
    made = replace(
        made,
        notes=len(figures),
        passages=int(figures["passages"][~figures["is_cold"]].sum()),
        rows=rows,
        next_note=made.next_note + len(added),
    )
    return made, Pushed(made.number, len(added), len(changed), len(gone), sent, removed)


def _remove(statements: Statements, lists: ListWriter, notes: Sequence[int]) -> int:
    """Remove notes, and return how many rows went."""
    removed = 0
    for start in range(0, len(notes), _NOTES_AT_A_TIME):
        part = notes[start : start + _NOTES_AT_A_TIME]
        old = statements.ask(
            f"SELECT id, {PAYLOAD} FROM note WHERE palace = %(palace)s AND id = ANY(%(notes)s)",
            notes=part,
        )
        terms = list_terms(
            (number, unpack_note(path, record, keys, b"", 0))
            for number, path, record, keys, _ in old
        )
        lists.change(terms, NO_TERMS)
        statements.delete("note", id=part)
        removed += statements.delete("passage", note=part)
    return removed


def _insert(
    statements: Statements,
    lists: ListWriter,
    notes: Sequence[StoredNote],
    numbers: Mapping[str, int],
    stamps: Mapping[str, bytes],
) -> int:
    """Insert notes, and return how many rows they have."""
    pairs = [(numbers[note.row.path], note) for note in notes]
    values = (pack_note(number, note, stamps[note.row.path]) for number, note in pairs)
    statements.insert("note", NOTE_COLUMNS, values)
    passages = [values for number, note in pairs for values in passage_values(number, note)]
    columns = PASSAGE_COLUMNS
    if passages and passages[0][-1] is None:
        columns = {name: kind for name, kind in columns.items() if name != "vector"}
        passages = [values[:-1] for values in passages]
    statements.insert("passage", columns, passages)
    lists.change(NO_TERMS, list_terms((number, note.row) for number, note in pairs))
    return len(passages)


def passage_values(number: int, note: StoredNote) -> Iterator[tuple[Any, ...]]:
    """Yield the values of ``PASSAGE_COLUMNS`` for each row of a note."""
    for place, chunk in enumerate(note.row.chunks):
        vector = note.row.vectors[place]
        yield number, place, chunk.digest, HalfVector(vector) if len(vector) else None


def _batch(notes: Iterable[StoredNote]) -> Iterator[list[StoredNote]]:
    """Yield notes in lists of at most ``BATCH_ROWS`` rows, or of one note."""
    batch: list[StoredNote] = []
    rows = 0
    for note in notes:
        if batch and rows + len(note.row.chunks) > BATCH_ROWS:
            yield batch
            batch, rows = [], 0
        batch.append(note)
        rows += len(note.row.chunks)
    if batch:
        yield batch


def _index_vectors(statements: Statements, rows: int, dimension: int) -> None:
    """Build the graph in memory: outside of it that takes many times as long."""
    needed = rows * (2 * dimension + _LINKS_BYTES) // 1024
    statements.ask(
        "SELECT set_config('maintenance_work_mem', greatest(setting::int, %(kib)s)::text, true)"
        " FROM pg_settings WHERE name = 'maintenance_work_mem'",
        kib=min(needed, _MOST_KIB),
    )
    make: LiteralString = "SELECT index_vectors(%(palace)s, %(dim)s)"
    try:
        with statements.connection.transaction():
            statements.ask(make, dim=dimension)
    except DiskFull:  # or the memory that processes share, of which a container has 64 MB
        statements.ask("SELECT set_config('max_parallel_maintenance_workers', '0', true)")
        statements.ask(make, dim=dimension)

"""Push a file index to a store: write the changed notes in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from pgvector import HalfVector
from psycopg import Connection
from psycopg.errors import DiskFull

from memory_palace.config import Config
from memory_palace.errors import StoreError, WrongEmbedderError
from memory_palace.features.store.connecting import Statements
from memory_palace.features.store.outline import BLOCK_NOTES, NO_TERMS, list_terms, write_lists
from memory_palace.features.store.reaching import Pushed
from memory_palace.features.store.rows import (
    NOTE_COLUMNS,
    Generation,
    IndexFiles,
    StoredNote,
    make_record,
    pack_note,
    read_generation,
    unpack_note,
    write_generation,
)
from memory_palace.index.commit import has_same_vectors
from memory_palace.index.snapshot import Snapshot

INDEXED_ROWS = 20_000
"""Fewest passages with an HNSW index; the vectors of fewer passages are compared exhaustively."""
COUNTED_ROWS, _COUNTED_SHARE = 500, 0.1
"""Rows, and share of all rows, above which a push refreshes the planner's statistics."""
_OTHER_NOTES = 10
"""A push that removes or replaces more notes than this, and than half of all, is refused."""
_LINKS_BYTES = 1_000
"""Bytes of a row in the HNSW graph during its build, without the vector."""
_MOST_KIB = 2 << 20


def push(
    connection: Connection,
    palace: int,
    source: IndexFiles,
    config: Config,
    *,
    replaces: bool = False,
    renews: bool = False,
    wait_seconds: float = 0.0,
) -> Pushed:
    """Write an index of files to a palace of a store, in one transaction; return its counts.

    ``renews`` rewrites every note. Raise ``IndexLockedError`` after ``wait_seconds`` of another
    writer of this palace, ``NotesFailedError`` if a note has changed since it was indexed,
    ``WrongEmbedderError`` if the store's vectors are from another embedder, unless ``replaces``,
    and ``StoreError`` if most notes, last pushed by another user or from another folder, would be
    replaced.
    """
    # Work proportional to the number of notes is done before the lock is taken.
    stamps, commit = source.list_stamps(), source.read_commit()
    record, (sample, passages) = make_record(source, config, stamps), measure(source)
    built_by = connection.info.parameter_status("application_name") or ""
    statements = Statements(connection, palace)
    with statements.writing(wait_seconds):
        ((number,),) = statements.ask(
            "SELECT coalesce(max(number), 0) FROM generation WHERE palace = %(palace)s"
        )
        before = (None if renews else read_generation(statements)) or Generation(number)
        theirs = before.record.get("fingerprint", "")
        if theirs and not replaces and not has_same_vectors(theirs, commit.fingerprint):
            name = before.commit.embedder
            raise WrongEmbedderError(
                f"the store was indexed with {name}, and these notes with {commit.embedder}: "
                f"`palace index --embedder {name} --force --store …` makes these fit, "
                "`palace index --force --store …` replaces what is there"
            )
        rows = statements.ask("SELECT path, id, stamp FROM note WHERE palace = %(palace)s")
        known: dict[str, tuple[int, bytes]] = {path: (number, mark) for path, number, mark in rows}
        is_same = {path: mark for path, (_, mark) in known.items()} == stamps
        if is_same and before.record == record:
            return Pushed(number, is_new=False)
        if theirs == commit.fingerprint and before.built_by not in ("", built_by):
            _refuse_others(statements, source, before, stamps)
        if theirs != commit.fingerprint:
            before, known = Generation(number), {}
            for table in ("note", "passage", "posting"):
                statements.run(f"DELETE FROM {table} WHERE palace = %(palace)s")
            statements.run("SELECT index_vectors(%(palace)s, 0)")
        pushed = _write(statements, source, before, known, stamps)
        _settle(statements, commit.dimension, pushed.rows_sent, passages)
        last = before.last_note + pushed.added
        made = Generation(pushed.generation, record, built_by, len(stamps), passages, last)
        write_generation(statements, made, sample)
        return pushed


def measure(source: IndexFiles) -> tuple[bytes, int]:
    """Return the sample of vectors as float32 bytes, and the number of passages that are not cold.

    Private notes are left out. The sample calibrates the cosines of unrelated texts.
    """
    hot = Snapshot(source.read_commit(), [source.state.hot], rooms=source.paths.rooms)
    rows = hot.sample[~hot.private[hot.row_note[hot.sample]]]
    passages = int(np.count_nonzero(hot.hot_rows & ~np.append(hot.private, True)[hot.row_note]))
    return hot.rows_of(rows).astype("<f4").tobytes(), passages


def _refuse_others(
    statements: Statements, source: IndexFiles, stored: Generation, stamps: Mapping[str, bytes]
) -> None:
    """Raise ``StoreError`` if a push removes or replaces most notes, as another palace's would."""
    theirs = dict(statements.ask("SELECT path, digest FROM note WHERE palace = %(palace)s"))
    gone = len(theirs.keys() - stamps.keys())
    ours = {note.path: note.digest for note in source.state.known() if note.path in stamps}
    others = sum(ours[path] != theirs[path] for path in theirs.keys() & ours.keys())
    if gone + others > max(_OTHER_NOTES, stored.notes / 2):
        raise StoreError(
            f"the store holds other notes, last pushed by {stored.built_by}: of "
            f"{stored.notes}, {gone} would go and {others} be replaced; push from "
            "where these lie, or add --verify to replace them, or name another palace after #"
        )


def _write(
    statements: Statements,
    source: IndexFiles,
    before: Generation,
    known: Mapping[str, tuple[int, bytes]],
    stamps: Mapping[str, bytes],
) -> Pushed:
    """Write added and changed notes and delete removed ones; new notes get fresh numbers."""
    changed = {path for path in known.keys() & stamps.keys() if known[path][1] != stamps[path]}
    added, gone = sorted(stamps.keys() - known.keys()), known.keys() - stamps.keys()
    numbers = {path: known[path][0] for path in changed}
    numbers |= {path: number for number, path in enumerate(added, before.last_note + 1)}
    old, removed, sent = [known[path][0] for path in (*gone, *changed)], 0, 0
    for start in range(0, len(old), BLOCK_NOTES):
        notes = {"notes": old[start : start + BLOCK_NOTES]}
        rows = statements.ask(
            "DELETE FROM note WHERE palace = %(palace)s AND id = ANY(%(notes)s)"
            " RETURNING id, path, record, keys",
            **notes,
        )
        read = ((n, unpack_note(path, record, keys, b"", 0)) for n, path, record, keys in rows)
        write_lists(statements, list_terms(read), NO_TERMS)
        remove = "DELETE FROM passage WHERE palace = %(palace)s AND note = ANY(%(notes)s)"
        removed += statements.run(remove, **notes).rowcount
    left = source.read_notes(numbers)
    while pairs := [(numbers[note.row.path], note) for note in islice(left, BLOCK_NOTES)]:
        values = (pack_note(number, note, stamps[note.row.path]) for number, note in pairs)
        statements.insert("note", NOTE_COLUMNS, values)
        passages = [values for number, note in pairs for values in list_passages(number, note)]
        vectors = {"vector": "halfvec"} if source.read_commit().dimension else {}
        statements.insert("passage", {"note": "int4", "place": "int4", **vectors}, passages)
        write_lists(statements, NO_TERMS, list_terms((n, note.row) for n, note in pairs))
        sent += len(passages)
    counts = len(added), len(changed), len(gone), sent, removed
    return Pushed(before.number + 1, *counts)


def list_passages(number: int, note: StoredNote) -> Iterator[tuple[Any, ...]]:
    """Yield note number, position and vector (if the index has vectors) of each chunk of a note."""
    for place, vector in enumerate(note.row.vectors[: len(note.row.chunks)]):
        yield number, place, *([HalfVector(vector)] if len(vector) else [])


def _settle(statements: Statements, dimension: int, sent: int, passages: int) -> None:
    """Build the HNSW index if there are many passages; analyze the tables after a large push.

    ``maintenance_work_mem`` is raised to hold the graph: a build on disk is many times slower.
    """
    if dimension and passages >= INDEXED_ROWS:
        needed = passages * (2 * dimension + _LINKS_BYTES) // 1024
        statements.run(
            "SELECT set_config('maintenance_work_mem', greatest(setting::int, %(kib)s)::text, true)"
            " FROM pg_settings WHERE name = 'maintenance_work_mem'",
            kib=min(needed, _MOST_KIB),
        )
        make = "SELECT index_vectors(%(palace)s, %(dim)s)"
        try:
            with statements.connection.transaction():
                statements.run(make, dim=dimension)
        except DiskFull:  # or shared memory for parallel workers: 64 MB in a container
            statements.run("SELECT set_config('max_parallel_maintenance_workers', '0', true)")
            statements.run(make, dim=dimension)
    if sent > max(COUNTED_ROWS, _COUNTED_SHARE * passages):
        statements.run("SELECT count_rows(%(palace)s)")

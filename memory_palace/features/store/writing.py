"""Push a generation of an index to a store: the difference, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, LiteralString, NamedTuple

import numpy as np
from psycopg import Connection
from psycopg.errors import DiskFull

from memory_palace.errors import StoreError
from memory_palace.features.store.generation import (
    Generation,
    Grouped,
    Totals,
    begin_anew,
    count_statistics,
    group_notes,
    is_same_record,
    read_generation,
    record_of,
    write_generation,
)
from memory_palace.features.store.placing import RowWriter, batch_notes
from memory_palace.features.store.statements import Hook, Statements, ignore
from memory_palace.features.store.values import Pushed
from memory_palace.index.calibration import SAMPLE
from memory_palace.index.store import IndexFiles

_NONE: Mapping[str, Any] = MappingProxyType({})
BATCH_ROWS = 16_384
"""Rows in memory at a time; each batch makes a block of posting lists."""
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
    digest: str


class _Head(NamedTuple):
    """What is known of all notes before the transaction."""

    record: dict[str, Any]
    groups: Grouped
    statistics: Totals
    built_by: str


@dataclass(slots=True)
class _Difference:
    """What has to be done to the notes of a store."""

    numbers: dict[str, int] = field(default_factory=dict)
    """Notes to be written, by path, with the numbers they have or get."""
    gone: list[int] = field(default_factory=list)
    changed: dict[str, str] = field(default_factory=dict)
    """Digests that the store has of notes which are written anew, by path."""
    added: int = 0
    moved: int = 0


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
    stamps, record = source.list_stamps(), record_of(source.read_commit(), settings)
    # Whatever takes the longer the more notes there are is done before others have to wait.
    head = _Head(record, group_notes(stamps), count_statistics(source.snapshot), built_by)
    statements = Statements(connection, palace, hook)
    with statements.transaction(wait_seconds=wait_seconds):
        before = begin_anew(statements) if renews else read_generation(statements)
        is_same = before is not None and np.array_equal(before.groups, head.groups.sums)
        if before and not renews and is_same and is_same_record(before.record, record):
            return Pushed(before.number, is_new=False)
        return _write(statements, source, before or Generation(), stamps, head)


def _write(
    statements: Statements,
    source: IndexFiles,
    generation: Generation,
    stamps: Mapping[str, bytes],
    head: _Head,
) -> Pushed:
    """Write what differs, and the record last."""
    record = head.record
    writer = RowWriter(statements, generation, record["fingerprint"], source.rooms)
    before = generation.rows
    if generation.record.get("fingerprint", "") != record["fingerprint"]:
        before = 0
        writer.empty()
    found = _compare(statements, source, generation, stamps, head.groups)
    if generation.built_by not in ("", head.built_by):
        _refuse_others(source, generation, found)
    writer.remove(found.gone)
    for batch in batch_notes(source.read_notes(found.numbers), BATCH_ROWS):
        writer.write(batch, found.numbers, stamps)
    writer.finish()
    if record["dimension"] and generation.rows >= INDEXED_ROWS > before:
        _index_vectors(statements, generation.rows, record["dimension"])
    if writer.sent > max(_COUNTED_ROWS, _COUNTED_SHARE * generation.rows):
        statements.ask("SELECT count_rows(%(palace)s)")
    generation.sample = find_sample(statements)
    generation.groups, generation.record = head.groups.sums, record
    generation.number, generation.built_by = generation.number + 1, head.built_by
    generation.notes, generation.statistics = len(stamps), head.statistics
    write_generation(statements, generation)
    return Pushed(
        generation.number,
        found.added,
        len(found.changed),
        found.moved,
        len(found.gone),
        writer.sent,
        len(writer.dead),
    )


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


def _compare(
    statements: Statements,
    source: IndexFiles,
    generation: Generation,
    stamps: Mapping[str, bytes],
    groups: Grouped,
) -> _Difference:
    """Find what differs in the groups that do; a note is moved where its bytes are the same."""
    buckets = np.flatnonzero(groups.sums != generation.groups).tolist()
    rows = statements.ask(
        "SELECT path, id, stamp, record->>'digest' FROM note"
        " WHERE palace = %(palace)s AND bucket = ANY(%(buckets)s)",
        buckets=buckets,
    )
    known = {path: _Known(*values) for path, *values in rows}
    found = _Difference()
    gone = {note.digest: path for path, note in known.items() if path not in stamps}
    new = []
    for path in (path for bucket in buckets for path in groups.paths[bucket]):
        if path not in known:
            new.append(path)
        elif known[path].stamp != stamps[path]:
            found.numbers[path] = known[path].number
            found.changed[path] = known[path].digest
    digests = source.note_digests(new) if gone else {}
    for path in new:
        before = gone.pop(digests[path].hex(), None) if gone else None
        if before is None:
            generation.next_note += 1
        found.numbers[path] = known.pop(before).number if before else generation.next_note
        found.moved += before is not None
        found.added += before is None
    found.gone = [note.number for path, note in known.items() if path not in stamps]
    return found


def _refuse_others(source: IndexFiles, generation: Generation, found: _Difference) -> None:
    """Raise ``StoreError`` where hardly a note stays: most likely these are of another palace."""
    most = max(_OTHER_NOTES, generation.notes / 2)
    if len(found.gone) + len(found.changed) <= most:
        return
    digests = source.note_digests(found.changed)
    others = sum(digests[path].hex() != digest for path, digest in found.changed.items())
    if len(found.gone) + others > most:
        raise StoreError(
            f"the store holds other notes, last pushed by {generation.built_by}: of "
            f"{generation.notes}, {len(found.gone)} would go and {others} be replaced; push from "
            "where these lie, or add --verify to replace them, or name another palace after #"
        )


def find_sample(statements: Statements) -> list[int]:
    """Return the hot passages with the smallest digests, in the order of these."""
    rows = statements.ask(
        "SELECT id FROM passage WHERE palace = %(palace)s AND NOT is_cold AND first_line > 0"
        " ORDER BY digest, id LIMIT %(limit)s",
        limit=SAMPLE,
    )
    return [row for (row,) in rows]

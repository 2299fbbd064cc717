"""Push a generation of an index to a store: the difference, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection

from memory_palace.index.calibration import SAMPLE
from memory_palace.index.store import IndexFiles
from memory_palace.postgres.generation import (
    Generation,
    begin_anew,
    count_statistics,
    group_stamps,
    is_same_record,
    read_generation,
    record_of,
    write_generation,
)
from memory_palace.postgres.placing import RowWriter, batch_notes
from memory_palace.postgres.records import bucket_of
from memory_palace.postgres.statements import Hook, Statements, ignore

_NONE: Mapping[str, Any] = MappingProxyType({})
BATCH_ROWS = 16_384
"""Rows in memory at a time; each batch makes a block of posting lists."""
INDEXED_ROWS = 20_000
"""From here on vectors are found by an index (HNSW); below it all of them are compared."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did, counted in the store."""

    generation: int
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    rows_sent: int = 0
    rows_removed: int = 0
    is_new: bool = True
    """Whether anything was written."""


class _Known(NamedTuple):
    """A note as the store has it."""

    number: int
    stamp: bytes
    digest: str


@dataclass(slots=True)
class _Difference:
    """What has to be done to the notes of a store."""

    numbers: dict[str, int] = field(default_factory=dict)
    """Notes to be written, by path, with the numbers they have or get."""
    gone: list[int] = field(default_factory=list)
    added: int = 0
    changed: int = 0
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
    palace, and ``NotesFailedError`` where a note has changed since it was indexed.
    """
    stamps, record = source.list_stamps(), record_of(source.read_commit(), settings)
    statements = Statements(connection, palace, hook)
    with statements.transaction(wait_seconds=wait_seconds):
        before = begin_anew(statements) if renews else read_generation(statements)
        groups = group_stamps(stamps)
        is_same = before is not None and np.array_equal(before.groups, groups)
        if before and not renews and is_same and is_same_record(before.record, record):
            return Pushed(before.number, is_new=False)
        generation = before or Generation()
        return _write(statements, source, generation, stamps, (groups, record, built_by))


def _write(
    statements: Statements,
    source: IndexFiles,
    generation: Generation,
    stamps: Mapping[str, bytes],
    head: tuple[NDArray[np.uint64], dict[str, Any], str],
) -> Pushed:
    """Write what differs, and the record last."""
    groups, record, built_by = head
    writer = RowWriter(statements, generation, record["fingerprint"], source.rooms)
    before = generation.rows
    if generation.record.get("fingerprint", "") != record["fingerprint"]:
        before = 0
        writer.empty()
    found = _compare(statements, source, generation, stamps, groups)
    writer.remove(found.gone)
    for batch in batch_notes(source.read_notes(found.numbers), BATCH_ROWS):
        writer.write(batch, found.numbers, stamps)
    writer.finish()
    if record["dimension"] and generation.rows >= INDEXED_ROWS > before:
        statements.run("SET LOCAL maintenance_work_mem = '256MB'")
        statements.ask("SELECT index_vectors(%(palace)s, %(dim)s)", dim=record["dimension"])
    generation.sample = find_sample(statements)
    generation.groups, generation.record = groups, record
    generation.number, generation.built_by = generation.number + 1, built_by
    generation.notes, generation.statistics = len(stamps), count_statistics(source.snapshot)
    write_generation(statements, generation)
    return Pushed(
        generation.number,
        found.added,
        found.changed,
        found.moved,
        len(found.gone),
        writer.sent,
        len(writer.dead),
    )


def _compare(
    statements: Statements,
    source: IndexFiles,
    generation: Generation,
    stamps: Mapping[str, bytes],
    groups: NDArray[np.uint64],
) -> _Difference:
    """Find what differs in the groups that do; a note is moved where its bytes are the same."""
    buckets = set(np.flatnonzero(groups != generation.groups).tolist())
    rows = statements.ask(
        "SELECT path, id, stamp, record->>'digest' FROM note"
        " WHERE palace = %(palace)s AND bucket = ANY(%(buckets)s)",
        buckets=list(buckets),
    )
    known = {path: _Known(*values) for path, *values in rows}
    found = _Difference()
    gone = {note.digest: path for path, note in known.items() if path not in stamps}
    new = []
    for path, stamp in stamps.items():
        if bucket_of(path) not in buckets:
            continue
        if path not in known:
            new.append(path)
        elif known[path].stamp != stamp:
            found.numbers[path] = known[path].number
            found.changed += 1
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


def find_sample(statements: Statements) -> list[int]:
    """Return the hot passages with the smallest digests, in the order of these."""
    rows = statements.ask(
        "SELECT id FROM passage WHERE palace = %(palace)s AND NOT is_cold AND first_line > 0"
        " ORDER BY digest, id LIMIT %(limit)s",
        limit=SAMPLE,
    )
    return [row for (row,) in rows]

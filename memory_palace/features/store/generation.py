"""What a store says of a palace as a whole: the commit record and the statistics."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.features.store.packing import damaged
from memory_palace.features.store.records import BUCKETS, bucket_of
from memory_palace.features.store.statements import Statements
from memory_palace.index.commit import Commit
from memory_palace.index.postings import FIELDS
from memory_palace.index.snapshot import Snapshot

_GROUP_BYTES = 8
_OF_FILES = ("segments", "previous", "anchors")
_SETTINGS = "settings"
_OF_ONE_BUILD = ("generation", "scanned_ns", "built_ns", "manifest", "git_head")
"""Fields of the record that differ between two builds of the same notes."""
_COLUMNS = (
    "number record built_by notes hot_notes passages rows lengths next_note next_row next_block "
    "dead blocks groups sample".split()
)
READ = f"SELECT {', '.join(_COLUMNS)} FROM generation WHERE palace = %(palace)s"
_WRITE = (
    f"INSERT INTO generation (palace, {', '.join(_COLUMNS)})"
    f" VALUES (%(palace)s, {', '.join(f'%({name})s' for name in _COLUMNS)})"
    " ON CONFLICT (palace) DO UPDATE SET built_at = now(), "
    + ", ".join(f"{name} = EXCLUDED.{name}" for name in _COLUMNS)
)


class Totals(NamedTuple):
    """What BM25 needs of the notes outside the cold zone."""

    passages: int
    hot_notes: int
    """Those with words."""
    lengths: tuple[int, ...]
    """How many terms all passages hold, by field."""


NO_TOTALS = Totals(0, 0, (0,) * len(FIELDS))


@dataclass(slots=True)
class Generation:
    """The row of a palace in the table ``generation``."""

    number: int = 0
    record: dict[str, Any] = field(default_factory=dict)
    built_by: str = ""
    notes: int = 0
    rows: int = 0
    """Live ones, those of the cold zone and questions as well."""
    statistics: Totals = NO_TOTALS
    next_note: int = 0
    next_row: int = 0
    next_block: int = 1
    dead: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """Rows that posting lists still hold, ascending."""
    blocks: dict[int, int] = field(default_factory=dict)
    """How many rows each block was written with; those of the cold zone are negative."""
    groups: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(BUCKETS, np.uint64))
    """For each group of notes what its stamps come to."""
    sample: list[int] = field(default_factory=list)
    """The rows that say what a cosine has by chance."""

    @property
    def dimensions(self) -> tuple[int, ...]:
        """How long the vectors of a row are."""
        return (self.record["dimension"],)

    @property
    def commit(self) -> Commit:
        """The record as a reader of files has it, without segments."""
        record = {name: value for name, value in self.record.items() if name != _SETTINGS}
        return Commit(generation=self.number, **record)

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was pushed of the settings; see ``kept_settings``."""
        found: Mapping[str, Any] = self.record.get(_SETTINGS, {})
        return found


def read_generation(statements: Statements) -> Generation | None:
    """Return what is committed for a palace; nothing was pushed to it where there is no row.

    Raise ``IndexDamagedError`` for a row that cannot be read.
    """
    found = statements.ask(READ)
    if not found:
        return None
    row = dict(zip(_COLUMNS, found[0], strict=True))
    try:
        generation = Generation(
            statistics=Totals(row.pop("passages"), row.pop("hot_notes"), tuple(row.pop("lengths"))),
            dead=np.frombuffer(row.pop("dead"), "<i4"),
            blocks={int(block): int(rows) for block, rows in row.pop("blocks").items()},
            groups=np.frombuffer(row.pop("groups"), "<u8"),
            **row,
        )
        for name in ("second_dimension", "advised"):  # of older stores
            generation.record.pop(name, None)
        commit = generation.commit
        types = [type(commit.fingerprint), type(commit.dimension), type(commit.calibration)]
        types += [type(commit.embedder), type(generation.settings)]
        sizes = (len(generation.groups), len(generation.statistics.lengths))
    except (AttributeError, TypeError, ValueError):
        raise damaged("the record of the generation") from None
    is_whole = sizes == (BUCKETS, len(FIELDS)) and types == [str, int, dict, str, dict]
    if not is_whole or commit.dimension < 0:
        raise damaged("the record of the generation")
    return generation


def begin_anew(statements: Statements) -> Generation:
    """Return a generation that holds nothing, after the one that is there."""
    found = statements.ask("SELECT number FROM generation WHERE palace = %(palace)s")
    return Generation(number=found[0][0] if found else 0)


def write_generation(statements: Statements, generation: Generation) -> None:
    """Replace the row: with the commit of this transaction readers see the new generation."""
    passages, hot_notes, lengths = generation.statistics
    statements.run(
        _WRITE,
        passages=passages,
        hot_notes=hot_notes,
        lengths=list(lengths),
        dead=generation.dead.astype("<i4").tobytes(),
        record=json.dumps(generation.record),
        blocks=json.dumps(generation.blocks),
        groups=generation.groups.astype("<u8").tobytes(),
        **{
            name: getattr(generation, name)
            for name in "number built_by notes rows next_note next_row next_block sample".split()
        },
    )


def record_of(commit: Commit, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a store keeps of a commit record, and of the settings."""
    record = asdict(commit)
    for name in (*_OF_FILES, "generation"):
        del record[name]
    return record | ({_SETTINGS: settings} if settings else {})


def is_same_record(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Say whether two records are of the same notes, whenever they were built."""
    return all(
        first.get(name) == second.get(name)
        for name in {*first, *second} - {*_OF_FILES, *_OF_ONE_BUILD}
    )


class Grouped(NamedTuple):
    """Stamps by groups of paths, so that two lists of them are compared by what differs."""

    sums: NDArray[np.uint64]
    """For each group what its stamps come to, in whatever order they are."""
    paths: list[list[str]]


def group_notes(stamps: Mapping[str, bytes]) -> Grouped:
    """Return the groups of notes."""
    sums, paths = [0] * BUCKETS, [list[str]() for _ in range(BUCKETS)]
    for path, stamp in stamps.items():
        digest = blake2b(path.encode() + b"\0" + stamp, digest_size=_GROUP_BYTES).digest()
        bucket = bucket_of(path)
        sums[bucket] ^= int.from_bytes(digest)
        paths[bucket].append(path)
    return Grouped(np.array(sums, np.uint64), paths)


def count_statistics(hot: Snapshot) -> Totals:
    """Count what BM25 needs, from the notes of an index outside the cold zone."""
    rows = hot.hot_rows
    lengths = [
        np.concatenate([np.zeros(0, np.int64), *(s[f"{name}_lengths"] for s in hot.segments)])
        for name in FIELDS
    ]
    words = np.bincount(hot.row_note[rows], weights=lengths[0][rows])
    return Totals(
        int(np.count_nonzero(rows)),
        int(np.count_nonzero(words)),
        tuple(int(column[rows].sum()) for column in lengths),
    )

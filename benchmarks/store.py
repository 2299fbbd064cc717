"""A palace in files and the same one at PostgreSQL, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from benchmarks.generate import scratch_folder
from benchmarks.golden import copy_vault
from benchmarks.scale import command
from benchmarks.serving import draw_questions
from benchmarks.timing import Measured, measure_commands
from memory_palace.cli.registry import Address
from memory_palace.errors import IndexMissingError, UsageError
from memory_palace.features.store.connecting import asking, connect, drop
from memory_palace.features.store.reader import StoreReader
from memory_palace.models import QueryResult
from memory_palace.palace import Palace
from memory_palace.query import Query

SHARES = (1.0, 0.5, 0.05, 0.001)
"""Of the notes that a filter lets pass: the latest."""
_HITS = 10
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class BothSides:
    """A palace in files, and where it was pushed to."""

    palace: Palace
    address: Address
    label: str
    questions: Sequence[str]


def measure_store(
    notes: Path, address: Address, *, embedder: str = "minilm", questions: int = 50, runs: int = 3
) -> Iterator[Measured]:
    """Push a copy of notes to a palace of its own, which is removed at the end, and ask both."""
    if address.has_password:
        raise UsageError("give the password in PGPASSWORD: an address stands in a list of commands")
    address = replace(address, palace=f"bench-{uuid4().hex[:12]}")
    with scratch_folder() as root:
        copy_vault(notes, root)
        asked = draw_questions(root, questions)
        sides = BothSides(Palace(root), address, notes.resolve().name, asked)
        with _removed(address):
            yield from measure_build(sides, embedder)
            yield from measure_cold(sides, runs)
            yield from measure_questions(sides)


@contextmanager
def _removed(address: Address) -> Iterator[None]:
    """Leave nothing of a palace at a store."""
    try:
        yield
    finally:
        with (
            suppress(IndexMissingError),  # what failed before it was made is told
            connect(address, purpose="bench") as connection,
        ):
            drop(connection, address)


def measure_build(sides: BothSides, embedder: str) -> Iterator[Measured]:
    """Build the index, where there is none, and push it: whole commands."""
    line = command(sides.palace.paths.root, "index", "-q", "--embedder", embedder)
    (built,) = measure_commands(line, runs=1, warmup=0)
    with asking(sides.address), connect(sides.address, purpose="bench") as connection:
        before = _database_bytes(connection)
        (pushed,) = measure_commands([*line, "--store", _url(sides.address)], runs=1, warmup=0)
        connection.commit()
        held = (_database_bytes(connection) - before) / _MIB
    files = sum(sides.palace.status().index_bytes.values()) / _MIB
    what = f"{sides.label}: index and push"
    yield Measured(what, pushed.wall_seconds, "s", "palace index", built.wall_seconds)
    yield Measured(f"{what}, peak memory", pushed.peak_mib, "MiB", "palace index", built.peak_mib)
    yield Measured(f"{sides.label}: bytes at the store", held, "MiB", "index of files", files)


def measure_cold(sides: BothSides, runs: int) -> Iterator[Measured]:
    """Ask one question in a process of its own."""
    asked = command(sides.palace.paths.root, "query", "--no-serve", sides.questions[0])
    store, files = measure_commands([*asked, "--store", _url(sides.address)], asked, runs=runs)
    what, beside = f"{sides.label}: cold query", "files"
    yield Measured(what, store.wall_seconds, "s", beside, files.wall_seconds)
    yield Measured(f"{what}, peak memory", store.peak_mib, "MiB", beside, files.peak_mib)


def measure_questions(sides: BothSides) -> Iterator[Measured]:
    """Ask both in turn, warm, with and without filters, and compare what they find."""
    same, asked = 0, 0
    with StoreReader(sides.address) as reader:
        for share in SHARES:
            since = _latest(sides.palace, share)
            times = []
            for question in (sides.questions[0], *sides.questions):
                both = [_time(ask, question, since) for ask in (sides.palace.ask, reader.ask)]
                times.append([seconds for seconds, _ in both])
                files, store = ([hit.path for hit in found.hits] for _, found in both)
                same, asked = same + (files[:1] == store[:1]), asked + 1
            files_ms, store_ms = np.percentile(times[1:], (50, 95, 99), axis=0).T * 1_000
            yield Measured(
                f"{sides.label}, {share:.1%} pass: p95",
                store_ms[1],
                "ms",
                "files",
                files_ms[1],
                note=f"p50 {store_ms[0]:.0f} and {files_ms[0]:.0f}, "
                f"p99 {store_ms[2]:.0f} and {files_ms[2]:.0f}",
            )
    what = f"{sides.label}: same first hit"
    yield Measured(what, same / asked, limit=0.97, at_least=True, note=f"of {asked} questions")


def _latest(palace: Palace, share: float) -> datetime | None:
    """Return the moment since which a share of the notes is from."""
    if share == 1:
        return None
    return datetime.fromtimestamp(np.quantile(palace.snapshot().dates, 1 - share), UTC)


def _time(
    ask: Callable[[Query], QueryResult], question: str, since: datetime | None
) -> tuple[float, QueryResult]:
    started = time.perf_counter()
    found = ask(Query(question, limit=_HITS, neighbors=2, since=since))
    return time.perf_counter() - started, found


def _url(address: Address) -> str:
    return f"{address.url}#{address.palace}"


def _database_bytes(connection: Any) -> int:
    row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0

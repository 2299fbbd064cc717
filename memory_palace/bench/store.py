"""``palace bench store``: a palace in files and the same one at PostgreSQL, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from memory_palace.bench.generate import scratch_folder
from memory_palace.bench.given import GARDEN, Given, need_models
from memory_palace.bench.golden import copy_vault
from memory_palace.bench.scale import command
from memory_palace.bench.serving import draw_questions
from memory_palace.bench.store_clients import ask_at_once
from memory_palace.bench.store_server import started_server
from memory_palace.bench.stretching import stretch_palace
from memory_palace.bench.timing import Measured, measure_commands
from memory_palace.config import PalacePaths
from memory_palace.errors import IndexMissingError, UsageError
from memory_palace.index.store import IndexFiles
from memory_palace.models import Filters, QueryResult, Vector
from memory_palace.palace import Palace
from memory_palace.postgres.access import drop, find_palace
from memory_palace.postgres.address import Address
from memory_palace.postgres.asking import Passing, find_passing
from memory_palace.postgres.choosing import find_nearest
from memory_palace.postgres.connecting import asking, connect
from memory_palace.postgres.exporting import StoredIndex
from memory_palace.postgres.reader import StoreReader
from memory_palace.postgres.writing import push
from memory_palace.retrieval.search import RankingOptions

SHARES = (1.0, 0.5, 0.05, 0.001)
"""Of the notes that a filter lets pass: the latest."""
_HITS = 10
_FEW, _MOST_MS = 0.05, 50.0
_OPTIONS: RankingOptions = {"limit": _HITS, "per_note": True, "gate": True, "neighbors": 2}
"""What ``Palace.query`` does without options, but for ten hits."""
_EDITS = 10
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class BothSides:
    """A palace in files, and where it was pushed to."""

    palace: Palace
    address: Address
    label: str
    questions: Sequence[str]
    clients: int


def measure_promised(given: Given) -> Iterator[Measured]:
    """Measure the garden, at a server of its own."""
    notes = given.find(GARDEN)
    need_models("minilm")
    with started_server() as address:
        yield from measure_store(notes, address, clients=4, runs=given.runs)


def measure_store(
    notes: Path,
    address: Address,
    *,
    embedder: str = "minilm",
    passages: int | None = None,
    questions: int = 50,
    clients: int = 16,
    runs: int = 3,
) -> Iterator[Measured]:
    """Push a copy of notes to a palace of its own, which is removed at the end, and ask both.

    With ``passages`` the notes are an indexed palace, and the copy is stretched to so many.
    """
    if address.has_password:
        raise UsageError("give the password in PGPASSWORD: an address stands in a list of commands")
    address = replace(address, palace=f"bench-{uuid4().hex[:12]}")
    with scratch_folder() as root:
        if passages is None:
            copy_vault(notes, root)
        else:
            stretch_palace(Palace(notes), PalacePaths(root), passages)
        asked = draw_questions(root, questions)
        label = f"{passages:,} passages" if passages else notes.resolve().name
        sides = BothSides(Palace(root), address, label, asked, clients)
        with _removed(address):
            yield from measure_build(sides, embedder)
            yield from measure_cold(sides, runs)
            yield from measure_questions(sides)
            yield from measure_vectors(sides)
            yield from measure_clients(sides)
            yield measure_edit(sides)


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
            filters = _latest(sides.palace, share)
            times = []
            for question in (sides.questions[0], *sides.questions):
                both = [_time(ask, question, filters) for ask in (sides.palace.query, reader.query)]
                times.append([seconds for seconds, _ in both])
                files, store = ([hit.path for hit in found.hits] for _, found in both)
                same, asked = same + (files == store), asked + 1
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
    what = f"{sides.label}: same first {_HITS}"
    yield Measured(what, same / asked, limit=0.99, at_least=True, note=f"of {asked} questions")


def measure_vectors(sides: BothSides) -> Iterator[Measured]:
    """Ask for the nearest passages alone, as the reader does; compare with the nearest of all."""
    with asking(sides.address), connect(sides.address, purpose="bench") as connection:
        stored = StoredIndex(connection, find_palace(connection, sides.address))
        if not stored.generation.commit.dimension:
            return
        vectors = sides.palace.embedder().embed_queries(list(sides.questions))
        for share in (1.0, _FEW):
            filters = _latest(sides.palace, share)
            passing = find_passing(stored.statements, filters, include_cold=False)
            found = [_find_nearest(stored, vector, passing) for vector in (vectors[0], *vectors)]
            p50, p95 = np.percentile([ms for ms, _ in found[1:]], (50, 95))
            what = f"{sides.label}, {share:.0%} pass, vectors alone"
            limit = _MOST_MS if share == _FEW else None
            yield Measured(f"{what}: p95", float(p95), "ms", limit=limit, note=f"p50 {p50:.1f}")
            recall = float(np.mean([held for _, held in found]))
            yield Measured(f"{what}: recall@{_HITS}", recall, limit=0.98, at_least=True)


def _find_nearest(
    stored: StoredIndex, vector: Vector, passing: Passing | None
) -> tuple[float, float]:
    """Return how long the nearest passages took, in milliseconds, and how many of all are there."""
    statements, started = stored.statements, time.perf_counter()
    near = find_nearest(statements, stored.generation, vector, passing, include_cold=False)
    took = (time.perf_counter() - started) * 1_000
    few = "" if passing is None else " AND note = ANY(%(notes)s)"
    best = statements.ask(
        "SELECT note, -(vector <#> %(vector)s::vector) AS cosine FROM passage"
        f" WHERE palace = %(palace)s AND NOT is_cold{few} ORDER BY cosine DESC LIMIT %(hits)s",
        vector=str(vector.tolist()),
        notes=None if passing is None else passing.notes.tolist(),
        hits=_HITS,
    )
    first = zip(near.notes[:_HITS].tolist(), near.cosines[:_HITS].tolist(), strict=True)
    return took, len(set(best).intersection(first)) / len(best) if best else 1.0


def _latest(palace: Palace, share: float) -> Filters:
    """Return filters that let a share of the notes pass."""
    since = None if share == 1 else float(np.quantile(palace.snapshot().dates, 1 - share))
    return Filters(since=since)


def measure_edit(sides: BothSides) -> Measured:
    """Edit notes, and push each: how long the database is at it, and with what is done before."""
    root, rng = sides.palace.paths.root, np.random.default_rng(2)
    paths = sides.palace.snapshot().paths
    inside, whole = [], []
    begun: list[float] = []
    with asking(sides.address), connect(sides.address, purpose="bench") as connection:
        number = find_palace(connection, sides.address)
        # The first edit of each note is not counted: a made note has other passages after it.
        for turn, place in enumerate(np.repeat(rng.choice(len(paths), _EDITS), 2).tolist()):
            file = root / paths[place]
            file.write_text(f"{file.read_text('utf-8')}\nOne more line of text.\n", "utf-8")
            sides.palace.index()
            begun.clear()
            started = time.perf_counter()
            push(
                connection,
                number,
                IndexFiles(sides.palace.paths),
                hook=lambda statement: begun.append(time.perf_counter()),
            )
            ended = time.perf_counter()
            if turn % 2:
                inside.append((ended - begun[0]) * 1_000)
                whole.append((ended - started) * 1_000)
    p50, p95 = np.percentile(inside, (50, 95)).tolist()
    note = f"p50 {p50:.0f}; with what is read of the index before p50 {np.median(whole):.0f}"
    return Measured(f"{sides.label}: one edit, p95", p95, "ms", limit=100, note=note)


def measure_clients(sides: BothSides) -> Iterator[Measured]:
    """Ask from many processes at once; what fails is counted."""
    asked = ask_at_once(_url(sides.address), list(sides.questions), sides.clients, _OPTIONS)
    done = list(asked)
    times = [seconds for client in done for seconds in client.seconds]
    spent = max(client.ended for client in done) - min(client.began for client in done)
    what = f"{sides.label}, {sides.clients} clients"
    yield Measured(f"{what}: errors", sum(client.errors for client in done), limit=0)
    p50, p95 = (np.percentile(times, (50, 95)) * 1_000).tolist() if times else (0.0, 0.0)
    note = f"p50 {p50:.0f} ms, p95 {p95:.0f} ms"
    yield Measured(f"{what}: questions", len(times) / spent, "a second", note=note)


def _time(
    ask: Callable[..., QueryResult], question: str, filters: Filters
) -> tuple[float, QueryResult]:
    started = time.perf_counter()
    found = ask(question, filters=filters, **_OPTIONS)
    return time.perf_counter() - started, found


def _url(address: Address) -> str:
    return f"{address.url}#{address.palace}"


def _database_bytes(connection: Any) -> int:
    row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0

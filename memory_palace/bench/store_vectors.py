"""Vectors asked at PostgreSQL with pgvector, beside exact answers: tables of its own, then gone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_palace.bench.timing import Measured
from memory_palace.models import Matrix, Vector
from memory_palace.postgres.address import Address
from memory_palace.postgres.connecting import asking, connect

PER_NOTE = 8
"""Passages of a note."""
SHARES = (1.0, 0.5, 0.05, 0.001)
"""Of the notes that a filter lets pass."""
_HITS = 10
_LINE = b"x" * 200
"""What is shown of a passage, as long as it is on average."""
_EDITS = 30

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Graph:
    """How HNSW is built, and how far it is walked."""

    m: int = 16
    ef_construction: int = 64
    ef_search: int = 400
    candidates: int = 100
    """Rows that it gives, to be compared again in single precision."""
    exact_rows: int = 50_000
    """Where a filter lets no more rows pass, it is left aside, and they are all compared."""


def spread_vectors(real: Matrix, count: int, rng: np.random.Generator) -> Matrix:
    """Return unit vectors that lie about real ones as real ones lie about each other.

    Each is a real one turned towards the difference of two others, so that the noise lies in the
    directions of the data, as far as a real one drawn by chance is from its nearest neighbour.
    """
    drawn = real[rng.choice(len(real), min(len(real), 2_000), replace=False)]
    nearest = np.sort(drawn @ real.T, axis=1)[:, -2].clip(0.3, 0.95)
    kept = min(len(real), count)
    made = np.empty((count, real.shape[1]), np.float32)
    made[:kept] = real[rng.permutation(len(real))[:kept]]
    for start in range(kept, count, 50_000):
        size = min(50_000, count - start)
        base, one = real[rng.integers(0, len(real), size)], rng.integers(0, len(real), size)
        other = (one + rng.integers(1, len(real), size)) % len(real)
        noise = real[one] - real[other]
        noise -= np.sum(noise * base, axis=1, keepdims=True) * base
        noise /= np.maximum(np.linalg.norm(noise, axis=1, keepdims=True), 1e-6)
        cosine = rng.choice(nearest, size)[:, None]
        made[start : start + size] = cosine * base + np.sqrt(1 - cosine**2) * noise
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made[rng.permutation(count)]


def measure_vectors(
    address: Address, vectors: Matrix, queries: Matrix, *, graph: Graph, clients: int
) -> Iterator[Measured]:
    """Load vectors, index them, ask, edit: time, bytes, and recall of HNSW against all rows."""
    label = f"{len(vectors):,} x {vectors.shape[1]}"
    with asking(address), _opened(address, graph) as tables:
        try:
            tables.load(vectors)
            yield from _measure_build(tables, label, len(vectors))
            for share in SHARES:
                yield from _measure_share(tables, label, vectors, queries, share)
            yield _measure_edit(tables, label, vectors)
            yield from _measure_clients(address, graph, label, queries, clients)
        finally:
            tables.drop()


@contextmanager
def _opened(address: Address, graph: Graph) -> Iterator[VectorTables]:
    tables = VectorTables(address, graph)
    try:
        yield tables
    finally:
        tables.connection.close()


class VectorTables:
    """A connection with a schema of its own, ``palace_bench``: notes, and a vector per passage."""

    def __init__(self, address: Address, graph: Graph) -> None:
        self._graph = graph
        self.connection = connect(address, purpose="bench")
        self.connection.autocommit = True
        self.connection.execute(
            f"""
            SET hnsw.iterative_scan = relaxed_order; SET hnsw.ef_search = {graph.ef_search};
            SET jit = off""".encode()
        )

    def load(self, vectors: Matrix) -> None:
        """Write every vector; ``pick`` of a note says whether a share of all lets it pass."""
        self._has_schema = False
        self.connection.execute("CREATE SCHEMA palace_bench")
        self._has_schema = True
        self.connection.execute("""
            CREATE TABLE palace_bench.note (id int PRIMARY KEY, pick float8);
            CREATE TABLE palace_bench.passage (
                id int, note int, line text, vector vector STORAGE PLAIN)""")
        self._picks = draw_picks(len(vectors))
        picks = enumerate(self._picks.tolist())
        with self.connection.cursor() as cursor:
            with cursor.copy("COPY palace_bench.note FROM STDIN") as copy:
                copy.write("".join(f"{note}\t{pick}\n" for note, pick in picks))
            with cursor.copy("COPY palace_bench.passage FROM STDIN (FORMAT binary)") as copy:
                copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
                for ids in np.array_split(np.arange(len(vectors)), len(vectors) // 10_000 + 1):
                    copy.write(_pack_rows(ids, vectors))
                copy.write(b"\xff\xff")
        self.connection.execute("""
            ALTER TABLE palace_bench.passage ADD PRIMARY KEY (id);
            CREATE INDEX ON palace_bench.passage (note)""")
        self.connection.execute("VACUUM ANALYZE palace_bench.note, palace_bench.passage")

    def drop(self) -> None:
        """Leave nothing behind."""
        if self._has_schema:
            self.connection.execute("DROP SCHEMA palace_bench CASCADE")

    def index(self, dimension: int) -> None:
        """Build the graph, over vectors in half precision."""
        self.connection.execute(
            f"""
            CREATE INDEX hnsw ON palace_bench.passage
            USING hnsw ((vector::halfvec({dimension})) halfvec_ip_ops)
            WITH (m = {self._graph.m}, ef_construction = {self._graph.ef_construction})""".encode()
        )

    def count_bytes(self, table: str) -> int:
        """Return what a table takes with its indexes, or an index alone."""
        query = "SELECT pg_total_relation_size(%s::regclass)"
        row = self.connection.execute(query, (f"palace_bench.{table}",)).fetchone()
        return int(row[0]) if row else 0

    def is_exact(self, rows: int) -> bool:
        """Say whether so few rows are compared one by one."""
        return rows <= self._graph.exact_rows

    def ask(self, vector: Vector, share: float, *, is_exact: bool) -> list[int]:
        """Return the ids of the nearest rows, best first, of the notes that pass."""
        dimension, order = len(vector), "ORDER BY vector <#> %(vector)s::vector LIMIT %(hits)s"
        # A query of its own for each row: a join would be turned round and sort all that pass.
        passing = (
            ""
            if share == 1
            else """
            WHERE (SELECT pick < %(share)s FROM palace_bench.note WHERE note.id = passage.note)"""
        )
        query = f"""
            SELECT id FROM (
                SELECT id, vector FROM palace_bench.passage {passing}
                ORDER BY vector::halfvec({dimension}) <#> %(vector)s::halfvec({dimension})
                LIMIT %(candidates)s) AS candidate {order}"""
        if is_exact:
            passing = "" if share == 1 else "WHERE note = ANY(%(notes)s)"
            query = f"SELECT id FROM palace_bench.passage {passing} {order}"
        notes = np.flatnonzero(self._picks < share).tolist() if is_exact and share < 1 else None
        values = {"vector": str(vector.tolist()), "share": share, "notes": notes}
        limits = {"candidates": self._graph.candidates, "hits": _HITS}
        found = self.connection.execute(query.encode(), values | limits, prepare=False)
        return [int(row[0]) for row in found]

    def replace_note(self, note: int, vectors: Matrix) -> None:
        """Put other vectors in the place of those of a note, as an edit does."""
        rows = [(note * PER_NOTE + i, note, str(row.tolist())) for i, row in enumerate(vectors)]
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.execute("DELETE FROM palace_bench.passage WHERE note = %s", (note,))
            cursor.executemany("INSERT INTO palace_bench.passage VALUES (%s, %s, '', %s)", rows)


def draw_picks(rows: int) -> NDArray[np.float64]:
    """Return a number below 1 for each note, by chance: a share lets those below it pass."""
    return np.random.default_rng(1).random(-(-rows // PER_NOTE))


def _pack_rows(ids: Ids, vectors: Matrix) -> bytes:
    """Return rows as COPY reads them: the number of fields, and of each its bytes before it."""
    dimension = vectors.shape[1]
    kinds = {"id": ">i4", "note": ">i4", "line": f"S{len(_LINE)}"}
    fields: list[tuple[str, str] | tuple[str, str, int]] = [("fields", ">i2")]
    for name, kind in kinds.items():
        fields += [(f"{name}_bytes", ">i4"), (name, kind)]
    fields += [("vector_bytes", ">i4"), ("dimension", ">i2"), ("unused", ">i2")]
    rows = np.zeros(len(ids), np.dtype([*fields, ("vector", ">f4", dimension)]))
    rows["fields"], rows["id"], rows["note"] = len(kinds) + 1, ids, ids // PER_NOTE
    rows["line"], rows["vector"], rows["dimension"] = _LINE, vectors[ids], dimension
    rows["id_bytes"] = rows["note_bytes"] = 4
    rows["line_bytes"], rows["vector_bytes"] = len(_LINE), 4 + 4 * dimension
    return rows.tobytes()


def _measure_build(tables: VectorTables, label: str, rows: int) -> Iterator[Measured]:
    started = time.perf_counter()
    tables.index(int(label.rpartition(" ")[2]))
    yield Measured(f"{label}: HNSW built", time.perf_counter() - started, "s")
    graph, everything = tables.count_bytes("hnsw"), tables.count_bytes("passage")
    yield Measured(f"{label}: HNSW", graph / rows, "bytes a row")
    yield Measured(f"{label}: vectors and their keys", (everything - graph) / rows, "bytes a row")


def _measure_share(
    tables: VectorTables, label: str, vectors: Matrix, queries: Matrix, share: float
) -> Iterator[Measured]:
    rows = np.flatnonzero(np.repeat(draw_picks(len(vectors)) < share, PER_NOTE)[: len(vectors)])
    is_exact = tables.is_exact(len(rows))
    found, times = [], []
    for vector in (*queries, *queries):
        started = time.perf_counter()
        found.append(tables.ask(vector, share, is_exact=is_exact))
        times.append((time.perf_counter() - started) * 1_000)
    asked = zip(queries, found, strict=False)
    recalls = [_recall(vectors, rows, vector, got) for vector, got in asked]
    what = f"{label}, {share:.1%} pass, {'exact' if is_exact else 'HNSW'}"
    recall = float(np.mean(recalls))
    yield Measured(f"{what}: recall@{_HITS}", recall, limit=0.98, at_least=True)
    yield Measured(f"{what}: first question", times[0], "ms")
    for percentile in (50, 95, 99):
        milliseconds = float(np.percentile(times[len(queries) :], percentile))
        yield Measured(f"{what}: p{percentile}", milliseconds, "ms")


def _recall(vectors: Matrix, rows: Ids, vector: Vector, found: Sequence[int]) -> float:
    """Return the share of the best that was found; a row as near as the last counts as well."""
    cosines = vectors[rows] @ vector
    wanted = min(_HITS, len(rows))
    last = np.partition(cosines, -wanted)[-wanted] if wanted else 0
    near = np.count_nonzero(vectors[np.array(found, np.int64)] @ vector >= last - 1e-6)
    return float(near) / wanted if wanted else 1.0


def _measure_edit(tables: VectorTables, label: str, vectors: Matrix) -> Measured:
    rng, times = np.random.default_rng(2), []
    for note in rng.choice(len(vectors) // PER_NOTE, _EDITS, replace=False).tolist():
        fresh = vectors[rng.integers(0, len(vectors), PER_NOTE)]
        started = time.perf_counter()
        tables.replace_note(note, fresh)
        times.append((time.perf_counter() - started) * 1_000)
    return Measured(f"{label}: a note of {PER_NOTE} replaced, p95", _p95(times), "ms", limit=100)


def _measure_clients(
    address: Address, graph: Graph, label: str, queries: Matrix, clients: int
) -> Iterator[Measured]:
    """Ask from many connections at once."""

    def ask(number: int) -> list[float]:
        times = []
        with _opened(address, graph) as tables:
            for vector in np.roll(queries, number, axis=0):
                started = time.perf_counter()
                tables.ask(vector, 1.0, is_exact=False)
                times.append((time.perf_counter() - started) * 1_000)
        return times

    started = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        times = [value for part in pool.map(ask, range(clients)) for value in part]
    seconds = time.perf_counter() - started
    yield Measured(f"{label}, {clients} clients: questions", len(times) / seconds, "a second")
    yield Measured(f"{label}, {clients} clients: p95", _p95(times), "ms")


def _p95(times: Sequence[float]) -> float:
    return float(np.percentile(times, 95))

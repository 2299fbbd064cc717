"""``palace bench store``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from memory_palace.cli.bench_options import add_measured, printing
from memory_palace.cli.options import Json
from memory_palace.cli.store import Store, find_store
from memory_palace.errors import UsageError
from memory_palace.models import Matrix
from memory_palace.palace import Palace


def run_store(
    notes: Annotated[
        Path, Option("--notes", help="Indexed palace whose vectors are asked, with noise.")
    ],
    store: Store = None,
    rows: Annotated[
        list[int] | None, Option("--rows", min=1_000, help="Vectors in the table; repeatable.")
    ] = None,
    queries: Annotated[int, Option("--queries", min=1, help="Questions.")] = 100,
    clients: Annotated[int, Option("--clients", min=1, help="Clients at once.")] = 16,
    m: Annotated[int, Option("--m", min=2, help="HNSW: neighbours of a vector.")] = 16,
    ef_construction: Annotated[
        int, Option("--ef-construction", min=4, help="HNSW: candidates while it is built.")
    ] = 64,
    ef_search: Annotated[
        int, Option("--ef-search", min=1, max=1_000, help="HNSW: candidates while it is asked.")
    ] = 400,
    candidates: Annotated[
        int, Option("--candidates", min=10, help="Rows of HNSW that are compared exactly.")
    ] = 100,
    as_json: Json = False,
) -> None:
    """Measure vectors in PostgreSQL beside exact answers: build, bytes, recall, time, an edit.

    The tables are in a schema of their own, which is dropped at the end. Questions are vectors of
    passages that are left out of the table.

    Example: palace bench store --store team --notes ~/notes --rows 100000
    """
    address = find_store(store)
    # Delayed: they need the extra, which is checked above.
    from memory_palace.bench.store_vectors import Graph, measure_vectors, spread_vectors

    real = _read_vectors(notes, least=2 * queries)
    rng = np.random.default_rng(1)
    real = real[rng.permutation(len(real))]
    graph = Graph(m, ef_construction, ef_search, candidates)
    with printing("figures", as_json=as_json) as printed:
        for count in rows or (10_000, 100_000):
            vectors = spread_vectors(real[queries:], count, rng)
            for row in measure_vectors(
                address, vectors, real[:queries], graph=graph, clients=clients
            ):
                add_measured(printed, row)


def _read_vectors(notes: Path, *, least: int) -> Matrix:
    """Return the vectors of a palace outside the cold zone; raise ``UsageError`` for too few."""
    snapshot = Palace(notes).snapshot()
    vectors = snapshot.rows_of(np.flatnonzero(snapshot.hot_rows))
    if len(vectors) < least:
        raise UsageError(
            f"{notes} has {len(vectors)} passages, and the questions need {least}: "
            "give a larger palace, or fewer with --queries"
        )
    return vectors

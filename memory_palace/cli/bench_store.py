"""``palace bench store``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.cli.bench_options import EmbedderName, add_measured, printing
from memory_palace.cli.options import Json
from memory_palace.cli.store import Store, find_store
from memory_palace.libraries import check_postgres


def run_store(
    notes: Annotated[Path, Argument(help="Folder of notes; a copy is measured.")],
    store: Store = None,
    embedder: EmbedderName = "minilm",
    rows: Annotated[
        int | None,
        Option("--rows", min=100, help="Stretch NOTES, an indexed palace, to so many passages."),
    ] = None,
    queries: Annotated[int, Option("--queries", min=1, help="Questions.")] = 50,
    clients: Annotated[int, Option("--clients", min=1, help="Clients at once.")] = 16,
    runs: Annotated[int, Option("--runs", min=1, help="Runs of each process.")] = 3,
    as_json: Json = False,
) -> None:
    """Measure a palace in files and the same one at PostgreSQL: build, questions, edits, bytes.

    Without --store a server is started from the wheel of the extra [postgres-test]. At a store of
    yours a palace is made, and removed at the end. Questions are words that stand together in
    notes, filters let the latest notes pass.

    Example: palace bench store ~/vault --rows 100000
    """
    check_postgres()
    # Delayed: they need the extra, which is checked above.
    from memory_palace.bench.store import measure_store
    from memory_palace.bench.store_server import started_server

    server = started_server() if store is None else nullcontext(find_store(store))
    with printing("figures", as_json=as_json) as printed, server as address:
        for row in measure_store(
            notes,
            address,
            embedder=embedder,
            passages=rows,
            questions=queries,
            clients=clients,
            runs=runs,
        ):
            add_measured(printed, row)

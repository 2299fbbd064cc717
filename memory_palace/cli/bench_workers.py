"""``palace bench workers``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.bench.workers import measure_workers
from memory_palace.cli.bench_options import EmbedderName, add_measured, printing
from memory_palace.cli.options import Json


def run_workers(
    notes: Annotated[Path, Argument(help="Folder of notes; a copy is measured.")],
    embedder: EmbedderName = "minilm",
    count: Annotated[
        list[int] | None, Option("--count", min=2, help="So many workers; repeatable.")
    ] = None,
    runs: Annotated[int, Option("--runs", min=1, help="Builds of each kind.")] = 3,
    as_json: Json = False,
) -> None:
    """Measure builds whose passages several processes embed, beside one process with one thread.

    Example: palace bench workers ~/vault --embedder e5
    """
    with printing("figures", as_json=as_json) as printed:
        for row in measure_workers(notes, embedder=embedder, counts=count or (2,), runs=runs):
            add_measured(printed, row)

"""``palace bench view``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Context, Option

from memory_palace.bench.view import SIZES, measure_dealt, measure_view
from memory_palace.cli.bench_options import EmbedderName, add_measured, printing
from memory_palace.cli.options import Json, open_palace


def run_view(
    ctx: Context,
    corpus: Annotated[
        Path | None,
        Option("--corpus", help="Palaces of a BEIR folder's text instead of this palace."),
    ] = None,
    size: Annotated[
        list[int] | None,
        Option("--size", min=10, help="Number of notes, with --corpus; repeatable."),
    ] = None,
    embedder: EmbedderName = "hashing",
    runs: Annotated[int, Option("--runs", min=1, help="Visits of the page.")] = 5,
    as_json: Json = False,
) -> None:
    """Measure the page of `palace view`: written, painted, searched and moved, in Chromium.

    Needs the extra [browser] and a Chromium.

    Example: palace bench view --corpus data/scifact --size 5000
    """
    if corpus is not None:
        rows = measure_dealt(corpus, size or SIZES, embedder=embedder, runs=runs)
    else:
        root = open_palace(ctx).paths.root
        rows = measure_view(root, root.name, runs=runs)
    with printing("figures", as_json=as_json) as printed:
        for row in rows:
            add_measured(printed, row)

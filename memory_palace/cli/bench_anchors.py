"""``palace bench anchors``."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from memory_palace.bench.anchor_scale import measure_anchor_scale
from memory_palace.cli.bench_options import add_measured, printing
from memory_palace.cli.options import Json


def run_anchor_scale(
    notes: Annotated[int, Option("--notes", min=100, help="Number of notes to generate.")] = 17_000,
    as_json: Json = False,
) -> None:
    """Measure lookup, build and update of 400 anchors on generated notes.

    Example: palace bench anchors --notes 17000
    """
    with printing("figures", as_json=as_json) as printed:
        for row in measure_anchor_scale(notes):
            add_measured(printed, row)

"""``palace bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memory_palace.bench.scale import Row, measure_notes, measure_scale
from memory_palace.cli import bench_memories, bench_runs, bench_sets
from memory_palace.cli.bench_corf import run_anchor_scale, run_corf
from memory_palace.cli.bench_redqueen import run_llm, run_redqueen
from memory_palace.cli.bench_seek import run_seek
from memory_palace.cli.options import SCHEMA, Json
from memory_palace.cli.printing import print_json

app = typer.Typer(no_args_is_help=True, help="Measurements, as ratios within one run.")


@app.callback()
def bench() -> None:
    """Measurements, as ratios within one run."""


@app.command("scale")
def run_scale(
    size: Annotated[
        list[int] | None, typer.Option("--size", min=10, help="Notes; may be repeated.")
    ] = None,
    notes: Annotated[
        Path | None, typer.Option("--notes", help="Measure a copy of these notes instead.")
    ] = None,
    embedder: Annotated[str, typer.Option("--embedder", help="Embedder.")] = "hashing",
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs of each process.")] = 5,
    as_json: Json = False,
) -> None:
    """Measure building and asking on generated notes, beside baselines of the same run.

    Example: palace bench scale --size 1000 --size 25000
    """
    if notes is not None:
        rows = measure_notes(notes, embedder=embedder, runs=runs)
    else:
        rows = measure_scale(tuple(size or (1_000, 10_000, 25_000)), embedder=embedder, runs=runs)
    for row in rows:
        print_json({"schema": SCHEMA, **_record(row)}) if as_json else print(_line(row), flush=True)


def _line(row: Row) -> str:
    line = f"{row.what:<52} {row.value:>9.3f} {row.unit}"
    if row.ratio is not None:
        line += f"  = {row.ratio:.2f} x {row.beside} ({row.baseline:.3f})"
    return f"{line}  [{row.limit}]" if row.limit else line


def _record(row: Row) -> dict[str, object]:
    return {
        "what": row.what, "value": row.value, "unit": row.unit, "beside": row.beside,
        "baseline": row.baseline, "ratio": row.ratio, "limit": row.limit,
    }  # fmt: skip


app.command("corf")(run_corf)
app.command("anchors")(run_anchor_scale)
app.command("redqueen")(run_redqueen)
app.command("llm")(run_llm)
app.command("seek")(run_seek)
bench_sets.add_commands(app)
bench_runs.add_commands(app)
bench_memories.add_commands(app)

"""``palace bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Exit, Option, Typer

from memory_palace.bench.given import BASE, Given
from memory_palace.bench.promises import HEAVY, PARTS, measure_promises
from memory_palace.bench.scale import measure_notes, measure_scale
from memory_palace.cli.bench_anchors import run_anchor_scale
from memory_palace.cli.bench_confidence import run_confidence
from memory_palace.cli.bench_known import run_known
from memory_palace.cli.bench_memories import run_hierarchy, run_ragbench
from memory_palace.cli.bench_metabolism import run_metabolism
from memory_palace.cli.bench_options import KEPT, Cache, EmbedderName, add_measured, printing
from memory_palace.cli.bench_pages import pages
from memory_palace.cli.bench_recall import run_recall
from memory_palace.cli.bench_redqueen import run_llm, run_redqueen
from memory_palace.cli.bench_rerank import run_rerank
from memory_palace.cli.bench_runs import ablate, compare, list_runs, report
from memory_palace.cli.bench_seek import run_seek
from memory_palace.cli.bench_serve import connect, run_serve
from memory_palace.cli.bench_sets import beir, cache_of, locomo, longmemeval, notes, qmsum
from memory_palace.cli.bench_shown import draw_answer
from memory_palace.cli.bench_store import run_store
from memory_palace.cli.bench_tune import tune
from memory_palace.cli.bench_verify import run_verify
from memory_palace.cli.bench_view import run_view
from memory_palace.cli.options import Json
from memory_palace.cli.progress import clear_line, progress_line
from memory_palace.errors import CheckFailedError

app = Typer(no_args_is_help=True, help="Measure the palace, as ratios within one run.")


@app.callback()
def bench() -> None:
    """Measure the palace, as ratios within one run."""


@app.command("scale")
def run_scale(
    size: Annotated[
        list[int] | None, Option("--size", min=10, help="Number of notes; repeatable.")
    ] = None,
    notes: Annotated[
        Path | None, Option("--notes", help="Measure a copy of these notes instead.")
    ] = None,
    embedder: EmbedderName = "hashing",
    runs: Annotated[int, Option("--runs", min=1, help="Runs of each process.")] = 5,
    as_json: Json = False,
) -> None:
    """Measure building and asking on generated notes, beside baselines of the same run.

    Example: palace bench scale --size 1000 --size 25000
    """
    if notes is not None:
        rows = measure_notes(notes, embedder=embedder, runs=runs)
    else:
        rows = measure_scale(tuple(size or (1_000, 10_000, 25_000)), embedder=embedder, runs=runs)
    with printing("figures", as_json=as_json) as printed:
        for row in rows:
            add_measured(printed, row)


@app.command("promises")
def run_promises(
    part: Annotated[
        list[str] | None, Option("--part", help=f"Only this part; repeatable: {', '.join(PARTS)}.")
    ] = None,
    all_parts: Annotated[
        bool,
        Option("--all", help=f"Measure {', '.join(sorted(HEAVY))} as well, which takes minutes."),
    ] = False,
    data: Annotated[
        Path | None,
        Option("--data", envvar="PALACE_BENCH_DATA", help="Folder of question sets and vaults."),
    ] = None,
    base: Annotated[
        Path | None, Option("--base", help=f"Checkout of commit {BASE} to compare with.")
    ] = None,
    runs: Annotated[int, Option("--runs", min=1, help="Runs of each process.")] = 5,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Measure every promised figure: size of the code, cost of a question, quality of answers.

    A part whose data, model or checkout is missing is skipped and says what it needs. Exits 8
    where a limit is not kept.

    Example: palace bench promises --all --data data --base ../palace-1722493
    """
    parts = list(PARTS) if all_parts else part or []
    is_kept = True
    with (
        printing("figures", as_json=as_json) as printed,
        progress_line("promises", stopped=KEPT) as progress,
    ):
        given = Given(data, base, cache_of(cache), runs, progress, draw_answer, connect)
        for row in measure_promises(given, parts):
            clear_line()
            add_measured(printed, row)
            is_kept &= row.is_kept is not False
    if not is_kept:
        raise Exit(CheckFailedError.exit_code)


app.command("known")(run_known)
app.command("metabolism")(run_metabolism)
app.command("confidence")(run_confidence)
app.command("anchors")(run_anchor_scale)
app.command("redqueen")(run_redqueen)
app.command("llm")(run_llm)
app.command("seek")(run_seek)
app.command("recall")(run_recall)
app.command("serve")(run_serve)
app.command("rerank")(run_rerank)
app.command("store")(run_store)
app.command("view")(run_view)
for command in (longmemeval, locomo, beir, qmsum, pages, notes, ablate, tune, compare):
    app.command()(command)
app.command("list")(list_runs)
app.command("report")(report)
app.command("verify")(run_verify)
app.command("hierarchy")(run_hierarchy)
app.command("ragbench")(run_ragbench)

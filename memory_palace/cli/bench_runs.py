"""``palace bench`` on what was measured: ablation, comparison, tables and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from typer import Argument, Option

from memory_palace.bench.ablations import sixteen, without_each
from memory_palace.bench.datasets.beir import load_beir
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.datasets.longmemeval import load_longmemeval
from memory_palace.bench.datasets.meetings import load_meetings
from memory_palace.bench.metrics import MEASURES
from memory_palace.bench.plots import draw_ablation, draw_runs
from memory_palace.bench.report import MeasuredDifference, compare_runs, core, summarise
from memory_palace.bench.report_page import render_report
from memory_palace.bench.runs import Run, read_run
from memory_palace.cli.bench_options import (
    Cache,
    EmbedderName,
    Gold,
    Unit,
    UnitOption,
    printing,
)
from memory_palace.cli.bench_sets import ask_all, cache_of, print_runs
from memory_palace.cli.drawing import Plots, save_pictures
from memory_palace.cli.options import Json
from memory_palace.cli.printing import print_answer, say, to_record
from memory_palace.errors import UsageError
from memory_palace.storage.atomic import write_atomic

RunKind: TypeAlias = Literal["locomo", "longmemeval", "beir", "qmsum"]
"""Question sets that can be taken apart signal by signal."""
Measure = Annotated[str, Option("--measure", help=f"One of {', '.join(MEASURES)}.")]


def ablate(
    path: Annotated[Path, Argument(help="Question set to measure on.")],
    kind: Annotated[RunKind, Option("--set", help="Kind of question set.")] = "locomo",
    unit: UnitOption = "turn",
    gold: Gold = None,
    measure: Measure = "any@5",
    plots: Plots = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Measure what each signal and guard is worth, with intervals of the paired differences.

    Example: palace bench ablate locomo10.json
    """
    found = _load(path, kind, unit, gold)
    name = f"ablate-{kind}" + (f"-{unit}" if kind == "locomo" else "")
    with printing("differences", as_json=as_json) as rows:
        for profiles in (list(sixteen()), list(without_each())):
            base: Run | None = None
            differences = []
            for profile in profiles:
                run = ask_all(name, found, profile, embedder, cache)
                base = base or run
                differences.append(compare_runs(base, run, measure=measure))
                rows.add(differences[-1], _line(differences[-1]), to="differences")
            save_pictures([draw_ablation(name, differences, measure=measure)], plots)


def _load(path: Path, kind: RunKind, unit: Unit, gold: Path | None) -> list[Collection]:
    if kind == "locomo":
        return list(load_locomo(path, unit=unit, gold=gold))
    if kind == "longmemeval":
        return list(load_longmemeval(path))
    return [load_beir(path) if kind == "beir" else load_meetings(path)]


def compare(
    first: Annotated[Path, Argument(help="JSONL of a run.")],
    second: Annotated[Path, Argument(help="JSONL of another run of the same questions.")],
    measure: Measure = "any@5",
    as_json: Json = False,
) -> None:
    """Compare two runs question by question: paired bootstrap and McNemar's test.

    Example: palace bench compare a.jsonl b.jsonl
    """
    difference = compare_runs(read_run(first), read_run(second), measure=measure)
    print_answer(to_record(difference), [_line(difference)], as_json=as_json)


def list_runs(cache: Cache = None, as_json: Json = False) -> None:
    """List the runs that were made.

    Example: palace bench list
    """
    with printing("runs", as_json=as_json) as rows:
        for path in sorted((cache_of(cache) / "runs").glob("*.jsonl")):
            try:
                run = read_run(path)
            except UsageError as error:
                say(str(error))
                continue
            means = summarise(core(run.answers))
            count = len(run.answers)
            record = {
                "path": str(path),
                "set": run.name,
                "system": run.system,
                "embedder": run.embedder or None,
                "questions": count,
            }
            line = f"{path}  {count} questions, any@5 {means.get('any@5', 0):.3f}"
            rows.add(record | means, line, to="runs")


def report(
    runs: Annotated[list[Path], Argument(help="Runs of one question set.")],
    html: Annotated[
        Path | None,
        Option("--html", help="Write one HTML page here, with tables that sort and pictures."),
    ] = None,
    plots: Plots = None,
    as_json: Json = False,
) -> None:
    """Print a Markdown table of runs, draw them with --plots, or write a page with --html.

    The first run is what the page compares the others with, question by question.

    Example: palace bench report a.jsonl b.jsonl --html report.html
    """
    read = [read_run(path) for path in runs]
    if html is not None:
        page = render_report(read)
        write_atomic(html, page)
        say(f"{html}: {len(page) / 1000:,.0f} kB")
    print_runs(read, as_json=as_json)
    save_pictures(draw_runs(read), plots)


def _line(d: MeasuredDifference) -> str:
    test = "McNemar" if d.measure.startswith(("any", "all")) else "sign test"
    return (
        f"{d.second:<26} {d.measure} {d.value:.4f}  {d.mean:+.4f} "
        f"[{d.low:+.4f}, {d.high:+.4f}]  won {d.won}, lost {d.lost}, {test} p {d.p:.4f}"
    )

"""Verbs that ask question sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from benchmarks.ablations import configurations, without_each
from benchmarks.datasets.beir import load_beir
from benchmarks.datasets.items import Collection
from benchmarks.datasets.lmeb import find_tasks, load_task
from benchmarks.datasets.locomo import load_locomo
from benchmarks.datasets.longmemeval import load_longmemeval
from benchmarks.datasets.meetings import load_meetings, load_turns
from benchmarks.datasets.own import load_notes
from benchmarks.datasets.pages import join_pages, load_pages
from benchmarks.lmeb import judge_run, read_published
from benchmarks.metrics import MEASURES
from benchmarks.pages import judge_pages, sum_up
from benchmarks.plots import draw_runs
from benchmarks.product import as_notes
from benchmarks.report import MeasuredDifference, compare_runs, run_record, table
from benchmarks.runs import Run, run_system
from benchmarks.shown import measure_shown
from benchmarks.vectors import RememberingEmbedder, loading
from benchmarks.verbs.options import (
    KEPT,
    Cache,
    EmbedderName,
    Gold,
    Mode,
    Plots,
    Product,
    Shown,
    UnitOption,
    cache_of,
    printing,
)
from memory_palace.cli.group import Json
from memory_palace.cli.progress import progress_line
from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import UsageError
from memory_palace.retrieval.signals import Profile
from memory_palace.shown import plural, print_json, say

_BASELINES = ("grep", "bm25")
_ASKED_IN = "en"


def longmemeval(
    file: Annotated[Path, Argument(help="The official JSON file.")],
    product: Product = False,
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    plots: Plots = None,
    as_json: Json = False,
) -> None:
    """Ask LongMemEval: one haystack of sessions per question."""
    found = list(load_longmemeval(file))
    _run("longmemeval", found, mode, embedder, cache, plots, is_product=product, as_json=as_json)


def locomo(
    file: Annotated[Path, Argument(help="The official JSON file.")],
    unit: UnitOption = "turn",
    gold: Gold = None,
    shown: Shown = False,
    product: Product = False,
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    plots: Plots = None,
    as_json: Json = False,
) -> None:
    """Ask LoCoMo: questions on long conversations.

    Turns and sessions are ranked in an index of turns, which no command builds. With --product each
    session is a note, and `shown` says how often five hits show a right turn whole.
    """
    if shown:
        turns = list(load_locomo(file, unit="turn", gold=gold))
        _print_shown(turns, embedder, cache, as_json=as_json)
        return
    unit = "turn" if product else unit
    found = list(load_locomo(file, unit=unit, gold=gold))
    name = "locomo" if product else f"locomo-{unit}"
    _run(name, found, mode, embedder, cache, plots, is_product=product, as_json=as_json)


def beir(
    folder: Annotated[Path, Argument(help="Folder in BEIR's layout.")],
    split: Annotated[str, Option("--split", help="Labels to use: test, dev or train.")] = "test",
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    plots: Plots = None,
    as_json: Json = False,
) -> None:
    """Ask a BEIR collection."""
    found = [load_beir(folder, split=split)]
    _run(f"beir-{folder.name}", found, mode, embedder, cache, plots, as_json=as_json)


def qmsum(
    file: Annotated[Path, Argument(help="JSONL of meetings.")],
    shown: Shown = False,
    product: Product = False,
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    plots: Plots = None,
    as_json: Json = False,
) -> None:
    """Ask QMSum: meetings cut into notes of ten turns."""
    if shown:
        _print_shown([load_turns(file)], embedder, cache, as_json=as_json)
        return
    found = load_turns(file) if product else load_meetings(file)
    _run("qmsum", [found], mode, embedder, cache, plots, is_product=product, as_json=as_json)


def notes(
    folder: Annotated[Path, Argument(help="Folder of Markdown notes.")],
    qrels: Annotated[
        Path, Option("--qrels", help="Lines of question, note and gain, separated by tabs.")
    ],
    product: Product = False,
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    plots: Plots = None,
    as_json: Json = False,
) -> None:
    """Ask your own notes, with your own questions."""
    found = [load_notes(folder, qrels)]
    name = f"notes-{folder.name}"
    _run(name, found, mode, embedder, cache, plots, is_product=product, as_json=as_json)


def pages(
    folder: Annotated[
        Path, Argument(help="Folder with notes/LANG/ and questions.jsonl, as a set of pages has.")
    ],
    across: Annotated[
        bool, Option("--across", help="Ask the English questions of the other languages' pages.")
    ] = False,
    together: Annotated[
        list[str] | None,
        Option("--together", help="Only this language, repeatable: all in one palace."),
    ] = None,
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Ask the same pages in several languages, each a palace of its own, the worst one first.

    With --together those named are one palace. Pages are indexed as they stand and asked as
    `palace query` asks. A mean is of the languages other than English.
    """
    asked = list(load_pages(folder, asked_in=_ASKED_IN if across else None))
    name = "pages-across" if across else "pages"
    if together:
        name = f"pages-{'-'.join(together)}"
        asked = [join_pages(part for part in asked if part.group in together)]
    modes = list(dict.fromkeys(mode or ("hybrid", "vector", "bm25")))
    runs = [_ask_all(name, asked, each, embedder, cache, is_product=True) for each in modes]
    found = judge_pages(runs)
    with printing("languages", "means", as_json=as_json) as rows:
        for language, figures in found.items():
            for one in figures:
                line = (
                    f"{language} {one.system}, {one.questions} questions: any@5 "
                    f"{one.any_at_5:.3f}, MRR {one.mrr:.3f}, nDCG@10 {one.ndcg_at_10:.3f}"
                )
                rows.add(one, line, to="languages")
        for row in sum_up(found, but=_ASKED_IN):
            line = (
                f"{row.system}: mean of {plural(row.languages, 'language')} "
                f"any@5 {row.any_at_5:.3f}, MRR {row.mrr:.3f}, nDCG@10 {row.ndcg_at_10:.3f}; "
                f"least any@5 {row.least:.3f} ({row.least_in})"
            )
            rows.add(row, line, to="means")


def lmeb(
    folder: Annotated[Path, Argument(help="Folder of tasks: NAME.json or NAME/ in BEIR's layout.")],
    task: Annotated[list[str] | None, Option("--task", help="Only this task; repeatable.")] = None,
    conversations: Annotated[
        Path | None, Option("--locomo", help="LoCoMo's official file, asked with every kind.")
    ] = None,
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Ask memory tasks of a public leaderboard: the mean over subsets, then each, the worst first.

    What others published of whole tasks stands in a table of its own: no column has both.
    """
    paths = find_tasks(folder) | ({"locomo": conversations} if conversations else {})
    if unknown := [name for name in task or () if name not in paths]:
        raise UsageError(f"{folder} has no task {unknown[0]}, but {', '.join(paths)}")
    modes = list(dict.fromkeys(mode or ("bm25", "vector", "hybrid")))
    with printing("tasks", "published", as_json=as_json) as rows:
        for name in task or paths:
            found = load_task(paths[name])
            for system in modes:
                for row in judge_run(_ask_all(name, found, system, embedder, cache)):
                    figures = ", ".join(f"{m} {value:.3f}" for m, value in row.means.items())
                    head = f"  {row.subset}" if row.subset else f"{name}, {system}"
                    line = f"{head}: n {row.questions}, {figures} [{row.low:.3f}, {row.high:.3f}]"
                    rows.add(row, line, to="tasks")
        source, published = read_published()
        for other in published:
            line = f"published: {other.task}, n {other.questions}, nDCG@10: " + ", ".join(
                f"{system} {value:.3f}" for system, value in other.scores.items()
            )
            rows.add(other, line, to="published", source=source)
        if not as_json:
            say(source)


def ablate(
    path: Annotated[Path, Argument(help="Question set to measure on.")],
    kind: Annotated[
        Literal["locomo", "longmemeval", "beir", "qmsum"],
        Option("--set", help="Kind of question set."),
    ] = "locomo",
    unit: UnitOption = "turn",
    gold: Gold = None,
    measure: Annotated[str, Option("--measure", help=f"One of {', '.join(MEASURES)}.")] = "any@5",
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Measure the worth of each signal and guard, with intervals of the paired differences."""
    if kind == "locomo":
        found = list(load_locomo(path, unit=unit, gold=gold))
    elif kind == "longmemeval":
        found = list(load_longmemeval(path))
    else:
        found = [load_beir(path) if kind == "beir" else load_meetings(path)]
    name = f"ablate-{kind}" + (f"-{unit}" if kind == "locomo" else "")
    with printing("differences", as_json=as_json) as rows:
        for profiles in (list(configurations()), list(without_each())):
            runs = [_ask_all(name, found, profile, embedder, cache) for profile in profiles]
            differences = [compare_runs(runs[0], run, measure=measure) for run in runs]
            for difference in differences:
                rows.add(difference, _line(difference), to="differences")


def _line(d: MeasuredDifference) -> str:
    test = "McNemar" if d.measure.startswith(("any", "all")) else "sign test"
    return (
        f"{d.second:<26} {d.measure} {d.value:.4f}  {d.mean:+.4f} "
        f"[{d.low:+.4f}, {d.high:+.4f}]  won {d.won}, lost {d.lost}, {test} p {d.p:.4f}"
    )


def _run(
    name: str,
    collections: Sequence[Collection],
    modes: list[str] | None,
    embedder: str,
    cache: Path | None,
    plots: Path | None = None,
    *,
    is_product: bool = False,
    as_json: bool,
) -> None:
    """Run every mode asked for, and the two that belong into every table."""
    wanted = list(dict.fromkeys((*_BASELINES, *(modes or ("vector", "fusion", "hybrid")))))
    if is_product:
        name, collections = f"{name}-product", [as_notes(part) for part in collections]
    done = [
        _ask_all(name, collections, mode, embedder, cache, is_product=is_product) for mode in wanted
    ]
    if as_json:
        print_json({"schema": 2, "runs": [run_record(run) for run in done]})
    else:
        print(*table(done), sep="\n")
    if plots is not None:
        say(str(draw_runs(done, plots)))


def _ask_all(
    name: str,
    collections: Sequence[Collection],
    system: str | Profile,
    embedder: str,
    cache: Path | None,
    *,
    is_product: bool = False,
) -> Run:
    """Ask every question of some collections, with a bar on a terminal."""
    with progress_line(name if isinstance(system, str) else system.name, stopped=KEPT) as progress:
        return run_system(
            name,
            collections,
            system,
            embedder=get_embedder(embedder),
            cache=cache_of(cache),
            is_product=is_product,
            progress=progress,
        )


def _print_shown(
    collections: Sequence[Collection], embedder: str, cache: Path | None, *, as_json: bool
) -> None:
    """Measure the text of five hits, in JSON and on a terminal, beside simpler ways."""
    remembering = RememberingEmbedder(get_embedder(embedder), cache_of(cache))
    with progress_line("shown") as progress, loading(remembering):
        rows = measure_shown(collections, embedder=remembering, progress=progress)
    remembering.save()
    with printing(as_json=as_json) as printed:
        for row in rows:
            line = (
                f"{row.system:<24} {row.group:<12} n {row.questions:<4} whole right turn "
                f"{row.held:.3f} [{row.low:.3f}, {row.high:.3f}]  {row.bytes:,.0f} bytes"
            )
            printed.add(row, line)

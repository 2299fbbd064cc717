"""``palace bench`` on question sets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.bench.datasets.beir import load_beir
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.datasets.longmemeval import load_longmemeval
from memory_palace.bench.datasets.meetings import load_meetings, load_turns
from memory_palace.bench.datasets.own import load_notes
from memory_palace.bench.plots import draw_runs
from memory_palace.bench.product import as_notes
from memory_palace.bench.report import run_record, table
from memory_palace.bench.runs import Run, run_system
from memory_palace.cli.bench_options import (
    KEPT,
    Audited,
    Cache,
    EmbedderName,
    Gold,
    Mode,
    Product,
    Shown,
    UnitOption,
)
from memory_palace.cli.bench_shown import print_shown
from memory_palace.cli.drawing import Plots, save_pictures
from memory_palace.cli.options import Json
from memory_palace.cli.printing import print_answer
from memory_palace.cli.progress import progress_line
from memory_palace.embedding.registry import get_embedder
from memory_palace.embedding.weights import cache_folder
from memory_palace.retrieval.profiles import Profile

_BASELINES = ("grep", "bm25")


def longmemeval(
    file: Annotated[Path, Argument(help="The official JSON file.")],
    product: Product = False,
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    plots: Plots = None,
    as_json: Json = False,
) -> None:
    """Ask LongMemEval: one haystack of sessions per question.

    Example: palace bench longmemeval longmemeval_s.json --mode hybrid
    """
    found = list(load_longmemeval(file))
    _run("longmemeval", found, mode, embedder, cache, plots, is_product=product, as_json=as_json)


def locomo(
    file: Annotated[Path, Argument(help="The official JSON file.")],
    unit: UnitOption = "turn",
    gold: Gold = None,
    audited: Audited = False,
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

    Example: palace bench locomo locomo10.json --unit session
    """
    if shown:
        turns = list(load_locomo(file, unit="turn", gold=gold, audited=audited))
        print_shown("locomo", turns, embedder, cache_of(cache), plots, as_json=as_json)
        return
    unit = "turn" if product else unit
    found = list(load_locomo(file, unit=unit, gold=gold, audited=audited))
    name = ("locomo" if product else f"locomo-{unit}") + ("-audited" if audited else "")
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
    """Ask a BEIR collection.

    Example: palace bench beir scifact --mode hybrid
    """
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
    """Ask QMSum: meetings cut into notes of ten turns.

    Example: palace bench qmsum val.jsonl
    """
    if shown:
        print_shown("qmsum", [load_turns(file)], embedder, cache_of(cache), plots, as_json=as_json)
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
    """Ask your own notes, with your own questions.

    Example: palace bench notes palace --qrels questions.tsv
    """
    found = [load_notes(folder, qrels)]
    name = f"notes-{folder.name}"
    _run(name, found, mode, embedder, cache, plots, is_product=product, as_json=as_json)


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
        ask_all(name, collections, mode, embedder, cache, is_product=is_product) for mode in wanted
    ]
    print_runs(done, as_json=as_json)
    save_pictures(draw_runs(done), plots)


def print_runs(runs: Sequence[Run], *, as_json: bool) -> None:
    """Print a table of runs; as JSON one object with a record of each."""
    print_answer({"runs": [run_record(run) for run in runs]}, table(runs), as_json=as_json)


def ask_all(
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


def cache_of(given: Path | None) -> Path:
    """Return where vectors, indexes and runs are kept."""
    return given if given is not None else cache_folder(os.environ) / "bench"

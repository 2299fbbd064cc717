"""``palace bench`` on question sets."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from memory_palace.bench.ablations import sixteen, without_each
from memory_palace.bench.datasets.beir import load_beir
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.datasets.longmemeval import load_longmemeval
from memory_palace.bench.datasets.meetings import load_meetings
from memory_palace.bench.datasets.own import load_notes
from memory_palace.bench.fitting import judge, variations
from memory_palace.bench.metrics import mcnemar, paired_interval
from memory_palace.bench.report import core, draw, summarise, table
from memory_palace.bench.runs import Run, read_run, run_system
from memory_palace.cli.options import SCHEMA, Json
from memory_palace.cli.printing import print_json
from memory_palace.embedding.registry import get_embedder
from memory_palace.embedding.weights import cache_folder
from memory_palace.errors import UsageError
from memory_palace.retrieval.profiles import Profile


class Unit(StrEnum):
    """What of LoCoMo is ranked."""

    turn = "turn"
    session = "session"


class Kind(StrEnum):
    """Question sets that can be taken apart signal by signal."""

    locomo = "locomo"
    longmemeval = "longmemeval"
    beir = "beir"
    qmsum = "qmsum"


Mode = Annotated[
    list[str] | None,
    typer.Option("--mode", help="bm25, vector, hybrid, grep or a profile; may be repeated."),
]
Cache = Annotated[
    Path | None, typer.Option("--cache", help="Where vectors, indexes and runs are kept.")
]
EmbedderName = Annotated[str, typer.Option("--embedder", help="Embedder.")]
Gold = Annotated[
    Path | None, typer.Option("--gold", help="JSONL of normalised labels instead of the file's.")
]
Audited = Annotated[
    bool, typer.Option("--audited", help="Leave out labels that --gold says are disputed.")
]

_BASELINES = ("grep", "bm25")


def add_commands(app: typer.Typer) -> None:
    """Add the verbs of this module to ``palace bench``."""
    for name, command in (
        ("longmemeval", longmemeval), ("locomo", locomo), ("beir", beir), ("qmsum", qmsum),
        ("notes", notes), ("ablate", ablate), ("tune", tune), ("compare", compare),
        ("list", list_runs), ("report", report),
    ):  # fmt: skip
        app.command(name)(command)


def longmemeval(
    file: Annotated[Path, typer.Argument(help="The official JSON.")],
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Ask LongMemEval: one haystack of sessions per question.

    Example: palace bench longmemeval longmemeval_s.json --mode hybrid
    """
    _run("longmemeval", list(load_longmemeval(file)), mode, embedder, cache, as_json=as_json)


def locomo(
    file: Annotated[Path, typer.Argument(help="The official JSON.")],
    unit: Annotated[Unit, typer.Option("--unit", help="What is ranked.")] = Unit.turn,
    gold: Gold = None,
    audited: Audited = False,
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Ask LoCoMo: questions on long conversations.

    Example: palace bench locomo locomo10.json --unit session
    """
    found = list(load_locomo(file, unit=unit.value, gold=gold, audited=audited))
    name = f"locomo-{unit.value}" + ("-audited" if audited else "")
    _run(name, found, mode, embedder, cache, as_json=as_json)


def beir(
    folder: Annotated[Path, typer.Argument(help="A folder in BEIR's layout.")],
    split: Annotated[str, typer.Option("--split", help="Which labels.")] = "test",
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Ask a BEIR collection.

    Example: palace bench beir scifact --mode hybrid
    """
    found = [load_beir(folder, split=split)]
    _run(f"beir-{folder.name}", found, mode, embedder, cache, as_json=as_json)


def qmsum(
    file: Annotated[Path, typer.Argument(help="A JSONL of meetings.")],
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Ask QMSum: meetings cut into notes of ten turns.

    Example: palace bench qmsum val.jsonl
    """
    _run("qmsum", [load_meetings(file)], mode, embedder, cache, as_json=as_json)


def notes(
    folder: Annotated[Path, typer.Argument(help="A folder of Markdown notes.")],
    qrels: Annotated[
        Path, typer.Option("--qrels", help="Lines of question, note and gain, tab between.")
    ],
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Ask your own notes, with your own questions.

    Example: palace bench notes palace --qrels questions.tsv
    """
    found = [load_notes(folder, qrels)]
    _run(f"notes-{folder.name}", found, mode, embedder, cache, as_json=as_json)


def ablate(
    path: Annotated[Path, typer.Argument(help="A question set.")],
    kind: Annotated[Kind, typer.Option("--set", help="What it is.")] = Kind.locomo,
    unit: Annotated[Unit, typer.Option("--unit", help="What of LoCoMo is ranked.")] = Unit.turn,
    gold: Gold = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Say what each signal and guard is worth, with intervals of the paired differences.

    Example: palace bench ablate locomo10.json
    """
    found = _load(path, kind, unit, gold)
    name = f"ablate-{kind.value}" + (f"-{unit.value}" if kind is Kind.locomo else "")
    for profiles in (list(sixteen()), list(without_each())):
        base: Run | None = None
        for profile in profiles:
            run = _ask(name, found, profile, embedder, cache)
            base = base or run
            _print_difference(base, run, as_json=as_json)


def _load(path: Path, kind: Kind, unit: Unit, gold: Path | None) -> list[Collection]:
    if kind is Kind.locomo:
        return list(load_locomo(path, unit=unit.value, gold=gold))
    if kind is Kind.longmemeval:
        return list(load_longmemeval(path))
    return [load_beir(path) if kind is Kind.beir else load_meetings(path)]


def tune(
    file: Annotated[Path, typer.Argument(help="LoCoMo, official JSON.")],
    unit: Annotated[Unit, typer.Option("--unit", help="What is ranked.")] = Unit.turn,
    gold: Gold = None,
    count: Annotated[int, typer.Option("--count", min=1, help="Variations to try.")] = 100,
    seed: Annotated[int, typer.Option("--seed", help="Of the variations.")] = 1,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Vary the weights, choose on all conversations but one, and judge on that one.

    Example: palace bench tune locomo10.json --count 100
    """
    found = list(load_locomo(file, unit=unit.value, gold=gold))
    name = f"tune-{unit.value}"
    choice = judge(
        list(variations(count, seed=seed)),
        lambda profile: _ask(name, found, profile, embedder, cache),
    )
    if as_json:
        print_json(
            {"schema": SCHEMA, "held_out": choice.held_out, "chosen": choice.chosen,
             "refitted": choice.refitted, "mean": choice.mean, "spread": choice.spread}
        )  # fmt: skip
        return
    for group, mean in choice.held_out.items():
        print(f"{group:<12} {mean:.4f} with {choice.chosen[group]}")
    print(f"held out     {choice.mean:.4f}, spread {choice.spread:.4f}; on all {choice.refitted}")


def compare(
    first: Annotated[Path, typer.Argument(help="A run's JSONL.")],
    second: Annotated[Path, typer.Argument(help="Another's, of the same questions.")],
    as_json: Json = False,
) -> None:
    """Compare two runs question by question: paired bootstrap and McNemar's test.

    Example: palace bench compare a.jsonl b.jsonl
    """
    _print_difference(read_run(first), read_run(second), as_json=as_json)


def list_runs(cache: Cache = None, as_json: Json = False) -> None:
    """List the runs that were made.

    Example: palace bench list
    """
    for path in sorted((_cache(cache) / "runs").glob("*.jsonl")):
        run = read_run(path)
        means = summarise(core(run.answers))
        if as_json:
            print_json({"schema": SCHEMA, "path": str(path), "run": run.name,
                        "system": run.system, "questions": len(run.answers), **means})  # fmt: skip
        else:
            print(f"{path}  {len(run.answers)} questions, any@5 {means.get('any@5', 0):.3f}")


def report(
    runs: Annotated[list[Path], typer.Argument(help="Runs of one question set.")],
    plots: Annotated[Path | None, typer.Option("--plots", help="Folder for PNG files.")] = None,
) -> None:
    """Print a Markdown table of runs, and draw them with --plots.

    Example: palace bench report a.jsonl b.jsonl --plots pictures
    """
    read = [read_run(path) for path in runs]
    for line in table(read):
        print(line)
    if plots is not None:
        for path in draw(read, plots):
            print(path, file=sys.stderr)


def _run(
    name: str,
    collections: Sequence[Collection],
    modes: list[str] | None,
    embedder: str,
    cache: Path | None,
    *,
    as_json: bool,
) -> None:
    """Run every mode asked for, and the two that belong into every table."""
    wanted = list(dict.fromkeys((*_BASELINES, *(modes or ("vector", "hybrid")))))
    done = [_ask(name, collections, mode, embedder, cache) for mode in wanted]
    if not as_json:
        for line in table(done):
            print(line)
        return
    for run in done:
        print_json({"schema": SCHEMA, "set": name, "system": run.system,
                    "questions": len(run.answers), **summarise(core(run.answers)),
                    **run.cost})  # fmt: skip


def _ask(
    name: str,
    collections: Sequence[Collection],
    system: str | Profile,
    embedder: str,
    cache: Path | None,
) -> Run:
    with _bar(name if isinstance(system, str) else system.name) as progress:
        return run_system(
            name,
            collections,
            system,
            embedder=get_embedder(embedder),
            cache=_cache(cache),
            progress=progress,
        )


def _print_difference(first: Run, second: Run, *, as_json: bool) -> None:
    by_id = {answer.id: answer.scores for answer in core(first.answers) if answer.scores}
    pairs = [(by_id[a.id], a.scores) for a in core(second.answers) if a.id in by_id]
    if not pairs:
        raise UsageError(f"{first.system} and {second.system} have no question in common")
    before, after = ([scores["any@5"] for scores in side] for side in zip(*pairs, strict=True))
    mean, low, high = paired_interval(before, after)
    lost, won, p = mcnemar(before, after)
    if as_json:
        print_json(
            {"schema": SCHEMA, "first": first.system, "second": second.system,
             "questions": len(pairs), "any@5": sum(after) / len(after), "difference": mean,
             "low": low, "high": high, "lost": lost, "won": won, "p": p}
        )  # fmt: skip
        return
    print(
        f"{second.system:<26} any@5 {sum(after) / len(after):.4f}  {mean:+.4f} "
        f"[{low:+.4f}, {high:+.4f}]  won {won}, lost {lost}, McNemar p {p:.4f}"
    )


def _cache(given: Path | None) -> Path:
    return given if given is not None else cache_folder(os.environ) / "bench"


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)

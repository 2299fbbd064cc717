"""Verbs that measure a part of the product: its cost, its searches, its answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Exit, Option

from benchmarks import confidence, known_items, recall, scale, seeking, serving, verifying
from benchmarks.given import Given, checkout, need_models
from benchmarks.llm import measure_answers
from benchmarks.promises import PARTS, measure_promises
from benchmarks.recall_sets import SETS, choose_half, read_listeners
from benchmarks.recall_systems import SYSTEMS, choose_systems
from benchmarks.verbs.options import (
    KEPT,
    Cache,
    Data,
    EmbedderName,
    Runs,
    Seed,
    cache_of,
    need_data,
    print_figures,
    printing,
)
from memory_palace.cli.group import Json
from memory_palace.cli.progress import progress_line
from memory_palace.config import PalacePaths, find_paths
from memory_palace.dialogue import open_dialogue
from memory_palace.embedding.registry import NO_VECTORS, get_embedder
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.store.reaching import find_store
from memory_palace.libraries import check_postgres
from memory_palace.palace import Palace
from memory_palace.shown import print_json, say, to_record


def run_promises(
    part: Annotated[
        list[str] | None, Option("--part", help=f"Only this part; repeatable: {', '.join(PARTS)}.")
    ] = None,
    data: Data = None,
    runs: Runs = 5,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Measure every promised figure: cost of a question, quality of answers.

    A part whose data or model is missing is skipped and says what it needs. Exits 8 where a limit
    is not kept.
    """
    with progress_line("promises", stopped=KEPT) as progress:
        given = Given(data, cache_of(cache), runs, progress)
        is_kept = print_figures(measure_promises(given, part or []), as_json=as_json)
    if not is_kept:
        raise Exit(CheckFailedError.exit_code)


def run_scale(
    size: Annotated[
        list[int] | None, Option("--size", min=10, help="Number of notes; repeatable.")
    ] = None,
    embedder: EmbedderName = "hashing",
    runs: Runs = 5,
    as_json: Json = False,
) -> None:
    """Measure building and asking on generated notes, beside a floor of the same run."""
    sizes = tuple(size or (1_000, 10_000, 25_000))
    print_figures(scale.measure_scale(sizes, embedder=embedder, runs=runs), as_json=as_json)


def run_serve(
    notes: Annotated[
        Path | None, Option("--notes", help="Measure whole processes on a copy of these notes.")
    ] = None,
    runs: Runs = 20,
    as_json: Json = False,
) -> None:
    """Measure questions that the resident server answers, on generated notes with minilm."""
    with serving.copied_palace(notes) as root:
        label = notes.name if notes else "1,000 notes"
        print_figures(serving.measure_process(root, label, runs), as_json=as_json)


def run_store(
    notes: Annotated[Path, Argument(help="Folder of notes; a copy is measured.")],
    store: Annotated[str, Option("--store", help="Address of a PostgreSQL store.")],
    embedder: EmbedderName = "minilm",
    runs: Runs = 3,
    as_json: Json = False,
) -> None:
    """Measure a palace in files and the same one at PostgreSQL: build, questions, bytes.

    A palace is made at the store, and removed at the end.
    """
    check_postgres()
    from benchmarks.store import measure_store  # delayed: it needs the extra

    rows = measure_store(notes, find_store(store), embedder=embedder, runs=runs)
    print_figures(rows, as_json=as_json)


def run_seek(
    table: Annotated[Path, Argument(help="Markdown table of goal, summary and kind.")],
    embedder: EmbedderName = "minilm",
    seed: Seed = seeking.SEED,
    as_json: Json = False,
) -> None:
    """Measure what a search promotes by chance, and how often what is meant."""
    errands, model = seeking.read_errands(table), get_embedder(embedder)
    with printing("shares", as_json=as_json) as rows:
        for share in seeking.measure_promotion(errands, model, seed=seed):
            line = f"{share.what:<52} {share.value:.3f} [{share.low:.3f}, {share.high:.3f}]"
            rows.add(share, f"{line}  {share.limit}".rstrip(), to="shares")


def run_known(
    folder: Annotated[Path, Argument(help="Any folder of Markdown notes, as it stands.")],
    embedder: EmbedderName = "minilm",
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Ask a folder of notes for its own names, quotes and words, the worst kind first."""
    with printing(as_json=as_json) as rows:
        for row in known_items.measure_known(folder, embedder=embedder, seed=seed):
            figures = f"{row.at_1:.3f} first, {row.at_5:.3f} in five, {row.answered:.3f} answered"
            rows.add(row, f"{row.kind:<15} {row.system:<15} {figures} of {row.questions}")


def run_confidence(
    data: Data = None, embedder: EmbedderName = "minilm", cache: Cache = None, as_json: Json = False
) -> None:
    """Ask every collection the questions of others: the share answered, and how sure it is."""
    groups = list(confidence.read_groups(need_data(data), checkout("palace").parent))
    model = get_embedder(embedder)
    answers: dict[tuple[str, str], Sequence[tuple[float, bool]]] = {}
    with progress_line("confidence", stopped=KEPT) as progress:
        for done, group in enumerate(groups):
            progress(group[0].group, done, len(groups))
            answers.update(confidence.ask_across(group, model, cache_of(cache)))
    with printing("pairs", "bins", as_json=as_json) as rows:
        for row in confidence.compare(answers):
            line = (
                f"{row.palace:<12} asked {row.source:<12} AUC {row.auc:.3f}  own {row.own:.3f} of "
                f"{row.own_asked:<4} foreign {row.foreign:.3f} of {row.foreign_asked}"
            )
            line += "" if row.named is None else f"  with its names {row.named:.3f}"
            line += "" if row.lost is None else f"  not found {row.lost:.3f}"
            rows.add(row, line, to="pairs")
        for one in confidence.find_bins(answers):
            line = (
                f"confidence {one.confidence:.3f}  right {one.right:.3f} "
                f"[{one.low:.3f}, {one.high:.3f}] of {one.count}"
            )
            rows.add(one, line, to="bins")


def run_recall(
    data: Data = None,
    sets: Annotated[
        list[str] | None, Option("--set", help=f"Repeatable: {', '.join(SETS)}; default: all.")
    ] = None,
    half: Annotated[
        Literal["dev", "held", "all"], Option("--half", help="Which half of the lines is said.")
    ] = "dev",
    system: Annotated[
        list[str] | None, Option("--system", help=f"Repeatable: {', '.join(SYSTEMS)}.")
    ] = None,
    lexical: Annotated[bool, Option("--lexical", help="Compare words alone.")] = False,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Say lines that refer to notes, and small talk: who speaks in time, and what is said.

    Beside `palace recall` stand systems that always speak, with the same bytes, and nothing at all.
    R@5 is of the ranking below, whether or not anything is said.
    """
    folder = cache_of(cache)
    listeners = read_listeners(Given(need_data(data), folder), sets or SETS)
    chosen = list(choose_half(listeners, half))
    if not chosen:
        raise UsageError(f"there is no line of the half {half!r}")
    model = get_embedder(NO_VECTORS if lexical else embedder)
    systems = choose_systems(system or SYSTEMS, has_vectors=bool(model.dimension))
    with progress_line("recall", stopped=KEPT) as progress:
        judged = list(
            recall.listen(chosen, systems, embedder=model, cache=folder, progress=progress)
        )
    with printing("systems", as_json=as_json) as rows:
        for row in recall.sum_up(judged):
            shares = ("spoken", "silent", "held", "turn", "found", "shown")
            told = (f"{name} {_cell(getattr(row, name))}" for name in shares)
            line = (
                f"{row.set}, {row.half}, {row.system}: {', '.join(told)}; "
                f"{row.bytes:,.0f} bytes, {row.chat_bytes:,.0f} to chat; "
                f"p50 {row.p50_ms:.1f} ms, p95 {row.p95_ms:.1f} ms"
            )
            rows.add(row, line, to="systems")


def _cell(share: recall.Estimate | None) -> str:
    return "-" if share is None else f"{share.value:.3f} [{share.low:.2f}, {share.high:.2f}]"


def run_verify(
    half: Annotated[str, Option("--half", help="dev, or held: nobody looked at that one.")] = "dev",
    data: Data = None,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Measure which statements on others' notes are accepted, with their note named and with none.

    Beside it simple baselines, and what the statements tell without any note.
    """
    need_models(verifying.MODEL)
    read = verifying.load_statements(half, need_data(data))
    with printing("kinds", as_json=as_json) as rows:
        balanced = [each for each in read if each.set_name == "balanced"]
        alone = verifying.measure_auc(verifying.score_alone(balanced), balanced)
        say(f"right told from wrong by the statement alone: AUC {alone:.3f}")
        for row in verifying.measure_systems(read, cache_of(cache) / "verify"):
            line = (
                f"{row.system:<30} {row.set_name:<9} {row.kind:<11} {row.statements:>3}  accepted "
                f"{row.accepted:.3f}  contradicted {row.contradicted:.3f}  not found "
                f"{row.not_found:.3f}"
            )
            rows.add(row, line, to="kinds")


def run_llm(
    model: Annotated[str, Option("--model", help="Model of the llm library.")],
    palace: Annotated[Path, Option("-C", help="Folder of the palace.")] = Path(),
    questions: Annotated[int, Option("--questions", min=1, help="Number of questions.")] = 30,
    limit: Annotated[int, Option("-k", "--top-k", min=1, help="Notes to show the model.")] = 3,
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Let a model answer with and without the palace, and grade both by what they name."""
    dialogue = open_dialogue(model)
    opened = Palace((find_paths(palace) or PalacePaths(palace)).root)
    graded = measure_answers(opened, dialogue, count=questions, limit=limit, seed=seed)
    if as_json:
        print_json({"schema": 2, "model": model, **to_record(graded)})
    else:
        print(f"without the palace  {graded.alone:.3f}")
        print(f"with the palace     {graded.with_palace:.3f}")
        interval = f"[{graded.low:+.3f}, {graded.high:+.3f}]  {graded.questions} questions"
        print(f"difference          {graded.difference:+.3f} {interval}", end=", ")
        print(f"memory shown in {graded.found:.0%}")
    say(dialogue.spent())

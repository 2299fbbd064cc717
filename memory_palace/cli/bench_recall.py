"""``palace bench recall``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from memory_palace.bench.given import Given
from memory_palace.bench.plots import draw_recall
from memory_palace.bench.recall import (
    Estimate,
    Judged,
    LanguageRow,
    RecallRow,
    judge_languages,
    listen,
    sum_up,
)
from memory_palace.bench.recall_sets import (
    SETS,
    Listener,
    choose_half,
    read_listeners,
    read_own,
)
from memory_palace.bench.recall_systems import RECALL, SYSTEMS, choose_systems
from memory_palace.cli.bench_options import KEPT, Cache, EmbedderName, printing
from memory_palace.cli.bench_sets import cache_of
from memory_palace.cli.drawing import Plots, save_pictures
from memory_palace.cli.options import Json
from memory_palace.cli.progress import progress_line
from memory_palace.embedding.registry import NO_VECTORS, get_embedder
from memory_palace.errors import UsageError

_HEAD = (
    *("system", "spoken when it should", "silent when it should", "gold sentence", "gold turn"),
    *("R@5", "R@5 as spoken", "AUC", "bytes", "bytes to chat", "p50 ms", "p95 ms"),
)


HalfOption = Annotated[
    Literal["dev", "held", "all"], Option("--half", help="Which half of the lines is said.")
]
Systems = Annotated[list[str] | None, Option("--system", help=f"Repeatable: {', '.join(SYSTEMS)}.")]


def run_recall(
    data: Annotated[
        Path | None,
        Option("--data", envvar="PALACE_BENCH_DATA", help="Folder of question sets and vaults."),
    ] = None,
    sets: Annotated[
        list[str] | None, Option("--set", help=f"Repeatable: {', '.join(SETS)}; default: all.")
    ] = None,
    vault: Annotated[
        Path | None, Option("--vault", help="Your own folder of notes, instead of the sets.")
    ] = None,
    utterances: Annotated[
        Path | None,
        Option("--utterances", help="JSONL of `utterance` and `gold`, paths in --vault."),
    ] = None,
    chat: Annotated[
        Path | None, Option("--chat", help="JSONL of `utterance` and `lang`: small talk.")
    ] = None,
    half: HalfOption = "dev",
    system: Systems = None,
    lexical: Annotated[bool, Option("--lexical", help="Compare words alone.")] = False,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    plots: Plots = None,
    as_json: Json = False,
) -> None:
    """Say lines that refer to notes, and small talk: who speaks in time, and what is said.

    Beside `palace recall` stand systems that always speak, with the same bytes, and nothing at all.
    R@5 is of the ranking below, whether or not anything is said.

    Example: palace bench recall --vault notes --utterances said.jsonl --chat talk.jsonl --half all
    """
    folder = cache_of(cache)
    if vault is not None:
        listeners = [read_own(vault, utterances, chat)]
    elif data is not None:
        listeners = list(read_listeners(Given(data, None, folder), sets or SETS))
    else:
        raise UsageError("give --data, or --vault with --utterances and --chat")
    chosen = _choose(listeners, half)
    judged = _say_all(chosen, system, NO_VECTORS if lexical else embedder, folder)
    figures = list(sum_up(judged))
    _print(figures, judge_languages(judged, RECALL), as_json=as_json)
    save_pictures(draw_recall(figures), plots)


def _choose(listeners: Sequence[Listener], half: Literal["dev", "held", "all"]) -> list[Listener]:
    chosen = list(choose_half(listeners, half))
    if not chosen:
        raise UsageError(f"there is no line of the half {half!r}")
    return chosen


def _say_all(
    listeners: Sequence[Listener], names: Sequence[str] | None, embedder: str, cache: Path
) -> list[Judged]:
    model = get_embedder(embedder)
    systems = choose_systems(
        names or SYSTEMS,
        has_vectors=bool(model.dimension),
        has_context=any(remark.context for one in listeners for remark in one.said),
    )
    with progress_line("recall", stopped=KEPT) as progress:
        return list(listen(listeners, systems, embedder=model, cache=cache, progress=progress))


def _print(
    figures: Sequence[RecallRow], languages: Sequence[LanguageRow], *, as_json: bool
) -> None:
    with printing("systems", "languages", as_json=as_json) as rows:
        before: tuple[str, str] | None = None
        for row in figures:
            key = row.set, row.half
            rows.add(row, [*(() if key == before else _head(row)), _line(row)], to="systems")
            before = key
        for place, one in enumerate(languages):
            line = f"{one.half}, {one.language}: silent to {one.silent:.3f} of {one.chat}"
            head = () if place else (f"\n{one.system}, small talk by language, worst first",)
            rows.add(one, [*head, line], to="languages")


def _head(row: RecallRow) -> Iterator[str]:
    yield f"\n{row.set}, {row.half}: {row.refers} lines that refer, {row.chat} of small talk"
    yield f"| {' | '.join(_HEAD)} |"
    yield "|" + "---|" * len(_HEAD)


def _line(row: RecallRow) -> str:
    shares = (row.spoken, row.silent, row.held, row.turn, row.found, row.shown)
    auc = "" if row.auc is None else f"{row.auc:.3f}"
    sizes = (f"{value:,.0f}" for value in (row.bytes, row.chat_bytes))
    times = (f"{value:.1f}" for value in (row.p50_ms, row.p95_ms))
    return f"| {' | '.join((row.system, *map(_cell, shares), auc, *sizes, *times))} |"


def _cell(share: Estimate | None) -> str:
    return "" if share is None else f"{share.value:.3f} [{share.low:.2f}, {share.high:.2f}]"

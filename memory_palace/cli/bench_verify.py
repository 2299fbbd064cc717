"""``palace bench verify``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from memory_palace.bench.given import need_models
from memory_palace.bench.plots import draw_verification
from memory_palace.bench.verify_answers import find_answers, load_answers
from memory_palace.bench.verify_set.measuring import (
    CLAIMED_F1,
    VerificationRow,
    measure_verification,
)
from memory_palace.bench.verify_systems import (
    MODEL,
    SYSTEMS,
    AnswerSystem,
    choose_asked,
    list_judges,
)
from memory_palace.bench.verifying import ALL, KindRow, SystemRow, count_kinds, sum_system
from memory_palace.cli.bench_options import KEPT, Cache, printing
from memory_palace.cli.bench_sets import cache_of
from memory_palace.cli.drawing import Plots, save_pictures
from memory_palace.cli.options import Json, read_input
from memory_palace.cli.printing import say
from memory_palace.cli.progress import clear_line, progress_line
from memory_palace.cli.verify import Entailment, Instructions, JudgedBy
from memory_palace.embedding.base import find_token_reader
from memory_palace.embedding.registry import get_embedder, is_available
from memory_palace.errors import UsageError

Answers = Annotated[
    Path | None, Option("--answers", help="JSONL of answers; default: those of the project.")
]


def run_verify(
    answers: Answers = None,
    data: Annotated[
        Path | None,
        Option("--data", envvar="PALACE_BENCH_DATA", help="Folder of question sets and vaults."),
    ] = None,
    system: Annotated[
        list[str] | None,
        Option("--system", help=f"Only what begins so; repeatable: {'; '.join(SYSTEMS)}."),
    ] = None,
    memories: Annotated[
        Literal["dev", "test", "extra", "held"] | None,
        Option("--memories", help="Answers on hand-written memories instead; needs no data."),
    ] = None,
    words: Annotated[
        bool, Option("--words", help="With --memories: compare words only, without a model.")
    ] = False,
    model: JudgedBy = None,
    prompt: Instructions = None,
    entailment: Entailment = None,
    plots: Plots = None,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Measure which answers on others' notes are accepted: wrong ones by kind, worst first.

    Each has one changed fact, wanders off, or is right in other words. They are checked against the
    note they are on, and against nothing named in a copy of its vault, beside simple baselines.
    With --model or --entailment these judge, and without --system nothing else does.

    Example: palace bench verify --data data --system "palace verify, note named"
    """
    if prompt is not None and model is None:
        raise UsageError("a prompt is for a model; name one with --model")
    on_notes = {"answers": answers, "system": system, "model": model, "entailment": entailment}
    _refuse_ignored({"words": words, "plots": plots} if memories is None else on_notes, memories)
    if memories is not None:
        _measure_memories(memories, plots, by_words=words, as_json=as_json)
        return
    if data is None:
        raise UsageError("give --data, the folder of question sets; see `palace bench verify -h`")
    judges = list_judges(model, None if prompt is None else read_input(prompt), entailment)
    chosen = {**judges, **_choose_systems(system or ([] if judges else [""]))}
    _measure_answers(answers, chosen, data, cache_of(cache), as_json=as_json)


def _refuse_ignored(options: Mapping[str, object], memories: str | None) -> None:
    """Raise ``UsageError`` for options of the other measurement, which would change nothing."""
    given = " and ".join(f"--{name}" for name, value in options.items() if value)
    if given and memories is None:
        raise UsageError(f"{given}: only for answers on memories; add --memories HALF")
    if given:
        raise UsageError(f"{given}: only for answers on others' notes; leave --memories out")


def _choose_systems(begins: Sequence[str]) -> dict[str, AnswerSystem]:
    found = {name: SYSTEMS[name] for name in SYSTEMS if name.startswith(tuple(begins))}
    if begins and not found:
        raise UsageError(f"no system begins so; choose from {'; '.join(SYSTEMS)}")
    return found


def _measure_answers(
    path: Path | None,
    systems: Mapping[str, AnswerSystem],
    data: Path,
    cached: Path,
    *,
    as_json: bool,
) -> None:
    need_models(MODEL)
    answers = load_answers(find_answers() if path is None else path, data)
    with (
        printing("kinds", "systems", as_json=as_json) as rows,
        progress_line("verify", stopped=KEPT) as progress,
    ):
        for name in systems:
            asked = choose_asked(name, answers)
            if not asked:
                continue
            outcomes = systems[name](asked, data, cached, progress)
            clear_line()
            found = list(count_kinds(name, asked, outcomes))
            total = sum_system(name, asked, outcomes)
            rows.add(total, _sum_lines(total), to="systems")
            for row in found:
                rows.add(row, _kind_lines(row, found), to="kinds")


def _sum_lines(row: SystemRow) -> Iterator[str]:
    line = (
        f"{row.system}, {row.answers:,} answers: {row.worst_kind} accepted {row.worst_accepted:.3f}"
        f" (worst), wandering off {row.off_accepted:.3f}, right refused {row.right_refused:.3f}; "
        f"F1 {row.f1:.3f}"
    )
    yield line if row.cites_source is None else f"{line}; right note cited {row.cites_source:.3f}"


def _kind_lines(row: KindRow, rows: Sequence[KindRow]) -> Iterator[str]:
    """Give one line to a kind, which says how its forms were accepted."""
    if row.form != ALL:
        return
    forms = [each for each in rows if each.kind == row.kind and each.form != ALL]
    parts = ", ".join(f"{each.form} {each.accepted:.3f}" for each in forms)
    yield (
        f"  {row.kind:<10} {row.answers:>5}  accepted {row.accepted:.3f} ({parts}; quoted "
        f"{row.quoted:.3f})  contradicted {row.contradicted:.3f}  not found {row.not_found:.3f}"
    )


def _measure_memories(
    half: Literal["dev", "test", "extra", "held"],
    plots: Path | None,
    *,
    by_words: bool,
    as_json: bool,
) -> None:
    by_meaning = not by_words and is_available(MODEL)
    reader = find_token_reader(get_embedder(MODEL)) if by_meaning else None
    rows = measure_verification(half, embed_tokens=reader)
    with printing("memories", as_json=as_json) as printed:
        for row in rows:
            lines = [_line(row)] if row.kind == ALL else []
            printed.add(row, lines, to="memories", by_meaning=by_meaning)
    save_pictures([draw_verification(rows)], plots)
    say(f"claims compared by {'meaning' if by_meaning else 'words alone'}; claimed F1 {CLAIMED_F1}")


def _line(row: VerificationRow) -> str:
    return (
        f"{row.split:<4} {row.check:<13} judged by {row.judged_by:<6} "
        f"n {row.cases:<3} precision {row.precision:.3f}  recall {row.recall:.3f}  "
        f"F1 {row.f1:.3f}  false positives {row.false_positive_rate:.3f}  "
        f"correct {row.correct:.3f}"
    )

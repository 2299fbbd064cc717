"""``palace bench redqueen`` and ``palace bench llm``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from typer import Context, Option

from memory_palace.bench.answers import measure_answers
from memory_palace.bench.forgetting import LEAST_REPETITIONS, Cell, simulate
from memory_palace.bench.golden import read_questions
from memory_palace.bench.hardening import Hardening, measure_hardening
from memory_palace.cli.bench_options import Asked, EmbedderName, Rounds, Seed, printing
from memory_palace.cli.options import Json, Prices, open_palace
from memory_palace.cli.printing import print_answer, say, to_record
from memory_palace.dialogue import open_dialogue
from memory_palace.errors import UsageError
from memory_palace.mnemonics.decay import half_life_days
from memory_palace.redqueen.llm import model_roles


def run_redqueen(
    ctx: Context,
    questions: Annotated[
        Path | None, Option("--questions", help="JSON lines of question and note, or a table.")
    ] = None,
    vault: Annotated[
        Path | None, Option("--vault", help="Folder of notes, instead of the palace.")
    ] = None,
    asked: Asked = None,
    rounds: Rounds = 1,
    embedder: EmbedderName = "minilm",
    repetitions: Annotated[
        int, Option("--repetitions", min=1, help="Repetitions of each simulated row.")
    ] = LEAST_REPETITIONS,
    seed: Seed = 1,
    model: Annotated[
        str | None, Option("--model", help="Model of the llm library that plays the roles.")
    ] = None,
    prices: Prices = None,
    as_json: Json = False,
) -> None:
    """Ask people's questions before and after a round on a copy; without questions, simulate.

    Example: palace bench redqueen --vault notes --questions questions.jsonl
    """
    if questions is None:
        if model is not None or vault is not None:
            raise UsageError("a round over notes is measured by questions; add --questions FILE")
        _print_cells(simulate(repetitions=repetitions, seed=seed), as_json=as_json)
        return
    dialogue = open_dialogue(model, prices=prices) if model is not None else None
    found = measure_hardening(
        vault or open_palace(ctx).paths.root,
        read_questions(questions),
        embedder=embedder,
        asked=asked,
        seed=seed,
        rounds=rounds,
        roles=model_roles(dialogue) if dialogue else None,
    )
    print_answer(_record(found), _report(found), as_json=as_json)
    if dialogue is not None:
        say(dialogue.spent())


def _record(found: Hardening) -> dict[str, Any]:
    rows = [to_record(row) | {"difference": round(row.difference, 6)} for row in found.rows]
    return {**to_record(found), "rows": rows}


def _report(found: Hardening) -> Iterator[str]:
    for row in found.rows:
        yield (
            f"{row.group:<8} {row.questions:>4} asked  {row.measure:<15}  "
            f"{row.before:.3f} -> {row.after:.3f}  {row.difference:+.3f} "
            f"[{row.low:+.3f}, {row.high:+.3f}]"
        )
    kinds = ", ".join(f"{count:.3g} {kind}" for kind, count in found.proposals.items())
    yield f"changed  {found.changed:.3g} notes by {kinds or 'no proposal'}"
    yield f"refused  {found.refused:.3g} proposals of a model"
    yield f"prose    {found.prose} notes got words in their text"


def run_llm(
    ctx: Context,
    model: Annotated[str, Option("--model", help="Model of the llm library.")],
    questions: Annotated[int, Option("--questions", min=1, help="Number of questions.")] = 30,
    limit: Annotated[int, Option("-k", "--top-k", min=1, help="Notes to show the model.")] = 3,
    prices: Prices = None,
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Let a model answer with and without the palace, and grade both by what they name.

    Example: palace bench llm --model gpt-4o-mini --questions 30
    """
    dialogue = open_dialogue(model, prices=prices)
    graded = measure_answers(open_palace(ctx), dialogue, count=questions, limit=limit, seed=seed)
    lines = [
        f"without the palace  {graded.alone:.3f}",
        f"with the palace     {graded.with_palace:.3f}",
        f"difference          {graded.difference:+.3f} [{graded.low:+.3f}, {graded.high:+.3f}]  "
        f"{graded.questions} questions, memory shown in {graded.found:.0%}",
    ]
    record = {"model": model, "spent": dialogue.spent()} | to_record(graded)
    print_answer(record, lines, as_json=as_json)
    say(dialogue.spent())


def _print_cells(cells: list[Cell], *, as_json: bool) -> None:
    if not as_json:
        print(
            "band       rounds  rule                                 score        reviews passed"
            "  last day     claimed"
        )
    with printing("cells", as_json=as_json) as printed:
        for cell in cells:
            line = (
                f"{cell.band:<10} {cell.rounds:>6}  {cell.rule:<35}  {_pair(cell.score)}  "
                f"{_pair(cell.recall)}    {_pair(cell.confidence)}  "
                f"{cell.claimed[0]:.2f}-{cell.claimed[1]:.2f}"
            )
            printed.add(cell, line, to="cells")
    if not as_json:
        say(
            f"half-life by the table {half_life_days(0):.1f} days at score 0, "
            f"{half_life_days(12):.0f} at 12 (claimed: 46); the table is an assumption, and so is "
            f"each row: mean ± sd of {cells[0].repetitions} repetitions, nothing measured on people"
        )


def _pair(values: tuple[float, float]) -> str:
    return f"{values[0]:5.2f} ± {values[1]:.2f}"

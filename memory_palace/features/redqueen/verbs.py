"""``palace redqueen``."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Argument, Context, Option, Typer

from memory_palace.cli.old_changes import show_change
from memory_palace.cli.options import Apply, Json, open_palace
from memory_palace.dialogue import open_dialogue
from memory_palace.features.redqueen.history import PastRound
from memory_palace.features.redqueen.llm import model_roles
from memory_palace.features.redqueen.round_values import Strategy
from memory_palace.features.redqueen.rounds import MODEL_QUESTIONS, QUESTIONS
from memory_palace.features.redqueen.shown import round_lines, round_record, round_remarks
from memory_palace.shown import plural, print_answer, say, to_record

app = Typer(no_args_is_help=True, help="Report what is not found as people ask for it.")
Asked = Annotated[
    int | None,
    Option(
        "--questions",
        min=1,
        max=10_000,
        help=f"Maximum number of questions: {QUESTIONS}, with --model {MODEL_QUESTIONS}.",
        show_default=False,
    ),
]


@app.command("run")
def run_round(
    ctx: Context,
    strategy: Annotated[
        Strategy, Option("--strategy", help="Which notes to examine first.")
    ] = Strategy.WEAK_SPOTS,
    questions: Asked = None,
    seed: Annotated[int, Option("--seed", help="The same seed and notes give the same round.")] = 0,
    model: Annotated[
        str | None,
        Option("--model", help="Model of the llm library that asks, answers and proposes."),
    ] = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Ask the search what people ask, in the words of links, headings and questions.

    Reported are notes that are not found, notes taken for each other, memories nobody reviews and
    names that notes share. Proposed are links that are missing, on three notes at a time.

    Example: palace redqueen run --strategy adversarial
    """
    palace = open_palace(ctx)
    dialogue = open_dialogue(model) if model is not None else None
    played = palace.redqueen.run(
        strategy=strategy,
        question_count=questions or (MODEL_QUESTIONS if dialogue else QUESTIONS),
        seed=seed,
        roles=model_roles(dialogue) if dialogue else None,
        apply=apply,
    )
    spent = dialogue.spent() if dialogue else None
    print_answer(round_record(played, spent), round_lines(played), as_json=as_json)
    if not as_json:
        for remark in round_remarks(played):
            say(remark)
        if played.outcome.diff:
            show_change(played.outcome, as_json=False)
        elif apply:
            say("nothing is proposed, so nothing was changed")
    if spent is not None:
        say(spent)
    elif not played.uses_vectors:
        say("there are no vectors, so only words were compared; run `palace index`")


@app.command("history")
def history(
    ctx: Context,
    identity: Annotated[
        str | None, Argument(help="Id of a round, to see its gaps and changed notes.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the rounds that were applied, oldest first, or show one of them.

    Example: palace redqueen history
    """
    kept = open_palace(ctx).redqueen
    rounds = [kept.show(identity)] if identity is not None else kept.history()
    lines = []
    before: float | None = None
    for past in rounds:
        change = "" if before is None else f"  {past.score - before:+.2f}"
        undone = "  undone" if past.is_undone else ""
        lines.append(
            f"{past.identity}  {past.strategy}  {plural(past.questions, 'question')}  "
            f"score {past.score:.2f}{change}  {len(past.evolved)} changed{undone}"
        )
        before = past.score
        if identity is not None:
            lines += [f"changed  {path}" for path in past.evolved]
            lines += [f"gap      {path}: {gap}" for path, gap in past.gaps]
    print_answer({"rounds": list(map(_past_record, rounds))}, lines, as_json=as_json)


def _past_record(past: PastRound) -> dict[str, Any]:
    gaps = [{"path": path, "gap": gap} for path, gap in past.gaps]
    record: dict[str, Any] = to_record(past)
    return record | {"gaps": gaps}

"""``palace redqueen``."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Argument, Context, Option, Typer

from memory_palace.cli.changes import show_change
from memory_palace.cli.options import AllowUncommitted, Apply, Json, Prices, open_palace
from memory_palace.cli.printing import plural, print_answer, say, to_record
from memory_palace.cli.redqueen_report import round_lines, round_record, round_remarks
from memory_palace.dialogue import open_dialogue
from memory_palace.redqueen.history import PastRound
from memory_palace.redqueen.llm import model_roles
from memory_palace.redqueen.round_values import Strategy, band
from memory_palace.redqueen.rounds import MODEL_QUESTIONS, QUESTIONS
from memory_palace.redqueen.session import MOST_CHANGED

app = Typer(no_args_is_help=True, help="Report what is not found as people ask for it.")
Identity = Annotated[str | None, Argument(help="Id of a round; the last one by default.")]


FirstExamined = Annotated[Strategy, Option("--strategy", help="Which notes to examine first.")]
Questions = Annotated[
    int | None,
    Option(
        "--questions",
        min=1,
        max=10_000,
        help=f"Maximum number of questions: {QUESTIONS}, with --model {MODEL_QUESTIONS}.",
        show_default=False,
    ),
]
MostChanged = Annotated[
    int, Option("--limit", min=0, help="Maximum number of notes to change; 0 for no limit.")
]
RoundSeed = Annotated[int, Option("--seed", help="The same seed and notes give the same round.")]
PlayedBy = Annotated[
    str | None, Option("--model", help="Model of the llm library that asks, answers and proposes.")
]


@app.command("run")
def run_round(
    ctx: Context,
    strategy: FirstExamined = Strategy.WEAK_SPOTS,
    questions: Questions = None,
    limit: MostChanged = MOST_CHANGED,
    seed: RoundSeed = 0,
    model: PlayedBy = None,
    prices: Prices = None,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Ask the search what people ask, in the words of links, headings and questions.

    Reported are notes that are not found, notes taken for each other, memories nobody reviews and
    links that are missing. Proposed are names, links and questions.

    Example: palace redqueen run --strategy adversarial
    """
    palace = open_palace(ctx)
    dialogue = open_dialogue(model, prices=prices) if model is not None else None
    played = palace.redqueen.run(
        strategy=strategy,
        question_count=questions or (MODEL_QUESTIONS if dialogue else QUESTIONS),
        seed=seed,
        limit=limit or None,
        roles=model_roles(dialogue) if dialogue else None,
        apply=apply,
        allow_uncommitted=allow_uncommitted,
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
def history(ctx: Context, as_json: Json = False) -> None:
    """List the rounds that were applied, oldest first.

    Example: palace redqueen history
    """
    rounds = open_palace(ctx).redqueen.history()
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
    print_answer({"rounds": list(map(_past_record, rounds))}, lines, as_json=as_json)


@app.command("show")
def show(ctx: Context, identity: Identity = None, as_json: Json = False) -> None:
    """Show one round that was applied: its score, its gaps, and the notes it changed.

    Example: palace redqueen show
    """
    past = open_palace(ctx).redqueen.show(identity)
    lines = [
        f"{past.identity}  {past.strategy}, seed {past.seed}, "
        f"{plural(past.questions, 'question')}, score {past.score:.2f}, "
        f"{band(past.score)}{', undone' if past.is_undone else ''}",
        *(f"changed  {path}" for path in past.evolved),
        *(f"gap      {path}: {gap}" for path, gap in past.gaps),
    ]
    print_answer(_past_record(past), lines, as_json=as_json)


def _past_record(past: PastRound) -> dict[str, Any]:
    gaps = [{"path": path, "gap": gap} for path, gap in past.gaps]
    record: dict[str, Any] = to_record(past)
    return record | {"gaps": gaps}

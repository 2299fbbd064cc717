"""``palace redqueen``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from typer import Argument, Context, Option, Typer

from memory_palace.cli.changes import change_record, show_change
from memory_palace.cli.options import AllowUncommitted, Apply, Json, Prices, open_palace
from memory_palace.cli.printing import plural, print_answer, say, to_record
from memory_palace.dialogue import open_dialogue
from memory_palace.redqueen.llm import model_roles
from memory_palace.redqueen.round_values import Strategy, band
from memory_palace.redqueen.rounds import PastRound, Round
from memory_palace.redqueen.session import EVOLVED_AT_MOST

app = Typer(no_args_is_help=True, help="Find what would be forgotten, and strengthen it.")
Identity = Annotated[str | None, Argument(help="Id of a round; the last one by default.")]


FirstExamined = Annotated[Strategy, Option("--strategy", help="Which memories to examine first.")]
Questions = Annotated[
    int, Option("--questions", min=1, max=10_000, help="Maximum number of questions.")
]
MostChanged = Annotated[
    int, Option("--limit", min=0, help="Maximum number of memories to change; 0 for no limit.")
]
RoundSeed = Annotated[int, Option("--seed", help="The same seed and notes give the same round.")]
PlayedBy = Annotated[
    str | None, Option("--model", help="Model of the llm library that plays the roles.")
]


@app.command("run")
def run_round(
    ctx: Context,
    strategy: FirstExamined = Strategy.WEAK_SPOTS,
    questions: Questions = 10,
    limit: MostChanged = EVOLVED_AT_MOST,
    seed: RoundSeed = 0,
    model: PlayedBy = None,
    prices: Prices = None,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Examine memories by their subject, anchors and image alone, and mend those that fail.

    Example: palace redqueen run --strategy adversarial --questions 20
    """
    palace = open_palace(ctx)
    dialogue = open_dialogue(model, prices=prices) if model is not None else None
    played = palace.redqueen.run(
        strategy=strategy,
        question_count=questions,
        seed=seed,
        evolve_at_most=limit or None,
        roles=model_roles(dialogue) if dialogue else None,
        apply=apply,
        allow_uncommitted=allow_uncommitted,
    )
    spent = dialogue.spent() if dialogue else None
    print_answer(_round_record(played, spent), _round_lines(played), as_json=as_json)
    if not as_json:
        _remark(played)
        show_change(played.outcome, as_json=False)
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


@app.command("undo")
def undo(
    ctx: Context, identity: Identity = None, apply: Apply = False, as_json: Json = False
) -> None:
    """Undo a round byte for byte, unless one of its notes was changed since.

    Example: palace redqueen undo --apply
    """
    change = open_palace(ctx).redqueen.undo(identity, apply=apply)
    show_change(change, as_json=as_json)


def _round_lines(played: Round) -> Iterator[str]:
    for evaluation in played.session.evaluations:
        yield f"{evaluation.score:.2f}  {evaluation.memory_id}"
        yield f"      asked: {evaluation.question}"
        yield from (f"      gap: {gap}" for gap in evaluation.gaps)


def _remark(played: Round) -> None:
    session = played.session
    count = plural(len(session.evaluations), "question")
    say(f"{count}, score {session.score:.2f}, {band(session.score)}")
    for path in session.resting:
        say(f"{path} was changed within the last day and is left alone")


def _round_record(played: Round, spent: str | None) -> dict[str, Any]:
    session = played.session
    triples = zip(session.questions, session.answers, session.evaluations, strict=True)
    return {
        "strategy": session.strategy.value,
        "score": round(session.score, 6),
        "band": band(session.score),
        "evaluations": [
            {
                "path": evaluation.memory_id,
                "question": question.question_text,
                "kind": question.kind,
                "difficulty": question.difficulty,
                "expected": list(question.expected_elements),
                "score": evaluation.score,
                "gaps": list(evaluation.gaps),
                "should_evolve": evaluation.should_evolve,
                "recalled": list(answer.recalled),
                "confidence": answer.confidence,
            }
            for question, answer, evaluation in triples
        ],
        "resting": list(session.resting),
        "by_meaning": played.uses_vectors,
        "spent": spent,
        "change": change_record(played.outcome),
    }


def _past_record(past: PastRound) -> dict[str, Any]:
    gaps = [{"path": path, "gap": gap} for path, gap in past.gaps]
    record: dict[str, Any] = to_record(past)
    return record | {"gaps": gaps}

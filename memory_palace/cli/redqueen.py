"""``palace redqueen``."""

from __future__ import annotations

from typing import Annotated

import typer

from memory_palace.changes.changing import undo_change
from memory_palace.cli.changes import AllowUncommitted, Apply, show_outcome
from memory_palace.cli.options import SCHEMA, Json, open_palace
from memory_palace.cli.printing import print_json, say
from memory_palace.language.visible import visible
from memory_palace.redqueen.rounds import (
    COMMAND,
    PastRound,
    Round,
    find_round,
    model_roles,
    read_history,
    run,
)
from memory_palace.redqueen.session import EVOLVED_AT_MOST
from memory_palace.redqueen.values import Strategy, band

app = typer.Typer(no_args_is_help=True, help="Ask what would be forgotten, and make it findable.")


@app.command("run")
def run_round(
    ctx: typer.Context,
    strategy: Annotated[
        Strategy, typer.Option("--strategy", help="Which memories are attacked first.")
    ] = Strategy.WEAK_SPOTS,
    questions: Annotated[
        int, typer.Option("--questions", min=1, max=10_000, help="Questions at most.")
    ] = 10,
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Memories changed at most; 0 for all weak ones.")
    ] = EVOLVED_AT_MOST,
    seed: Annotated[int, typer.Option("--seed", help="Same seed and notes, same round.")] = 0,
    model: Annotated[
        str | None, typer.Option("--model", help="Let this model of the llm library play.")
    ] = None,
    prices: Annotated[
        str | None,
        typer.Option("--prices", help="Per million tokens in and out, as 0.10,0.40; for the cost."),
    ] = None,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Examine memories, recall them by subject, anchors and image alone, and mend what failed.

    Example: palace redqueen run --strategy adversarial --questions 20
    """
    palace = open_palace(ctx)
    players = model_roles(model, prices=prices) if model is not None else None
    played = run(
        palace, strategy=strategy, question_count=questions, seed=seed,
        evolve_at_most=limit or None, roles=players.roles if players else None,
        apply=apply, allow_uncommitted=allow_uncommitted,
    )  # fmt: skip
    if as_json:
        print_json(_round_record(played, spent=players.spent() if players else None))
    else:
        _print_round(played)
        show_outcome(played.outcome, as_json=False)
    if players is not None:
        say(players.spent())
    elif not played.uses_vectors:
        say("there are no vectors here, so words alone were compared; run `palace index`")


@app.command("history")
def history(ctx: typer.Context, as_json: Json = False) -> None:
    """List the rounds that were applied, oldest first.

    Example: palace redqueen history
    """
    rounds = read_history(open_palace(ctx))
    if as_json:
        print_json({"schema": SCHEMA, "rounds": [_past_record(past) for past in rounds]})
        return
    before: float | None = None
    for past in rounds:
        change = "" if before is None else f"  {past.score - before:+.2f}"
        undone = "  undone" if past.is_undone else ""
        print(
            visible(
                f"{past.identity}  {past.strategy}  {past.questions} questions  "
                f"score {past.score:.2f}{change}  {len(past.evolved)} changed{undone}"
            )
        )
        before = past.score


@app.command("show")
def show(
    ctx: typer.Context,
    identity: Annotated[str | None, typer.Argument(help="Id of a round; else the last.")] = None,
    as_json: Json = False,
) -> None:
    """Show one round that was applied: its score, its gaps, and the notes it changed.

    Example: palace redqueen show
    """
    past = find_round(open_palace(ctx), identity)
    if as_json:
        print_json({"schema": SCHEMA, **_past_record(past)})
        return
    print(
        visible(
            f"{past.identity}  {past.strategy}, seed {past.seed}, {past.questions} questions, "
            f"score {past.score:.2f}, {band(past.score)}{', undone' if past.is_undone else ''}"
        )
    )
    for path in past.evolved:
        print(visible(f"changed  {path}"))
    for path, gap in past.gaps:
        print(visible(f"gap      {path}: {gap}"))


@app.command("undo")
def undo(
    ctx: typer.Context,
    identity: Annotated[str | None, typer.Argument(help="Id of a round; else the last.")] = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Give back every byte as before a round, unless a note was changed since.

    Example: palace redqueen undo --apply
    """
    palace = open_palace(ctx)
    if identity is not None:
        identity = find_round(palace, identity).identity
    command = COMMAND if identity is None else None
    outcome = undo_change(palace, command=command, identity=identity, apply=apply)
    show_outcome(outcome, as_json=as_json)


def _print_round(played: Round) -> None:
    session = played.session
    for evaluation in session.evaluations:
        print(
            visible(
                f"{evaluation.score:.2f}  {evaluation.memory_id}\n"
                f"      asked: {evaluation.question}"
            )
        )
        for gap in evaluation.gaps:
            print(visible(f"      gap: {gap}"))
    count = len(session.evaluations)
    words = f"{count} question{'' if count == 1 else 's'}, score {session.score:.2f}"
    say(f"{words}, {band(session.score)}")
    for path in session.resting:
        say(f"{path} was changed within the last day and rests")


def _round_record(played: Round, *, spent: str | None) -> dict[str, object]:
    session, outcome = played.session, played.outcome
    return {
        "schema": SCHEMA,
        "strategy": session.strategy.value,
        "score": round(session.score, 6),
        "band": band(session.score),
        "evaluations": [
            {
                "memory": evaluation.memory_id, "question": question.question_text,
                "kind": question.kind, "difficulty": question.difficulty,
                "expected": list(question.expected_elements), "score": evaluation.score,
                "gaps": list(evaluation.gaps), "should_evolve": evaluation.should_evolve,
                "recalled": list(answer.recalled), "confidence": answer.confidence,
            }
            for question, answer, evaluation in zip(
                session.questions, session.answers, session.evaluations, strict=True
            )
        ],
        "resting": list(session.resting),
        "vectors": played.uses_vectors,
        "spent": spent,
        "applied": outcome.identity is not None,
        "id": outcome.identity,
        "paths": list(outcome.paths),
        "diff": outcome.diff,
    }  # fmt: skip


def _past_record(past: PastRound) -> dict[str, object]:
    return {
        "id": past.identity, "time": past.time, "strategy": past.strategy, "seed": past.seed,
        "questions": past.questions, "score": past.score, "evolved": list(past.evolved),
        "gaps": [list(pair) for pair in past.gaps], "undone": past.is_undone,
    }  # fmt: skip

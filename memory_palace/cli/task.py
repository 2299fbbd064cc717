"""``palace task``."""

from __future__ import annotations

from typing import Annotated

import typer

from memory_palace.cli.changes import AllowUncommitted, Apply, show_outcome
from memory_palace.cli.options import SCHEMA, Json, open_palace
from memory_palace.cli.printing import print_json
from memory_palace.cli.tables import print_board
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.language.visible import visible
from memory_palace.workflow.cards import STATES, Card
from memory_palace.workflow.tasks import (
    lint_tasks,
    list_tasks,
    move_task,
    new_task,
    route_task,
    show_task,
)

app = typer.Typer(no_args_is_help=True, help="Task cards: palace/dispatch_corridor.")
CardName = Annotated[str, typer.Argument(help="Path, file name, slug, task_id or title.")]
Reason = Annotated[str, typer.Option("--reason", help="Why, in one line.")]


@app.command("new")
def new(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="What is to be done.")],
    owner: Annotated[str, typer.Option("--owner", help="Who does it.")],
    project: Annotated[str, typer.Option("--project", help="The project room it belongs to.")],
    goal: Annotated[str, typer.Option("--goal", help="What will be so when it is done.")],
    check: Annotated[
        list[str] | None, typer.Option("--check", help="How one sees that; may be repeated.")
    ] = None,
    input: Annotated[
        list[str] | None, typer.Option("--input", help="Path or [[link]]; may be repeated.")
    ] = None,
    output: Annotated[
        list[str] | None, typer.Option("--output", help="Path or [[link]]; may be repeated.")
    ] = None,
    next_action: Annotated[str, typer.Option("--next", help="The first step.")] = "",
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Make an active card.

    Example: palace task new "Swap packs" --owner wren --project winter-2026
    --goal "Fresh packs" --check "all swapped" --apply
    """
    outcome = new_task(
        open_palace(ctx), title, owner=owner, project=project, goal=goal, checks=check or (),
        inputs=input or (), outputs=output or (), next_action=next_action, apply=apply,
    )  # fmt: skip
    show_outcome(outcome, as_json=as_json)


@app.command("list")
def list_cards(
    ctx: typer.Context,
    state: Annotated[
        str | None, typer.Option("--state", help="Only active, blocked or completed.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List cards: state, owner, path.

    Example: palace task list --state active
    """
    known = next((name for name in STATES if name == state), None)
    if state is not None and known is None:
        raise UsageError(f"a state is {', '.join(STATES)}, not {state!r}")
    cards = list_tasks(open_palace(ctx), state=known)
    if as_json:
        print_json({"schema": SCHEMA, "cards": [_record(card) for card in cards]})
        return
    for card in cards:
        print(visible(f"{card.state:<9}  {card.document.text('owner'):<8}  {card.path}"))


@app.command("show")
def show(ctx: typer.Context, card: CardName, as_json: Json = False) -> None:
    """Print what a card asks for and how far it is.

    Example: palace task show winter-battery-swap
    """
    found = show_task(open_palace(ctx), card)
    if as_json:
        print_json({"schema": SCHEMA, "card": _record(found)})
        return
    print(visible(f"{found.path}  {found.state}"))
    for key in ("task_id", "owner", "project", "blocked_by"):
        if found.document.text(key):
            print(visible(f"{key}: {found.document.text(key)}"))
    print(visible(f"goal: {' '.join(found.goal.split())}"))
    for check in found.checks:
        print(visible(f"[{'x' if check.is_ticked else ' '}] {check.text}"))
    print(visible(f"next: {' '.join(found.next_action.split())}"))


@app.command("start")
def start(
    ctx: typer.Context, card: CardName, apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False, as_json: Json = False,
) -> None:  # fmt: skip
    """Take up a blocked card again.

    Example: palace task start heated-hygrometer-trial --apply
    """
    _move(ctx, "start", card, "", apply, allow_uncommitted, as_json)


@app.command("block")
def block(
    ctx: typer.Context, card: CardName, reason: Reason, apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False, as_json: Json = False,
) -> None:  # fmt: skip
    """Put an active card aside, and say what it waits for.

    Example: palace task block leave-on-paper --reason "the owner is away" --apply
    """
    _move(ctx, "block", card, reason, apply, allow_uncommitted, as_json)


@app.command("complete")
def complete(
    ctx: typer.Context, card: CardName, apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False, as_json: Json = False,
) -> None:  # fmt: skip
    """Close a card whose checks are all ticked and whose outputs all exist; else exit 8.

    Example: palace task complete leave-on-paper --apply
    """
    _move(ctx, "complete", card, "", apply, allow_uncommitted, as_json)


@app.command("reopen")
def reopen(
    ctx: typer.Context, card: CardName, reason: Reason, apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False, as_json: Json = False,
) -> None:  # fmt: skip
    """Make a completed card active again; what was learned from it is in doubt until it closes.

    Example: palace task reopen find-the-missing-hour --reason "it is missing again" --apply
    """
    _move(ctx, "reopen", card, reason, apply, allow_uncommitted, as_json)


@app.command("lint")
def lint(ctx: typer.Context, as_json: Json = False) -> None:
    """Name every card that contradicts its folder or its form; exit 8 if there is one.

    Example: palace task lint
    """
    faults = lint_tasks(open_palace(ctx))
    if as_json:
        print_json({"schema": SCHEMA, "faults": faults})
    else:
        for fault in faults:
            print(visible(fault))
    if faults:
        raise CheckFailedError(f"{len(faults)} faults in task cards")


@app.command("board")
def board(ctx: typer.Context, as_json: Json = False) -> None:
    """Show what is active, blocked and completed side by side.

    Example: palace task board
    """
    cards = list_tasks(open_palace(ctx))
    columns = {state: [card for card in cards if card.state == state] for state in STATES}
    if as_json:
        records = {state: [_record(c) for c in found] for state, found in columns.items()}
        print_json({"schema": SCHEMA, **records})
    else:
        print_board({state: [_summary(c) for c in found] for state, found in columns.items()})


@app.command("route")
def route(
    ctx: typer.Context,
    text: Annotated[list[str], typer.Argument(help="The task, in words.")],
    as_json: Json = False,
) -> None:
    """Name the chamber and the project room a task belongs to, with scores.

    Example: palace task route swap the batteries at the hut before the snow
    """
    places = route_task(open_palace(ctx), " ".join(text))
    if as_json:
        records = [
            {"kind": p.kind, "path": p.path, "score": p.score, "best": p.best} for p in places
        ]
        print_json({"schema": SCHEMA, "places": records})
        return
    for place in places:
        print(visible(f"{place.kind:<12}  {place.score:.6f}  {place.path}  ({place.best})"))


def _move(
    ctx: typer.Context, verb: str, card: str, reason: str, apply: bool, allow: bool, as_json: bool
) -> None:
    outcome = move_task(
        open_palace(ctx), verb, card, reason=reason, apply=apply, allow_uncommitted=allow
    )
    show_outcome(outcome, as_json=as_json)


def _summary(card: Card) -> str:
    done = sum(check.is_ticked for check in card.checks)
    who = card.document.text("owner")
    waits = card.document.text("blocked_by")
    words = f"{card.document.title} ({who}, {done}/{len(card.checks)})"
    return f"{words}\nwaits: {waits}" if waits else words


def _record(card: Card) -> dict[str, object]:
    return {
        "path": card.path,
        "state": card.state,
        "task_id": card.task_id,
        "title": card.document.title,
        "owner": card.document.text("owner"),
        "project": card.document.text("project"),
        "blocked_by": card.document.text("blocked_by") or None,
        "goal": card.goal,
        "inputs": list(card.inputs),
        "outputs": list(card.outputs),
        "checks": [{"text": check.text, "ticked": check.is_ticked} for check in card.checks],
        "next_action": card.next_action,
    }

"""``palace task``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

from typer import Argument, Context, Option, Typer

from memory_palace.cli.changes import show_change
from memory_palace.cli.options import AllowUncommitted, Apply, Json, completed, open_palace
from memory_palace.cli.printing import plural, print_answer, print_board, to_record
from memory_palace.errors import CheckFailedError
from memory_palace.workflow.card_paths import links_of_item, paths_of_item
from memory_palace.workflow.cards import STATES, Card

app = Typer(no_args_is_help=True, help="Manage task cards, which lie in dispatch_corridor.")
CardName = Annotated[
    str,
    Argument(
        help="Path, file name, slug, task_id or title of a card, or a part of one.",
        autocompletion=completed("cards"),
    ),
]
Reason = Annotated[str, Option("--reason", help="Why, in one line.")]
Items: TypeAlias = list[str] | None


@app.command("new")
def new(
    ctx: Context,
    title: Annotated[str, Argument(help="What is to be done.")],
    owner: Annotated[str, Option("--owner", help="Who does it.")],
    project: Annotated[str, Option("--project", help="Project room it belongs to.")],
    goal: Annotated[str, Option("--goal", help="What is true once it is done.")],
    check: Annotated[Items, Option("--check", help="Acceptance check; repeatable.")] = None,
    input: Annotated[
        Items, Option("--input", help="Path or [[link]] it starts from; repeatable.")
    ] = None,
    output: Annotated[
        Items, Option("--output", help="Path or [[link]] it produces; repeatable.")
    ] = None,
    next_action: Annotated[str, Option("--next", help="The first step.")] = "",
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Create an active card.

    Example: palace task new "Swap packs" --owner wren --project winter-2026
    --goal "Fresh packs" --check "all swapped" --apply
    """
    change = open_palace(ctx).tasks.new(
        title,
        owner=owner,
        project=project,
        goal=goal,
        checks=check or (),
        inputs=input or (),
        outputs=output or (),
        next_action=next_action,
        apply=apply,
    )
    show_change(change, as_json=as_json)


@app.command("list")
def list_cards(
    ctx: Context,
    state: Annotated[
        str | None, Option("--state", help="Only this state: active, blocked or completed.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List cards with state, owner and path.

    Example: palace task list --state active
    """
    cards = open_palace(ctx).tasks.list(state=state)
    lines = (f"{c.state:<9}  {c.document.text('owner'):<8}  {c.path}" for c in cards)
    print_answer({"cards": [_record(card) for card in cards]}, lines, as_json=as_json)


@app.command("show")
def show(ctx: Context, card: CardName, as_json: Json = False) -> None:
    """Show what a card asks for and how far it has come.

    Example: palace task show winter-battery-swap
    """
    found = open_palace(ctx).tasks.show(card)
    print_answer({"card": _record(found)}, _lines(found), as_json=as_json)


@app.command("tick")
def tick(
    ctx: Context,
    card: CardName,
    check: Annotated[
        str,
        Argument(metavar="N", help="Number of the check, or a text that only one of them has."),
    ],
    untick: Annotated[bool, Option("--untick", help="Take the tick back.")] = False,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Tick an acceptance check of a card; `palace task show` numbers them.

    Example: palace task tick leave-on-paper 1 --apply
    """
    change = open_palace(ctx).tasks.tick(card, check, untick=untick, apply=apply)
    show_change(change, as_json=as_json)


@app.command("start")
def start(
    ctx: Context,
    card: CardName,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Make a blocked card active again.

    Example: palace task start heated-hygrometer-trial --apply
    """
    _move(ctx, "start", card, "", apply, allow_uncommitted, as_json)


@app.command("block")
def block(
    ctx: Context,
    card: CardName,
    reason: Reason,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Set an active card aside and say what it is waiting for.

    Example: palace task block leave-on-paper --reason "the owner is away" --apply
    """
    _move(ctx, "block", card, reason, apply, allow_uncommitted, as_json)


@app.command("complete")
def complete(
    ctx: Context,
    card: CardName,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Close a card. Exits 8 unless all checks are ticked and all outputs exist.

    Example: palace task complete leave-on-paper --apply
    """
    _move(ctx, "complete", card, "", apply, allow_uncommitted, as_json)


@app.command("reopen")
def reopen(
    ctx: Context,
    card: CardName,
    reason: Reason,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Make a completed card active again; what was learned from it is in doubt until it closes.

    Example: palace task reopen find-the-missing-hour --reason "it is missing again" --apply
    """
    _move(ctx, "reopen", card, reason, apply, allow_uncommitted, as_json)


@app.command("lint")
def lint(ctx: Context, as_json: Json = False) -> None:
    """Report every card that contradicts its folder or lacks a part; exit 8 if there is one.

    Example: palace task lint
    """
    faults = open_palace(ctx).tasks.lint()
    print_answer({"faults": faults}, faults, as_json=as_json)
    if faults:
        raise CheckFailedError(f"{plural(len(faults), 'fault')} in task cards")


@app.command("board")
def board(ctx: Context, as_json: Json = False) -> None:
    """Show active, blocked and completed cards side by side.

    Example: palace task board
    """
    cards = open_palace(ctx).tasks.list()
    columns = {state: [card for card in cards if card.state == state] for state in STATES}
    if as_json:
        records = {str(state): list(map(_record, found)) for state, found in columns.items()}
        print_answer(records, as_json=True)
    else:
        print_board({state: [_summary(c) for c in found] for state, found in columns.items()})


@app.command("route")
def route(
    ctx: Context,
    text: Annotated[list[str], Argument(help="The task, in words.")],
    as_json: Json = False,
) -> None:
    """Rank the chambers and project rooms that a task may belong to.

    Example: palace task route swap the batteries at the hut before the snow
    """
    places = open_palace(ctx).tasks.route(" ".join(text))
    lines = (f"{p.kind:<12}  {p.score:.6f}  {p.path}  ({p.best})" for p in places)
    print_answer({"places": to_record(places)}, lines, as_json=as_json)


def _move(
    ctx: Context, verb: str, card: str, reason: str, apply: bool, allow: bool, as_json: bool
) -> None:
    tasks = open_palace(ctx).tasks
    change = tasks.move(verb, card, reason=reason, apply=apply, allow_uncommitted=allow)
    show_change(change, as_json=as_json)


def _lines(card: Card) -> Iterator[str]:
    yield f"{card.path}  {card.state}"
    for key in ("task_id", "owner", "project", "blocked_by"):
        if card.document.text(key):
            yield f"{key}: {card.document.text(key)}"
    yield from _part("goal", card.goal)
    for check in card.checks:
        yield f"{check.number} [{'x' if check.is_ticked else ' '}] {check.text}"
    for item in card.outputs:
        is_named = links_of_item(item) or paths_of_item(item)
        yield f"output: {item}" + ("" if is_named else " (names no file: not looked for)")
    yield from _part("next", card.next_action)


def _part(name: str, text: str) -> Iterator[str]:
    if text:
        yield f"{name}: {' '.join(text.split())}"


def _summary(card: Card) -> str:
    done = sum(check.is_ticked for check in card.checks)
    reason = card.document.text("blocked_by")
    summary = f"{card.document.title} ({card.document.text('owner')}, {done}/{len(card.checks)})"
    return f"{summary}\nblocked by: {reason}" if reason else summary


def _record(card: Card) -> dict[str, Any]:
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
        "checks": to_record(card.checks),
        "next_action": card.next_action,
    }

"""``palace task``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

from typer import Argument, Context, Option, Typer

from memory_palace.cli.changes import show_change
from memory_palace.cli.options import Apply, Json, completed, open_palace
from memory_palace.cli.printing import plural, print_answer, to_record
from memory_palace.errors import CheckFailedError
from memory_palace.workflow.card_paths import links_of_item, paths_of_item
from memory_palace.workflow.cards import Card

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
    output: Annotated[
        Items, Option("--output", help="Path or [[link]] it produces; repeatable.")
    ] = None,
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
        outputs=output or (),
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
    reason: Annotated[str, Option("--reason", help="Why a completed card is open again.")] = "",
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Make a blocked card active again, or a completed one, which needs a reason.

    Example: palace task start heated-hygrometer-trial --apply
    """
    _move(ctx, "start", card, reason, apply, as_json)


@app.command("block")
def block(
    ctx: Context,
    card: CardName,
    reason: Reason,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Set an active card aside and say what it is waiting for.

    Example: palace task block leave-on-paper --reason "the owner is away" --apply
    """
    _move(ctx, "block", card, reason, apply, as_json)


@app.command("complete")
def complete(
    ctx: Context,
    card: CardName,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Close a card. Exits 8 unless all checks are ticked and all outputs exist.

    Example: palace task complete leave-on-paper --apply
    """
    _move(ctx, "complete", card, "", apply, as_json)


@app.command("lint")
def lint(ctx: Context, as_json: Json = False) -> None:
    """Report every card that contradicts its folder or lacks a part; exit 8 if there is one.

    Example: palace task lint
    """
    faults = open_palace(ctx).tasks.lint()
    print_answer({"faults": faults}, faults, as_json=as_json)
    if faults:
        raise CheckFailedError(f"{plural(len(faults), 'fault')} in task cards")


def _move(ctx: Context, verb: str, card: str, reason: str, apply: bool, as_json: bool) -> None:
    tasks = open_palace(ctx).tasks
    change = tasks.move(verb, card, reason=reason, apply=apply)
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

"""``palace task``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from typer import Argument, Option

from memory_palace.changes.changing import Outcome
from memory_palace.cli.group import Group
from memory_palace.cli.options import Apply, completed
from memory_palace.errors import CheckFailedError
from memory_palace.features.tasks.cards import Card
from memory_palace.palace import Palace
from memory_palace.shown import Shown, plural

task = Group("Manage task cards, which lie in dispatch_corridor.")
CardName = Annotated[
    str,
    Argument(
        help="Path, file name, slug, task_id or title of a card, or a part of one.",
        autocompletion=completed("cards"),
    ),
]
Reason = Annotated[str, Option("--reason", help="Why, in one line.")]


@dataclass(frozen=True, slots=True)
class OneCard(Shown):
    """One card."""

    card: Card

    def lines(self) -> Iterable[str]:
        return self.card.lines()


@dataclass(frozen=True, slots=True)
class Cards(Shown):
    """Cards, by state and path."""

    cards: Sequence[Card]

    def lines(self) -> Iterable[str]:
        return (f"{card.state:<9}  {card.owner:<8}  {card.path}" for card in self.cards)


@dataclass(frozen=True, slots=True)
class CardFaults(Shown):
    """What contradicts the folder of a card, or is missing in it."""

    faults: Sequence[str]

    def lines(self) -> Iterable[str]:
        return self.faults

    def failure(self) -> CheckFailedError | None:
        count = plural(len(self.faults), "fault")
        return CheckFailedError(f"{count} in task cards") if self.faults else None


@task.verb("new")
def new(
    palace: Palace,
    title: Annotated[str, Argument(help="What is to be done.")],
    owner: Annotated[str, Option("--owner", help="Who does it.")],
    project: Annotated[str, Option("--project", help="Project room it belongs to.")],
    goal: Annotated[str, Option("--goal", help="What is true once it is done.")],
    check: Annotated[
        list[str] | None, Option("--check", help="Acceptance check; repeatable.")
    ] = None,
    output: Annotated[
        list[str] | None, Option("--output", help="Path or [[link]] it produces; repeatable.")
    ] = None,
    apply: Apply = False,
) -> Outcome:
    """Create an active card.

    Example: palace task new "Swap packs" --owner wren --project winter-2026
    --goal "Fresh packs" --check "all swapped" --apply
    """
    return palace.tasks.new(
        title,
        owner=owner,
        project=project,
        goal=goal,
        checks=check or (),
        outputs=output or (),
        apply=apply,
    )


@task.verb("list")
def list_cards(
    palace: Palace,
    state: Annotated[
        str | None, Option("--state", help="Only this state: active, blocked or completed.")
    ] = None,
) -> Cards:
    """List cards with state, owner and path.

    Example: palace task list --state active
    """
    return Cards(palace.tasks.list(state=state))


@task.verb("show")
def show(palace: Palace, card: CardName) -> OneCard:
    """Show what a card asks for and how far it has come.

    Example: palace task show winter-battery-swap
    """
    return OneCard(palace.tasks.show(card))


@task.verb("tick")
def tick(
    palace: Palace,
    card: CardName,
    check: Annotated[
        str,
        Argument(metavar="N", help="Number of the check, or a text that only one of them has."),
    ],
    untick: Annotated[bool, Option("--untick", help="Take the tick back.")] = False,
    apply: Apply = False,
) -> Outcome:
    """Tick an acceptance check of a card; `palace task show` numbers them.

    Example: palace task tick leave-on-paper 1 --apply
    """
    return palace.tasks.tick(card, check, untick=untick, apply=apply)


@task.verb("start")
def start(
    palace: Palace,
    card: CardName,
    reason: Annotated[str, Option("--reason", help="Why a completed card is open again.")] = "",
    apply: Apply = False,
) -> Outcome:
    """Make a blocked card active again, or a completed one, which needs a reason.

    Example: palace task start heated-hygrometer-trial --apply
    """
    return palace.tasks.move("start", card, reason=reason, apply=apply)


@task.verb("block")
def block(palace: Palace, card: CardName, reason: Reason, apply: Apply = False) -> Outcome:
    """Set an active card aside and say what it is waiting for.

    Example: palace task block leave-on-paper --reason "the owner is away" --apply
    """
    return palace.tasks.move("block", card, reason=reason, apply=apply)


@task.verb("complete")
def complete(palace: Palace, card: CardName, apply: Apply = False) -> Outcome:
    """Close a card. Exits 8 unless all checks are ticked and all outputs exist.

    Example: palace task complete leave-on-paper --apply
    """
    return palace.tasks.move("complete", card, apply=apply)


@task.verb("lint")
def lint(palace: Palace) -> CardFaults:
    """Report every card that contradicts its folder or lacks a part; exit 8 if there is one.

    Example: palace task lint
    """
    return CardFaults(palace.tasks.lint())

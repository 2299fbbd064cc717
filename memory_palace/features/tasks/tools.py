"""MCP tool for task cards, and the summary of open work at the start of a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from memory_palace.changes.composing import common_inbox
from memory_palace.errors import UsageError
from memory_palace.features.tasks.cards import CORRIDOR, Card, parse_card
from memory_palace.features.tasks.conflicts import ROOM, read_conflicts
from memory_palace.palace import Palace
from memory_palace.tools import Between, Said, newest_in, read_now, shorten

_NEEDS: Mapping[str, Sequence[str]] = {
    "list": (),
    "show": ("card",),
    "new": ("title", "project", "goal", "checks"),
    "tick": ("card", "number"),
    "untick": ("card", "number"),
    "complete": ("card",),
    "block": ("card", "reason"),
    "start": ("card",),
    "reopen": ("card", "reason"),
}
"""Required arguments by action; ``new`` also accepts ``next``."""
_CARDS, _CONFLICTS, _LINE = 5, 3, 160


def tasks(
    palace: Palace,
    action: Literal[
        "list", "show", "new", "tick", "untick", "complete", "block", "start", "reopen"
    ],
    card: Annotated[str, "Path, title or id"] = "",
    number: Annotated[int, Between(1, 1000), "Check to tick or untick"] = 0,
    reason: str = "",
    title: str = "",
    project: str = "",
    goal: Annotated[str, "What is true once done"] = "",
    checks: Sequence[str] = (),
    next: Annotated[str, "First step"] = "",
    agent: str | None = None,
) -> Said:
    """Task cards: list them when work begins, tick checks as they are met, complete the card
    when all are. new needs title, project, goal, checks; block and reopen a reason.
    """  # noqa: D205 - one sentence
    about = {"title": title, "project": project, "goal": goal, "checks": checks, "next": next}
    given: dict[str, Any] = {"card": card, "number": number, "reason": reason, **about}
    needs = _NEEDS[action]
    if missing := [name for name in needs if not given[name]]:
        raise UsageError(f"{action!r} needs {' and '.join(map(repr, missing))}")
    may = {*needs, *(["next"] if action == "new" else [])}
    if spare := sorted(name for name, value in given.items() if value and name not in may):
        raise UsageError(f"{action!r} takes no {' or '.join(map(repr, spare))}")
    match action:
        case "list":
            return _list(palace)
        case "new":
            is_made = (palace.paths.notes / CORRIDOR).is_dir()  # by a person, without a line for it
            inbox = common_inbox(palace.paths, palace.config).removeprefix(palace.paths.prefix)
            done = palace.tasks.new(
                title,
                owner=agent or "agent",
                project=project,
                goal=goal,
                checks=checks,
                next_action=next,
                corridor=None if is_made else f"{inbox}/Tasks",
                apply=True,
            )
            card = done.paths[0]
        case "tick" | "untick":
            palace.tasks.tick(card, number, untick=action == "untick", apply=True)
        case "complete" | "block" | "start" | "reopen":
            found = palace.tasks.show(card)
            palace.tasks.move(action, found.path, reason=reason, apply=True)
            card = found.document.stem
    shown = palace.tasks.show(card)
    place, *rest = shown.lines()
    lines = [f"{place}  {_progress(shown)}", shown.title, *rest]
    return Said(text=lines, cut=f"read {shown.path}")


def _list(palace: Palace) -> Said:
    cards = [card for card in palace.tasks.list() if card.state != "completed"]
    if not cards:
        return Said(lines=["no task cards are open; action new makes one"])
    lines = [f"{c.state:<7}  {_progress(c)}  {c.path}  {c.title}" for c in cards]
    return Said(text=lines, cut=f"{len(cards)} in all")


def _progress(card: Card) -> str:
    return f"{sum(check.is_ticked for check in card.checks)}/{len(card.checks)}"


def open_work(palace: Palace) -> Iterator[str]:
    """Yield lines on the active cards, then on the open conflicts, newest first."""
    aside = (f"{CORRIDOR}/blocked/", f"{CORRIDOR}/completed/")
    documents = read_now(palace, newest_in(palace, f"{CORRIDOR}/", but=aside))
    cards = [card for one in documents if (card := parse_card(one)) and card.state == "active"]
    if cards:
        yield "Active tasks:"
    for card in cards[:_CARDS]:
        left = sum(not check.is_ticked for check in card.checks)
        parts = [card.title, f"owner {card.owner}" if card.owner else ""]
        parts += [f"{left} of {len(card.checks)} checks open"] if card.checks else []
        parts += [f"next: {card.next_action}" if card.next_action else ""]
        yield f"  {card.path}  {shorten(' · '.join(filter(None, parts)), 2 * _LINE)}"
    if len(cards) > _CARDS:
        yield f"  and {len(cards) - _CARDS} more: palace task list"
    found = read_conflicts(read_now(palace, newest_in(palace, f"{ROOM}/")))
    conflicts = [conflict for conflict in found if conflict.is_open]
    if conflicts:
        yield "Open conflicts, which a person decides:"
    for conflict in conflicts[:_CONFLICTS]:
        yield f"  {conflict.path}  {shorten(conflict.title, _LINE)}"
    if len(conflicts) > _CONFLICTS:
        yield f"  and {len(conflicts) - _CONFLICTS} more: palace conflict list"

"""The tools that write: remember, tasks. Nothing can be deleted by them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memory_palace.errors import UsageError
from memory_palace.features.agents.fencing import fence, write_place
from memory_palace.features.agents.tools.arguments import speak_of_tools
from memory_palace.features.capture.inbox import find_inbox, name_agent
from memory_palace.features.tasks.cards import CORRIDOR, Card
from memory_palace.language.visible import visible
from memory_palace.models import Problem
from memory_palace.palace import Palace

_LIST_BYTES = 4_000


def remember(
    palace: Palace,
    text: str,
    title: str | None = None,
    tags: Sequence[str] = (),
    note: str | None = None,
    under: str | None = None,
    source: str | None = None,
    agent: str | None = None,
) -> str:
    """Keep a text in the inbox, or at the end of a note; return where its lines are."""
    if note:
        if title or tags or source:
            raise UsageError("'note' appends the text alone: leave out title, tags and source")
        added = palace.append(note, text, under=under)
        return _tell(added.path, added.line, added.last_line, added.withheld, added.remark)
    if under:
        raise UsageError("'under' is a heading of a note: give its 'note' as well")
    kept = palace.remember(text, title=title, tags=tags, source=source, agent=agent)
    again = f"said {kept.count} times" if kept.count > 1 else ""
    return _tell(kept.path, kept.line, kept.last_line, kept.withheld, again, kept.remark)


def _tell(path: str, line: int, last: int, withheld: Sequence[Problem], *remarks: str) -> str:
    """Return where a text stands, and what of it was not written."""
    left = [f"line {p.line} was not written: {p.message}" for p in withheld]
    place = write_place(f"{path}:{line}-{last}")
    return visible("\n".join((place, *left, *map(speak_of_tools, filter(None, remarks)))))


def tasks(palace: Palace, action: str, agent: str | None = None, **given: Any) -> str:
    """Do one thing with task cards, and return the card as it is then."""
    take, needs = _ACTIONS[action]
    if missing := [name for name in needs if not given.get(name)]:
        raise UsageError(f"{action!r} needs {' and '.join(map(repr, missing))}")
    if spare := sorted(given.keys() - set(needs) - _MAY.get(action, frozenset())):
        raise UsageError(f"{action!r} takes no {' or '.join(map(repr, spare))}")
    return take(palace, agent, given)


def _list(palace: Palace, agent: str | None, given: Mapping[str, Any]) -> str:
    cards = [c for c in palace.tasks.list() if c.state != "completed" or given.get("all")]
    if not cards:
        return "no task cards are open; action new makes one"
    lines = [f"{c.state:<7}  {_progress(c)}  {c.path}  {c.document.title}" for c in cards]
    return fence("\n".join(lines), budget_bytes=_LIST_BYTES, cut=f"{len(cards)} in all")


def _show(palace: Palace, agent: str | None, given: Mapping[str, Any]) -> str:
    return _describe(palace.tasks.show(given["card"]))


def _new(palace: Palace, agent: str | None, given: Mapping[str, Any]) -> str:
    inbox = find_inbox(palace.paths, palace.config, name_agent(None))  # one corridor for all
    is_made = (palace.paths.notes / CORRIDOR).is_dir()  # by a person, without a line for it
    done = palace.tasks.new(
        given["title"],
        owner=agent or "agent",
        project=given["project"],
        goal=given["goal"],
        checks=given["checks"],
        next_action=given.get("next", ""),
        corridor=None if is_made else f"{inbox.removeprefix(palace.paths.prefix)}/Tasks",
        apply=True,
    )
    return _describe(palace.tasks.show(done.paths[0]))


def _tick(palace: Palace, agent: str | None, given: Mapping[str, Any], untick: bool = False) -> str:
    palace.tasks.tick(given["card"], given["number"], untick=untick, apply=True)
    return _describe(palace.tasks.show(given["card"]))


def _untick(palace: Palace, agent: str | None, given: Mapping[str, Any]) -> str:
    return _tick(palace, agent, given, untick=True)


def _mover(verb: str) -> Callable[[Palace, str | None, Mapping[str, Any]], str]:
    def move(palace: Palace, agent: str | None, given: Mapping[str, Any]) -> str:
        card = palace.tasks.show(given["card"])
        palace.tasks.move(verb, card.path, reason=given.get("reason", ""), apply=True)
        return _describe(palace.tasks.show(card.document.stem))

    return move


_ACTIONS = {
    "list": (_list, ()),
    "show": (_show, ("card",)),
    "new": (_new, ("title", "project", "goal", "checks")),
    "tick": (_tick, ("card", "number")),
    "untick": (_untick, ("card", "number")),
    "complete": (_mover("complete"), ("card",)),
    "block": (_mover("block"), ("card", "reason")),
    "start": (_mover("start"), ("card",)),
    "reopen": (_mover("reopen"), ("card", "reason")),
}
"""What each action does, and the arguments that it needs."""
_MAY = {"new": frozenset({"next"})}
"""Further arguments that it takes."""
ACTIONS = tuple(_ACTIONS)


def _describe(card: Card) -> str:
    return fence("\n".join(_lines(card)), budget_bytes=_LIST_BYTES, cut=f"read {card.path}")


def _lines(card: Card) -> Iterator[str]:
    yield f"{card.path}  {card.state}  {_progress(card)}"
    yield card.document.title
    for key in ("owner", "project", "blocked_by"):
        if card.document.text(key):
            yield f"{key}: {card.document.text(key)}"
    yield f"goal: {' '.join(card.goal.split())}"
    for number, check in enumerate(card.checks, start=1):
        yield f"{number} [{'x' if check.is_ticked else ' '}] {check.text}"
    for output in card.outputs:
        yield f"output: {output}"
    yield f"next: {' '.join(card.next_action.split())}"


def _progress(card: Card) -> str:
    return f"{sum(check.is_ticked for check in card.checks)}/{len(card.checks)}"

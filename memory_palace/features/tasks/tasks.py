"""Task cards of a palace: made, moved, listed, checked, and routed to where they belong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memory_palace.changes.changing import Outcome, Plan, change_notes, read_notes, today
from memory_palace.changes.composing import compose_note, make_slug, one_line
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.features.tasks.card_paths import (
    links_of_item,
    path_exists,
    path_in_rooms,
    paths_of_item,
)
from memory_palace.features.tasks.cards import (
    CORRIDOR,
    STATES,
    Card,
    find_card,
    find_check,
    read_cards,
)
from memory_palace.features.tasks.corridor import (
    lint_cards,
    plan_tick,
    plan_transition,
)
from memory_palace.graph.resolve import Resolver
from memory_palace.notes.document import Library
from memory_palace.notes.rooms import stem_of

_PROJECTS = "project_rooms"


def new_task(
    engine: Engine,
    title: str,
    *,
    owner: str,
    project: str,
    goal: str,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    checks: Sequence[str] = (),
    next_action: str = "",
    corridor: str | None = None,
    apply: bool = False,
) -> Outcome:
    """Make an active card. Raise ``UsageError`` where it has no goal or no check.

    ``corridor`` is the folder that is made for cards where there is none.
    """
    title, day = one_line(title, "the title"), today()
    if not checks:
        raise UsageError("a card needs at least one acceptance check; add --check TEXT")
    slug = make_slug(title)
    fields: dict[str, object] = {
        "task_id": f"{make_slug(project)}-{slug}-{day}",
        "title": title,
        "owner": one_line(owner, "the owner"),
        "project": one_line(project, "the project"),
        "status": "active",
        "last_updated": day,
    }
    sections = {
        "Goal": one_line(goal, "the goal"),
        "Input Paths": _list(inputs),
        "Output Paths": _list(outputs),
        "Acceptance Checks": "\n".join(f"- [ ] {one_line(c, 'a check')}" for c in checks),
        "Next Action": " ".join(next_action.split()) or "Begin.",
    }

    def plan(library: Library) -> Plan:
        path = engine.paths.rooms.path_of(f"{CORRIDOR}/active/{day}_{slug}.md")
        card = compose_note(path, title, fields, sections)
        for other in read_cards(library.documents.values()):
            if stem_of(other.path) == stem_of(card.path):
                raise UsageError(f"{other.path} already exists; choose another title or reopen it")
        return Plan([card], f"new task {card.path}")

    return change_notes(engine, plan, command="task", apply=apply, folder=corridor)


def move_task(
    engine: Engine,
    verb: str,
    name: str,
    *,
    reason: str = "",
    apply: bool = False,
) -> Outcome:
    """Start, block, complete or reopen a card."""

    def plan(library: Library) -> Plan:
        card = find_card(read_cards(library.documents.values()), name)
        change = plan_transition(
            card,
            verb,
            engine.paths.rooms,
            today=today(),
            reason=reason,
            exists=item_exists(engine, library),
        )
        words = f"{verb} {card.path}" + (f": {reason}" if reason else "")
        # The tick that completes a card is an edit of the card: git need not have seen it.
        return Plan(change, words, edited=frozenset([card.path]))

    return change_notes(engine, plan, command="task", apply=apply)


def tick_task(
    engine: Engine,
    name: str,
    check: int | str,
    *,
    untick: bool = False,
    apply: bool = False,
) -> Outcome:
    """Tick an acceptance check of a card, by its number or by a text that one check alone has.

    ``untick`` takes a tick back. A check that is so already is no change, and no error.
    """

    def plan(library: Library) -> Plan:
        card = find_card(read_cards(library.documents.values()), name)
        found = find_check(card, check)
        rooms, is_ticked = engine.paths.rooms, not untick
        change = plan_tick(card, found, rooms, is_ticked=is_ticked, today=today())
        words = f"{'untick' if untick else 'tick'} {found.number} of {card.path}"
        return Plan(change, words, edited=frozenset([card.path]))

    return change_notes(engine, plan, command="task", apply=apply)


def list_tasks(engine: Engine, *, state: str | None = None) -> list[Card]:
    """Return the cards in the corridor, by state and name.

    Raise ``UsageError`` for a state other than active, blocked and completed.
    """
    if state not in (None, *STATES):
        raise UsageError(f"the state of a card is one of {', '.join(STATES)}, not {state!r}")
    cards = read_cards(read_notes(engine).documents.values())
    return [card for card in cards if not card.is_archived and state in (None, card.state)]


def show_task(engine: Engine, name: str) -> Card:
    """Return the card that is called so."""
    return find_card(list_tasks(engine), name)


def lint_tasks(engine: Engine) -> list[str]:
    """Return one line for everything wrong with a card."""
    library = read_notes(engine)
    cards = read_cards(library.documents.values())
    return lint_cards(cards, exists=item_exists(engine, library))


def item_exists(engine: Engine, library: Library) -> Callable[[Card, str], bool]:
    """Return what says whether an input or output item of a card leads to something.

    A path starts at the root, where what the work made may lie beside the notes, at ``palace/`` in
    a classic palace, in the folder of the card or of its project; an absolute one is taken as
    written. It may be a pattern. An item of plain words names nothing that could be missing.
    """
    resolver = Resolver(list(library.documents))
    rooms, root = engine.paths.rooms, engine.paths.root.resolve()
    has_projects = _PROJECTS in rooms.folders.values()

    def exists(card: Card, item: str) -> bool:
        bases = [root, engine.paths.notes.resolve(), (root / card.path).parent]
        if has_projects and (project := card.document.text("project")):
            bases.append(root / rooms.path_of(f"{_PROJECTS}/{project}"))

        def is_there(path: str) -> bool:
            return (
                resolver.resolve(path, card.path).state == "resolved"
                or path_exists(path, bases, root)
                or path_exists(path_in_rooms(path, rooms), bases[:1], root)
            )

        links = all(map(is_there, links_of_item(item)))
        return links and all(any(map(is_there, path)) for path in paths_of_item(item))

    return exists


def _list(items: Sequence[str]) -> str:
    return "\n".join(f"- {one_line(item, 'a path')}" for item in items) or "None."

"""Create, move, tick, list and lint task cards; write the map of cards and rooms."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from memory_palace.changes.changing import Outcome, Plan, change_notes, read_notes, today
from memory_palace.changes.composing import compose_note, edit_fields, make_slug, one_line
from memory_palace.changes.journal import Create, Move, Operation, Replace
from memory_palace.config import ROOMS
from memory_palace.errors import CheckFailedError, PalaceError, UsageError
from memory_palace.features.tasks.cards import (
    CORRIDOR,
    NO_CHECK,
    STATES,
    Card,
    State,
    find_card,
    find_check,
    find_checks,
    links_of_item,
    parse_card,
    path_exists,
    path_in_rooms,
    paths_of_item,
    read_cards,
    read_form,
    write_mark,
)
from memory_palace.features.tasks.conflicts import read_conflicts
from memory_palace.graph.resolve import Resolver
from memory_palace.graph.router import LinkGraph, NoteLinks
from memory_palace.language.visible import visible
from memory_palace.models import Link
from memory_palace.notes.document import Document, Library, parse_document, set_fields, split_lines
from memory_palace.notes.note import stem_of
from memory_palace.palace import Feature, Palace, Verb

_PROJECTS = "project_rooms"
TRANSITIONS: Mapping[str, tuple[State, State]] = {
    "start": ("blocked", "active"),
    "block": ("active", "blocked"),
    "complete": ("active", "completed"),
    "reopen": ("completed", "active"),
}
"""Required state and new state of a card, by verb."""
_WHY = ("block", "reopen")
"""Verbs that need a reason."""


def new_task(
    palace: Palace,
    title: str,
    *,
    owner: str,
    project: str,
    goal: str,
    outputs: Sequence[str] = (),
    checks: Sequence[str] = (),
    next_action: str = "",
    corridor: str | None = None,
    apply: bool = False,
) -> Outcome:
    """Create an active card; raise ``UsageError`` without a goal or a check.

    ``corridor`` is the folder to create for cards if the palace has no corridor.
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
        "Input Paths": "None.",
        "Output Paths": "\n".join(f"- {one_line(path, 'a path')}" for path in outputs) or "None.",
        "Acceptance Checks": "\n".join(f"- [ ] {one_line(c, 'a check')}" for c in checks),
        "Next Action": " ".join(next_action.split()) or "Begin.",
    }

    def plan(library: Library) -> Plan:
        path = palace.paths.rooms.path_of(f"{CORRIDOR}/active/{day}_{slug}.md")
        card = compose_note(path, title, fields, sections)
        for other in read_cards(library.documents.values()):
            if stem_of(other.path) == stem_of(card.path):
                raise UsageError(f"{other.path} already exists; choose another title or reopen it")
        return Plan([card], f"new task {card.path}")

    return change_notes(palace, plan, command="task", apply=apply, folder=corridor)


def move_task(
    palace: Palace, verb: str, name: str, *, reason: str = "", apply: bool = False
) -> Outcome:
    """Start, block, complete or reopen a card.

    Raise ``UsageError`` for an illegal transition or a missing reason, ``CheckFailedError`` if a
    card to complete has unticked checks or missing outputs.
    """

    def plan(library: Library) -> Plan:
        card = find_card(read_cards(library.documents.values()), name)
        done = "reopen" if verb == "start" and card.state == "completed" else verb
        needed, state = TRANSITIONS[done]
        if card.state != needed:
            raise UsageError(f"{card.path} is {card.state}; {done} needs a card that is {needed}")
        why = one_line(reason, f"the reason to {done} a card (--reason)") if done in _WHY else ""
        values: dict[str, object] = {
            "status": state,
            "blocked_by": why if done == "block" else None,
            "last_updated": today(),
        }
        if done == "complete":
            _check_done(card, exists=item_exists(palace, library))
            values["completed"] = today()
        if done == "reopen":
            reopened = [*card.document.texts("reopened"), f"{today()}: {why}"]
            values |= {"completed": None, "reopened": reopened}
        place = palace.paths.rooms.path_of(f"{CORRIDOR}/{state}/{card.below}")
        change: list[Operation] = [edit_fields(card.document, values), Move(card.path, place)]
        words = f"{verb} {card.path}" + (f": {reason}" if reason else "")
        # A card's ticks are edits of the card itself, which need not be committed to git.
        return Plan(change, words, edited=frozenset([card.path]))

    return change_notes(palace, plan, command="task", apply=apply)


def tick_task(
    palace: Palace, name: str, check: int | str, *, untick: bool = False, apply: bool = False
) -> Outcome:
    """Tick or ``untick`` an acceptance check of a card, by number or by unique text.

    A check already in the wanted state causes no change and no error. Raise ``UsageError`` for a
    completed card or an ambiguous check.
    """

    def plan(library: Library) -> Plan:
        card = find_card(read_cards(library.documents.values()), name)
        found, path, before = find_check(card, check), card.path, card.document.data
        if card.state == "completed":
            raise UsageError(f"{path} is completed; reopen it first")
        words = f"{'untick' if untick else 'tick'} {found.number} of {path}"
        if found.is_ticked is not untick:
            return Plan([], words)
        lines, above, _ = split_lines(path, before)
        item = find_checks(read_form(card.document.body))[found.number - 1]
        place = above + item.line
        mark = write_mark(lines[place], item, is_ticked=not untick)
        data = "".join([*lines[:place], mark, *lines[place + 1 :]]).encode()
        document = parse_document(path, data, rooms=palace.paths.rooms)
        after = parse_card(document) if document else None
        wanted = [replace(c, is_ticked=not untick) if c == found else c for c in card.checks]
        if after is None or list(after.checks) != wanted:
            raise UsageError(
                f"{path}: the line of {found.text!r} cannot be told; change it in an editor"
            )
        change = Replace(path, before, set_fields(path, data, {"last_updated": today()}))
        return Plan([change], words, edited=frozenset([path]))

    return change_notes(palace, plan, command="task", apply=apply)


def list_tasks(palace: Palace, *, state: str | None = None) -> list[Card]:
    """Return the unarchived cards in path order, optionally of one state.

    Raise ``UsageError`` for a state other than active, blocked and completed.
    """
    if state not in (None, *STATES):
        raise UsageError(f"the state of a card is one of {', '.join(STATES)}, not {state!r}")
    cards = read_cards(read_notes(palace).documents.values())
    return [card for card in cards if not card.is_archived and state in (None, card.state)]


def show_task(palace: Palace, name: str) -> Card:
    """Return the unarchived card with a path, file name, slug, id, title or alias."""
    return find_card(list_tasks(palace), name)


def lint_tasks(palace: Palace) -> list[str]:
    """Return the problems of all task cards, one line each."""
    library = read_notes(palace)
    cards = read_cards(library.documents.values())
    return lint_cards(cards, exists=item_exists(palace, library))


def item_exists(palace: Palace, library: Library) -> Callable[[Card, str], bool]:
    """Return a predicate: whether all links and paths of a card's input or output item exist.

    Paths, which may be glob patterns, start at the root, at the notes' folder, in the folder of
    the card or in that of its project; absolute paths are used as written. The predicate is true
    for an item without links and paths.
    """
    resolver = Resolver(list(library.documents))
    rooms, root = palace.paths.rooms, palace.paths.root.resolve()
    has_projects = _PROJECTS in rooms.folders.values()

    def exists(card: Card, item: str) -> bool:
        bases = [root, palace.paths.notes.resolve(), (root / card.path).parent]
        if has_projects and (project := card.document.text("project")):
            bases.append(root / rooms.path_of(f"{_PROJECTS}/{project}"))

        def is_there(path: str) -> bool:
            return (
                resolver.resolve(path, card.path).state == "resolved"
                or path_exists(path, bases, root)
                or path_exists(path_in_rooms(path, rooms), bases[:1], root)
            )

        links = all(map(is_there, links_of_item(item)))
        return links and all(map(is_there, paths_of_item(item)))

    return exists


def _check_done(card: Card, *, exists: Callable[[Card, str], bool]) -> None:
    """Raise ``CheckFailedError`` listing unticked checks and missing outputs."""
    missing = [f"not ticked: {check.text}" for check in card.checks if not check.is_ticked]
    is_open = bool(missing)
    if not card.checks:
        missing.append(NO_CHECK)
    missing += [f"does not exist: {path}" for path in card.outputs if not exists(card, path)]
    if is_open:
        name = shlex.quote(card.document.stem)
        missing.append(f"`palace task tick {name} N --apply` ticks the check number N")
    if missing:
        listed = "".join(f"\n{line}" for line in missing)
        raise CheckFailedError(f"{card.path} is not done:{listed}")


def lint_cards(cards: Sequence[Card], *, exists: Callable[[Card, str], bool]) -> list[str]:
    """Return sorted lines on duplicate ids, contradictions to the folder, and missing parts."""
    found: list[str] = []
    seen: dict[str, Card] = {}
    for card in cards:
        if card.is_archived:
            continue
        for key in {f"file {card.path.rpartition('/')[2]}", f"task_id {card.task_id}"}:
            if key in seen and seen[key].path != card.path:
                found.append(f"{card.path}: {key} is also at {seen[key].path}")
            seen.setdefault(key, card)
        found += [f"{card.path}: {words}" for words in _faults(card, exists)]
    return sorted(set(found))


def _faults(card: Card, exists: Callable[[Card, str], bool]) -> list[str]:
    document = card.document
    status, blocked_by = document.text("status"), document.text("blocked_by")
    is_done = card.state == "completed"
    undone = [f"is completed with an open check: {c.text}" for c in card.checks if not c.is_ticked]
    absent = [f"is completed, but {p} does not exist" for p in card.outputs if not exists(card, p)]
    folder = f"{card.path.removesuffix(card.below)}{card.state}/"
    remarks = [
        (not card.has_folder, f"lies in no state's folder; move it to {folder}"),
        (
            card.has_folder and status != card.state,
            f"says status {status!r} in the folder {card.state}",
        ),
        (card.state == "blocked" and not blocked_by, "is blocked but has no blocked_by"),
        (card.state != "blocked" and bool(blocked_by), f"has blocked_by in {card.state}"),
        (not card.goal, "has no goal"),
        (not card.checks, "has no acceptance check"),
        *((not document.text(key), f"has no {key}") for key in ("task_id", "owner", "project")),
        *((is_done, words) for words in (*undone, *absent)),
    ]
    broken = [document.problem] if document.problem else []
    return [*broken, *(words for is_so, words in remarks if is_so)]


class Tasks(Feature):
    """``Palace.tasks``: task cards in the dispatch corridor."""

    new = Verb(new_task)
    list = Verb(list_tasks)
    show = Verb(show_task)
    move = Verb(move_task)
    tick = Verb(tick_task)
    lint = Verb(lint_tasks)


PANEL = "grand_hall/control_panel.md"
"""Place of the control panel, see ``Rooms.path_of``."""
OPEN, CLOSE = "<!-- palace:map, generated; edits in here are lost -->", "<!-- /palace:map -->"
_OPEN_LINE = re.compile(r"^<!-- palace:map\b[^\n]*-->[ \t]*$", re.MULTILINE)
_CLOSE_LINE = re.compile(r"^<!-- /palace:map -->[ \t]*$", re.MULTILINE)
_UNLINKABLE = re.compile(r"[\[\]|#^\n]+")
_INSIGHTS = 5


def draw_map(palace: Palace, *, apply: bool = False) -> Outcome:
    """Write the map (rooms, work, insights, health) into the control panel, between its marks."""

    def plan(library: Library) -> Plan:
        path = palace.paths.rooms.path_of(PANEL)
        text = render_map(palace, library, panel=path)
        return Plan(plan_panel(path, library.documents.get(path), text), f"map in {path}")

    return change_notes(palace, plan, command="map", apply=apply)


def render_map(palace: Palace, library: Library, *, panel: str) -> str:
    """Return the map's Markdown with its marks; deterministic for the same notes."""
    documents = list(library.documents.values())
    paths = {panel, *library.documents}  # a new panel counts itself
    counts = Counter(palace.paths.rooms.room_of(path) for path in paths)
    rooms = "\n".join(f"| {room} | {counts[room]} |" for room in ROOMS)
    cards = [card for card in read_cards(documents) if not card.is_archived]
    work = [
        f"- {state}: {_link(card.document)}{_waits(card)}"
        for state in STATES[:2]
        for card in cards
        if card.state == state
    ]
    done = sum(card.state == "completed" for card in cards)
    # Only dates in front matter count, so that copying files does not change the panel.
    assets = [d for d in documents if d.place.startswith("reflection_wing/") and not d.is_cold]
    assets.sort(key=lambda d: (d.text("date"), d.path), reverse=True)
    disputes = [conflict for conflict in read_conflicts(documents) if conflict.is_open]
    faults = lint_cards(cards, exists=item_exists(palace, library))
    health = [
        *(f"- disputed: {_link(conflict.document)}" for conflict in disputes),
        f"- broken links: {len(_graph(documents).broken())}",
        f"- faults in task cards: {len(faults)}",
        f"- notes that could not be read: {sum(p.is_failure for p in library.problems)}",
    ]
    parts = [
        f"| room | notes |\n|---|---|\n{rooms}",
        "**Work**",
        "\n".join([*work, f"- completed: {done}"]),
        "**Recent insights**",
        "\n".join(f"- {_link(insight)}" for insight in assets[:_INSIGHTS]) or "None yet.",
        "**Health**",
        "\n".join(health),
    ]
    return "\n\n".join([OPEN, *parts, CLOSE])


def plan_panel(path: str, panel: Document | None, text: str) -> list[Operation]:
    """Return the operations that write the map into the panel, none if it is up to date.

    Raise ``PalaceError`` unless the panel is UTF-8 and has its marks once, in order, or not at all.
    """
    if panel is None:
        return [Create(path, f"# Control panel\n\n{text}\n".encode())]
    try:
        before = panel.data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PalaceError(f"{panel.path} is not UTF-8; save it as UTF-8 first") from error
    end = "\r\n" if "\r\n" in before else "\n"
    span = _find_span(before, panel.path)
    new = text.replace("\n", end)
    after = (
        f"{before.rstrip()}{end}{end}{new}{end}"
        if span is None
        else before[: span[0]] + new + before[span[1] :]
    )
    data = after.encode()
    return [] if data == panel.data else [Replace(panel.path, panel.data, data)]


def own_links(document: Document) -> tuple[Link, ...]:
    """Return a document's links except those in the generated map of the control panel."""
    if document.place != PANEL:
        return document.links
    try:
        span = _find_span(document.body, document.path)
    except PalaceError:
        return document.links
    if span is None:
        return document.links
    first, last = (document.body_first_line + document.body.count("\n", 0, end) for end in span)
    return tuple(link for link in document.links if not first <= link.line <= last)


def _graph(documents: list[Document]) -> LinkGraph:
    hot = [
        NoteLinks(
            document.path,
            document.title,
            document.texts("aliases"),
            [f"{x.target}|{x.alias or x.target}" for x in document.links if x.target],
        )
        for document in documents
        if not document.is_cold
    ]
    return LinkGraph(hot, cold_paths=[d.path for d in documents if d.is_cold])


def _find_span(text: str, path: str) -> tuple[int, int] | None:
    opened, closed = list(_OPEN_LINE.finditer(text)), list(_CLOSE_LINE.finditer(text))
    if not opened and not closed:
        return None
    if len(opened) != 1 or len(closed) != 1 or opened[0].start() > closed[0].start():
        raise PalaceError(
            f"{path}: the marks {OPEN} and {CLOSE} must each occur once, in this order; "
            "correct them, or delete both to have the map added again"
        )
    return opened[0].start(), closed[0].start() + len(CLOSE)


def _link(document: Document) -> str:
    title = visible(" ".join(_UNLINKABLE.sub(" ", document.title).split()))
    return f"[[{document.path.removesuffix('.md')}|{title}]]"


def _waits(card: Card) -> str:
    reason = _UNLINKABLE.sub(" ", card.document.text("blocked_by"))
    return f" ({visible(reason)})" if reason else ""

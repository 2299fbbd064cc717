"""The map of a palace on its control panel, between two marks; people's words stay around it."""

from __future__ import annotations

import re
from collections import Counter

from memory_palace.changes.changing import Outcome, Plan, change_notes
from memory_palace.changes.journal import Create, Operation, Replace
from memory_palace.config import ROOMS
from memory_palace.errors import PalaceError
from memory_palace.features.tasks.cards import STATES, Card, read_cards
from memory_palace.features.tasks.conflict_notes import read_conflicts
from memory_palace.features.tasks.tasks import item_exists, lint_cards
from memory_palace.graph.router import LinkGraph, NoteLinks
from memory_palace.language.visible import visible
from memory_palace.models import Link
from memory_palace.notes.document import Document, Library
from memory_palace.palace import Palace

PANEL = "grand_hall/control_panel.md"
"""The place of the control panel, see ``Rooms.path_of``."""
OPEN, CLOSE = "<!-- palace:map, generated; edits in here are lost -->", "<!-- /palace:map -->"
_OPEN_LINE = re.compile(r"^<!-- palace:map\b[^\n]*-->[ \t]*$", re.MULTILINE)
_CLOSE_LINE = re.compile(r"^<!-- /palace:map -->[ \t]*$", re.MULTILINE)
_UNLINKABLE = re.compile(r"[\[\]|#^\n]+")
_INSIGHTS = 5


def draw_map(palace: Palace, *, apply: bool = False) -> Outcome:
    """Write rooms, work, insights and health into the control panel, between two marks."""

    def plan(library: Library) -> Plan:
        path = palace.paths.rooms.path_of(PANEL)
        text = render_map(palace, library, panel=path)
        return Plan(plan_panel(path, library.documents.get(path), text), f"map in {path}")

    return change_notes(palace, plan, command="map", apply=apply)


def render_map(palace: Palace, library: Library, *, panel: str) -> str:
    """Return the generated Markdown, marks included; the same palace gives the same text."""
    documents = list(library.documents.values())
    paths = {panel, *library.documents}  # a panel that is made now counts itself
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
    # A panel must not change because a file was copied: only dates that are written down count.
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
    """Return the change that puts the generated text into the panel; none where it is there.

    Raise ``PalaceError`` where the marks in the panel are not one pair in order.
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
    """Return the links that somebody wrote: not those between the marks."""
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

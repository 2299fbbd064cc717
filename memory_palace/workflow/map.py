"""The map of a palace: rooms, work, insights and health, on the control panel."""

from __future__ import annotations

from memory_palace.changes.changing import Outcome, Plan, change_notes
from memory_palace.config import ROOMS
from memory_palace.engine import Engine
from memory_palace.graph.router import LinkGraph, NoteLinks
from memory_palace.notes.document import Document, Library
from memory_palace.notes.rooms import room_of
from memory_palace.workflow.cards import read_cards
from memory_palace.workflow.conflict_notes import read_conflicts
from memory_palace.workflow.corridor import lint_cards
from memory_palace.workflow.overview import PANEL, Overview, plan_panel, render_overview
from memory_palace.workflow.tasks import item_exists

_INSIGHTS = 5


def draw_map(engine: Engine, *, apply: bool = False, allow_uncommitted: bool = False) -> Outcome:
    """Bring the generated part of the control panel up to date."""

    def plan(library: Library) -> Plan:
        text = render_overview(take_overview(engine, library))
        return Plan(plan_panel(library.documents.get(PANEL), text), f"map in {PANEL}")

    return change_notes(
        engine, plan, command="map", apply=apply, allow_uncommitted=allow_uncommitted
    )


def take_overview(engine: Engine, library: Library) -> Overview:
    """Count and list what the map shows, from the notes as they are."""
    documents = list(library.documents.values())
    cards = [card for card in read_cards(documents) if not card.is_archived]
    conflicts = [conflict for conflict in read_conflicts(documents) if conflict.is_open]
    paths = {PANEL, *library.documents}  # a panel that is made now counts itself
    rooms = [room_of(path) for path in paths]
    return Overview(
        rooms=[(room, rooms.count(room)) for room in ROOMS],
        cards=cards,
        insights=_newest(documents),
        conflicts=conflicts,
        broken_links=len(_graph(documents).broken()),
        card_faults=len(lint_cards(cards, exists=item_exists(engine, library))),
        unreadable=sum(problem.is_failure for problem in library.problems),
    )


def _newest(documents: list[Document]) -> list[Document]:
    assets = [d for d in documents if room_of(d.path) == "reflection_wing" and not d.is_cold]
    # A panel must not change because a file was copied: only dates that are written down count.
    return sorted(assets, key=lambda d: (d.text("date"), d.path), reverse=True)[:_INSIGHTS]


def _graph(documents: list[Document]) -> LinkGraph:
    hot = [
        NoteLinks(
            document.path,
            document.title,
            document.texts("aliases"),
            [link.target for link in document.links if link.target],
        )
        for document in documents
        if not document.is_cold
    ]
    return LinkGraph(hot, cold_paths=[d.path for d in documents if d.is_cold])

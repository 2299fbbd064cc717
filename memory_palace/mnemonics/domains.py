"""Which domain a new memory belongs to: a folder of memories, or of a project, on the same matter.

The index over memories is divided by folders; memories that all lie in one have no first hop.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from memory_palace.config import Rooms
from memory_palace.engine import Engine
from memory_palace.errors import MissingPartError
from memory_palace.models import Query
from memory_palace.retrieval.question import embed_question
from memory_palace.retrieval.routing import route_notes

MEMORIES_ROOM = "reflection_wing/memories"
_PROJECTS = "project_rooms"
SURE = 0.2
"""Share of all votes by which the first domain must be ahead of the second. Of 42 memories by
hand in seven folders, each left out in turn, 45 % were then filed, 74 % of these as their writer
had done; without vectors 29 % and 75 %."""


@dataclass(frozen=True, slots=True)
class DomainGuess:
    """Where a text seems to belong."""

    name: str
    """Empty where no domain has a word of it, or there are fewer than two."""
    is_sure: bool


AskDomain: TypeAlias = Callable[[DomainGuess], str]
"""Asks a person where a memory belongs; an empty answer is none."""


def guess_domain(engine: Engine, text: str) -> DomainGuess:
    """Return the domain that the indexed memories and project notes vote for.

    Words alone vote where the index has no vectors, or their model is not there. Without an index
    nothing is known.
    """
    if not text.strip() or not engine.paths.commit.exists():
        return DomainGuess("", False)
    snapshot = engine.snapshot()
    query = Query(text, time.time())
    if snapshot.commit.dimension:
        with suppress(MissingPartError):  # a guess by words is better than no memory
            query = embed_question(query, engine.embedder())
    domains = [_name_domain(engine.paths.rooms, path) for path in snapshot.paths]
    route = route_notes(query, snapshot, domains)
    if not route.lead:
        return DomainGuess("", False)
    return DomainGuess(route.domains[0], route.lead >= SURE)


def _name_domain(rooms: Rooms, path: str) -> str | None:
    """Return the name of the folder of memories, or of the project, that a note lies in."""
    place = rooms.place_of(path)
    for home in (MEMORIES_ROOM, _PROJECTS):
        folder, _, file = place.removeprefix(f"{home}/").partition("/")
        if place.startswith(f"{home}/") and file:
            return folder
    return None

"""Which notes a plan shows, and where their links lead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import UsageError
from memory_palace.graph.near import list_links
from memory_palace.graph.zones import ZonedNames
from memory_palace.index.snapshot import Snapshot
from memory_palace.view.layout import Layout
from memory_palace.view.options import ViewOptions

NotePlaces: TypeAlias = NDArray[np.int64]
"""Places of notes in a snapshot, ascending."""
LinksOf: TypeAlias = Mapping[int, tuple[tuple[str, int], ...]]
"""For each note the targets as written, and the note each leads to."""


def choose_notes(snapshot: Snapshot, layout: Layout, options: ViewOptions) -> NotePlaces:
    """Return the notes of the rooms asked for that are not private, nor cold unless asked for.

    Raise ``UsageError`` for a room that the plan does not have.
    """
    wanted = find_room(layout, options.room) if options.room is not None else None
    seen = ~snapshot.private
    if not options.include_cold:
        seen &= ~snapshot.cold
    return np.array(
        [
            place
            for place in np.flatnonzero(seen).tolist()
            if wanted in (None, layout.notes[snapshot.paths[place]].room)
        ],
        np.int64,
    )


def find_room(layout: Layout, name: str) -> str:
    """Return the room called so, whole or by its last folder; raise ``UsageError`` otherwise."""
    names = [room.name for room in layout.rooms]
    asked = name.strip("/").casefold()
    found = [n for n in names if n.casefold() == asked] or [
        n for n in names if n.rpartition("/")[2].casefold() == asked
    ]
    if len(found) == 1:
        return found[0]
    problem = f"{len(found)} rooms are called" if found else "no room is called"
    listed = ", ".join(n or '""' for n in found or sorted(names)) or "none: it has no notes"
    raise UsageError(f"{problem} {name!r}; the rooms of the plan are {listed}")


def resolve_links(snapshot: Snapshot, *, include_cold: bool) -> LinksOf:
    """Resolve links between notes as the graph does, those of a note to itself left out.

    A link to a private note, or to a cold one unless they are included, leads nowhere.
    """
    seen = ~snapshot.private if include_cold else ~(snapshot.private | snapshot.cold)
    nodes = np.flatnonzero(seen).tolist()
    aliases, titles, targets = snapshot.aliases(), snapshot.titles, list_links(snapshot)
    names = ZonedNames(
        (snapshot.paths[n], (*aliases[n], titles[n]), bool(snapshot.cold[n])) for n in nodes
    )
    at = {snapshot.paths[node]: node for node in nodes}
    found: dict[int, tuple[tuple[str, int], ...]] = {}
    for node in nodes:
        path = snapshot.paths[node]
        pairs = list(dict.fromkeys(names.read(text, path) for text in targets[node]))
        found[node] = tuple((text, at[to]) for text, to in pairs if to not in (None, path) and to)
    return found


def limit_notes(
    snapshot: Snapshot, notes: NotePlaces, links: LinksOf, most: int | None
) -> NotePlaces:
    """Return at most so many notes: those of priority first, then the most linked, then the newest.

    Raise ``UsageError`` for a number below one.
    """
    if most is not None and most < 1:
        raise UsageError(f"a plan shows at least one note, not {most}")
    if most is None or len(notes) <= most:
        return notes
    degree = Counter(to for pairs in links.values() for _, to in pairs)
    degree.update({place: len(pairs) for place, pairs in links.items()})
    order: Sequence[int] = sorted(
        notes.tolist(),
        key=lambda n: (-int(snapshot.priorities[n]), -degree[n], -float(snapshot.told_dates[n]), n),
    )
    return np.array(sorted(order[:most]), np.int64)

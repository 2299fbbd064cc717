"""Which notes say that another took their place, and name none."""

from __future__ import annotations

from collections.abc import Iterator

from memory_palace.graph.zones import ZonedNames
from memory_palace.index.snapshot import Snapshot


def find_lost_heirs(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Yield the path of a note and what it is superseded by, where that is not one note here.

    A path, a stem, a title or an alias names a note, as a link does.
    """
    names: ZonedNames | None = None
    aliases, titles = snapshot.aliases(), snapshot.titles
    for place, path in enumerate(snapshot.paths):
        for heir in snapshot.note(place).validity.superseded_by:
            names = names or ZonedNames(
                (other, (*aliases[at], titles[at]), bool(snapshot.cold[at]))
                for at, other in enumerate(snapshot.paths)
            )
            if names.find(heir, path) is None:
                yield path, heir

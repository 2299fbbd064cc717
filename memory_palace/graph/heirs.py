"""Which notes say that another took their place, and name none."""

from __future__ import annotations

from collections.abc import Iterator

from memory_palace.graph.zones import ZonedNames
from memory_palace.index.doctor import Finding
from memory_palace.index.snapshot import Snapshot


def find_lost_heirs(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield the notes that are superseded by what is not one note here.

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
                message = f"is superseded by {heir!r}, which names no note"
                yield Finding("note", path, message, is_derived=False)

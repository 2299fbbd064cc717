"""Which note a link means in a palace with a cold zone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memory_palace.graph.resolve import Resolver
from memory_palace.index.doctor import Finding
from memory_palace.index.snapshot import Snapshot


class ZonedNames:
    """Names of hot notes first: a cold note is meant where no hot one can be, and by no alias."""

    def __init__(self, notes: Iterable[tuple[str, Sequence[str], bool]]) -> None:
        """Take path, aliases, and whether it is cold, of every note."""
        known = list(notes)
        self._zones: list[tuple[list[str], Resolver]] = []
        for zone in (False, True):
            chosen = [(path, aliases) for path, aliases, is_cold in known if is_cold == zone]
            paths = [path for path, _ in chosen]
            aliases = [() if zone else names for _, names in chosen]
            self._zones.append((paths, Resolver(paths, aliases)))

    def find(self, target: str, source: str) -> str | None:
        """Return the path a target means in the note at ``source``; ``None`` where none is sure."""
        return self.read(target, source)[1]

    def read(self, target: str, source: str) -> tuple[str, str | None]:
        """Return the same with the part of ``target|label`` that it is read by."""
        order = [(True, *zone) for zone in self._zones] + [(False, *self._zones[0])]
        for exactly, paths, resolver in order:
            found = resolver.resolve(target, source, exactly=exactly)
            if found.state != "broken":
                is_sure = found.state == "resolved"
                return found.text, paths[found.places[0]] if is_sure else None
        return found.text, None


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

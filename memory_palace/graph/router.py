"""The link graph of notes: neighbors, shortest routes, orphans and broken links."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from memory_palace.graph.naming import NoteNames
from memory_palace.graph.resolve import (
    LinkState,
    Neighbors,
    Resolution,
    Resolver,
    ZonedNames,
    is_attachment,
    list_links,
)
from memory_palace.index.doctor import Finding
from memory_palace.index.snapshot import Snapshot

_LISTED = 8
"""Candidates listed per ambiguous link: all of them are quadratic in a vault of index notes."""


class Edge(NamedTuple):
    """One link, counted once per note and target."""

    source: str
    text: str
    """The target as written; of ``[[a|b]]`` the part that is the target."""
    state: LinkState
    targets: tuple[str, ...]
    """The path of the note; of an ambiguous link the first few candidates; else empty."""
    matches: int
    """Number of candidates: 1 for a resolved link, 0 where there is none."""


@dataclass(frozen=True, slots=True)
class NoteLinks:
    """A node of the graph: names and link targets of a note."""

    path: str
    title: str
    aliases: Sequence[str] = ()
    targets: Sequence[str] = ()
    """As written, with the label of each that has one: ``target|label``."""


class LinkGraph:
    """Notes and their links, resolved when first asked for, in time linear in both.

    Cold and private notes are not nodes: a link to one is neither broken nor followed.
    """

    def __init__(
        self,
        notes: Sequence[NoteLinks],
        *,
        cold_paths: Collection[str] = (),
        private_paths: Collection[str] = (),
    ) -> None:
        self._notes = sorted(notes, key=lambda note: note.path)
        self._withheld: dict[LinkState, list[str]] = {
            "archived": sorted(cold_paths),
            "private": sorted(private_paths),
        }

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot, *, cold_paths: Collection[str] = ()) -> LinkGraph:
        """Take hot notes as nodes. Cold notes of the snapshot count as ``cold_paths``."""
        columns = snapshot.titles, snapshot.aliases, list_links(snapshot)
        notes = map(NoteLinks, snapshot.paths, *columns)
        flags = zip(notes, snapshot.cold.tolist(), snapshot.private.tolist(), strict=True)
        hot: list[NoteLinks] = []
        cold, private = set(cold_paths), []
        for note, is_cold, is_private in flags:
            if is_cold:
                cold.add(note.path)
            elif is_private:
                private.append(note.path)
            else:
                hot.append(note)
        return cls(hot, cold_paths=cold, private_paths=private)

    @cached_property
    def paths(self) -> list[str]:
        """The nodes, in path order."""
        return [note.path for note in self._notes]

    def find_note(self, text: str) -> str:
        """Return the path of the node called ``text``; see ``NoteNames.find``."""
        titles = [note.title for note in self._notes]
        return NoteNames(self.paths, titles, [note.aliases for note in self._notes]).find(text)

    @cached_property
    def edges(self) -> list[Edge]:
        """Every link but those of a note to itself, by source and in the order written."""
        hot = Resolver(self.paths, [(*note.aliases, note.title) for note in self._notes])
        withheld = {state: Resolver(paths) for state, paths in self._withheld.items() if paths}
        return [
            edge
            for note in self._notes
            for edge in self._edges_of(note, hot, withheld)
            if edge.targets != (note.path,)
        ]

    def neighbors(self, path: str) -> Neighbors:
        """Return the notes one link away; a path that is not a node has none."""
        return Neighbors(tuple(self._out.get(path, ())), tuple(self._back.get(path, ())))

    def route(self, start: str, goal: str) -> tuple[str, ...]:
        """Return a shortest walk over links in either direction; empty where there is none.

        Ties are always broken alike: adjacent notes are visited in path order.
        """
        if start not in self._out or goal not in self._out:
            return ()
        came_from = {start: ""}
        queue = deque([start])
        while queue and goal not in came_from:
            path = queue.popleft()
            for near in sorted({*self._out[path], *self._back.get(path, ())} - came_from.keys()):
                came_from[near] = path
                queue.append(near)
        walk, path = list[str](), goal if goal in came_from else ""
        while path:
            walk.append(path)
            path = came_from[path]
        return tuple(reversed(walk))

    def orphans(self) -> list[str]:
        """Return the notes that no link connects with another note."""
        return [path for path in self.paths if not self._out[path] and path not in self._back]

    def broken(self) -> list[Edge]:
        """Return the links that match no note."""
        return self._in_state("broken")

    def ambiguous(self) -> list[Edge]:
        """Return the links that match more than one note."""
        return self._in_state("ambiguous")

    def archived(self) -> list[Edge]:
        """Return the links whose target is in the cold zone."""
        return self._in_state("archived")

    def export(self) -> dict[str, Any]:
        """Return nodes and edges for JSON, in path order."""
        nodes = [{"path": note.path, "title": note.title} for note in self._notes]
        return {
            "nodes": nodes,
            "edges": [e._asdict() | {"targets": [*e.targets]} for e in self.edges],
        }

    @cached_property
    def _out(self) -> dict[str, dict[str, None]]:
        out: dict[str, dict[str, None]] = {path: {} for path in self.paths}
        for edge in self._in_state("resolved"):
            out[edge.source][edge.targets[0]] = None
        return out

    @cached_property
    def _back(self) -> dict[str, dict[str, None]]:
        back: dict[str, dict[str, None]] = {}
        for edge in self._in_state("resolved"):
            back.setdefault(edge.targets[0], {})[edge.source] = None
        return back

    def _in_state(self, state: LinkState) -> list[Edge]:
        return [edge for edge in self.edges if edge.state == state]

    def _edges_of(
        self, note: NoteLinks, hot: Resolver, withheld: dict[LinkState, Resolver]
    ) -> Iterator[Edge]:
        told: set[str] = set()
        for target in dict.fromkeys(note.targets):
            found = hot.resolve(target, note.path, exactly=True)
            if found.state == "broken":
                found = _find_missing(target, note.path, hot, withheld)
            if found.text not in told:
                told.add(found.text)
                targets = tuple(self.paths[place] for place in found.places[:_LISTED])
                yield Edge(note.path, found.text, found.state, targets, len(found.places))


def _find_missing(
    target: str, source: str, hot: Resolver, withheld: dict[LinkState, Resolver]
) -> Resolution:
    for state, resolver in withheld.items():
        if (found := resolver.resolve(target, source, exactly=True)).places:
            return Resolution(state, text=found.text)
    found = hot.resolve(target, source)
    is_file = found.state == "broken" and is_attachment(found.text)
    return found._replace(state="attachment") if is_file else found


def find_lost_heirs(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield a finding for each superseding target that does not resolve to one note.

    Targets resolve like links: by path, stem, title or alias.
    """
    names: ZonedNames | None = None
    aliases, titles = snapshot.aliases, snapshot.titles
    for place, path in enumerate(snapshot.paths):
        for heir in snapshot.note(place).validity.superseded_by:
            names = names or ZonedNames(
                (other, (*aliases[at], titles[at]), bool(snapshot.cold[at]))
                for at, other in enumerate(snapshot.paths)
            )
            if names.find(heir, path) is None:
                message = f"is superseded by {heir!r}, which names no note"
                yield Finding("note", path, message, is_derived=False)

"""``palace graph``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Annotated, Any

from typer import Option

from memory_palace.changes.changing import Outcome
from memory_palace.cli.group import Apply, Group, IncludeCold, Note
from memory_palace.cli.screen import ELLIPSIS, WIDEST, cut_end
from memory_palace.errors import CheckFailedError, PalaceError
from memory_palace.graph.router import LinkGraph
from memory_palace.language.visible import visible_line
from memory_palace.notes.document import Document, parse_document
from memory_palace.notes.note import NoteUnreadable
from memory_palace.palace import Palace
from memory_palace.shown import Shown, inner, plural
from memory_palace.system import read_file

graph = Group("Follow and check links, and terms that lead to notes.")


@graph.verb("map")
def map_palace(palace: Palace, apply: Apply = False) -> Outcome:
    """Write rooms, open work, recent insights and health into the control panel.

    They stand between two marks; the text around them stays as it is.

    Example: palace graph map --apply
    """
    return palace.map(apply=apply)


class LinkLines:
    """The lines of links in the current notes; the graph is from the index."""

    def __init__(self, palace: Palace, links: LinkGraph) -> None:
        self._paths = palace.paths
        self._texts = {
            (edge.source, edge.targets[0]): edge.text
            for edge in reversed(links.edges)
            if edge.state == "resolved"
        }
        self._read = cache(self._read_note)

    def draw(self, path: str, other: str, *, is_out: bool | None = None) -> Iterable[str]:
        """Yield the arrow from or to another note, and below it the line of the link.

        By default the arrow has the direction of a link between them.
        """
        is_out = (path, other) in self._texts if is_out is None else is_out
        source, target = (path, other) if is_out else (other, path)
        yield f"{'->' if is_out else '<-'} {visible_line(other)}"
        note, text = self._read(source), self._texts.get((source, target))
        link = next((x for x in note.links if x.target == text), None) if note else None
        if note is not None and link is not None:
            lines, place = note.body.split("\n"), link.line - note.body_first_line
            said = lines[place].strip() if 0 <= place < len(lines) else "in its front matter"
            before = said.find(f"[[{text}")
            if before > WIDEST // 2:
                said = f"{ELLIPSIS}{said[before - WIDEST // 4 :]}"
            yield cut_end(f"   {note.stem}:{link.line}  {said}", WIDEST)

    def _read_note(self, path: str) -> Document | None:
        file = self._paths.file_of(path)
        try:
            if file.is_symlink():
                return None
            return parse_document(path, read_file(file), rooms=self._paths.rooms)
        except (OSError, NoteUnreadable, PalaceError):
            return None


@dataclass(frozen=True, slots=True)
class NeighborsShown(Shown):
    """The notes that a note links to, and the notes that link to it."""

    path: str
    out: Sequence[str]
    back: Sequence[str]
    quotes: LinkLines = inner()

    def lines(self) -> Iterable[str]:
        yield visible_line(self.path)
        for is_out, others in ((True, self.out), (False, self.back)):
            for other in others:
                yield from self.quotes.draw(self.path, other, is_out=is_out)


@graph.verb("neighbors")
def show_neighbors(palace: Palace, note: Note, include_cold: IncludeCold = False) -> NeighborsShown:
    """List the notes that a note links to (->) and that link to it (<-), each with its line.

    Example: palace graph neighbors control_panel
    """
    links = palace.graph(include_cold=include_cold)
    path = links.find_note(note)
    return NeighborsShown(path, *links.neighbors(path), LinkLines(palace, links))


@dataclass(frozen=True, slots=True)
class RouteShown(Shown):
    """The shortest route between two notes; empty if there is none."""

    route: Sequence[str]
    quotes: LinkLines = inner()

    def lines(self) -> Iterable[str]:
        yield from map(visible_line, self.route[:1])
        for path, after in pairwise(self.route):
            yield from self.quotes.draw(path, after)

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        return () if self.route else ["no chain of links connects the two notes"]


@graph.verb("route")
def show_route(palace: Palace, start: Note, goal: Note) -> RouteShown:
    """List the shortest way between two notes, along links in either direction.

    Example: palace graph route constitution "battery failures"
    """
    links = palace.graph()
    route = links.route(links.find_note(start), links.find_note(goal))
    return RouteShown(route, LinkLines(palace, links))


@dataclass(frozen=True, slots=True)
class Orphans(Shown):
    """Notes without any link."""

    orphans: Sequence[str]

    def lines(self) -> Iterable[str]:
        return self.orphans


@graph.verb("orphans")
def show_orphans(palace: Palace) -> Orphans:
    """List notes without any link in or out.

    Example: palace graph orphans
    """
    return Orphans(palace.graph().orphans())


@dataclass(frozen=True, slots=True)
class LinkFault:
    """A link that does not lead to one note, and the notes it may mean."""

    path: str
    link: str
    targets: Sequence[str]
    state: str = inner()


@dataclass(frozen=True, slots=True)
class LinkFaults(Shown):
    """Links that lead nowhere, to several notes, or into the archive."""

    broken: Sequence[LinkFault]
    ambiguous: Sequence[LinkFault]
    archived: Sequence[LinkFault]
    is_strict: bool = inner()

    def lines(self) -> Iterable[str]:
        for one in (*self.broken, *self.ambiguous, *self.archived):
            targets = f" ({', '.join(one.targets)})" if one.targets else ""
            yield f"{one.state:<9}  {one.path} -> [[{one.link}]]{targets}"

    def failure(self) -> CheckFailedError | None:
        if not self.is_strict or not (self.broken or self.ambiguous):
            return None
        count = plural(len(self.broken), "broken link")
        return CheckFailedError(f"{count}, {len(self.ambiguous)} ambiguous")


@graph.verb("broken")
def show_broken(
    palace: Palace,
    strict: Annotated[
        bool, Option("--strict", help="Exit 8 if a link is broken or ambiguous.")
    ] = False,
) -> LinkFaults:
    """List links that lead nowhere, to several notes, or into the archive.

    Example: palace graph broken
    """
    links = palace.graph()
    broken, ambiguous, archived = (
        [LinkFault(edge.source, edge.text, edge.targets, edge.state) for edge in edges]
        for edges in (links.broken(), links.ambiguous(), links.archived())
    )
    return LinkFaults(broken, ambiguous, archived, strict)


@dataclass(frozen=True, slots=True)
class GraphExported(Shown):
    """All notes and links; it is shown as JSON alone."""

    nodes: Sequence[Any]
    edges: Sequence[Any]

    def show(self, *, as_json: bool) -> None:
        Shown.show(self, as_json=True)


@graph.verb("export", json=False)
def export_graph(palace: Palace) -> GraphExported:
    """Print all notes and links as one JSON object.

    Example: palace graph export
    """
    return GraphExported(**palace.graph().export())

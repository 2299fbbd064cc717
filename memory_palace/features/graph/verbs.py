"""``palace graph``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

from typer import Option

from memory_palace.changes.changing import Outcome, read_notes
from memory_palace.cli.group import Group
from memory_palace.cli.options import Apply, IncludeCold, Json, Note
from memory_palace.cli.screen import cut_end
from memory_palace.errors import CheckFailedError
from memory_palace.features.graph.trees import Branch, LinkLines
from memory_palace.notes.document import Document
from memory_palace.palace import Palace
from memory_palace.shown import Shown, inner, plural

graph = Group("Follow and check links, and terms that lead to notes.")
_MOST_FOLDERS, _NEWEST = 6, 2
_WIDEST = 60


@graph.verb("map")
def map_palace(palace: Palace, apply: Apply = False, as_json: Json = False) -> Outcome | None:
    """Draw rooms, folders and their newest notes; --apply writes an overview.

    The overview of rooms, work, insights and health goes into the control panel, between two
    marks. The text around them is yours and stays as it is; `palace undo` takes the
    change back. Of archived notes the number is shown, and no name. Example: palace graph map
    """
    if apply or as_json:
        return palace.map(apply=apply)
    rooms: dict[str, list[Document]] = defaultdict(list)
    for document in read_notes(palace).documents.values():
        home = palace.paths.rooms.room_of(document.path) or _folder(document.path)
        rooms[home].append(document)
    count = plural(sum(map(len, rooms.values())), "note")
    below = [_draw_room(room, rooms[room]) for room in sorted(rooms)]
    Branch(f"{palace.paths.root.resolve().name}  {count}", below).show(as_json=False)
    return None


def _draw_room(name: str, notes: Sequence[Document]) -> Branch:
    """Return a room with its largest folders, one branch for the others, and its newest notes."""
    hot = [note for note in notes if not note.is_cold]
    cold = len(notes) - len(hot)
    archived = f", {cold if hot else 'all'} archived" if cold else ""
    inside = (note.place.removeprefix("./").removeprefix(f"{name}/") for note in hot)
    folders = Counter(folder for path in inside if (folder := _folder(path)))
    largest = sorted(folders, key=lambda folder: (-folders[folder], folder))[:_MOST_FOLDERS]
    below = [Branch(f"{folder}/  {folders[folder]:,}") for folder in sorted(largest)]
    if others := len(folders) - len(largest):
        count = folders.total() - sum(folders[folder] for folder in largest)
        below.append(Branch(f"{plural(others, 'other folder')}  {count:,}"))
    dated = sorted((note.text("date"), note.path, note.title) for note in hot if note.text("date"))
    for date, _, title in dated[: -_NEWEST - 1 : -1]:
        below.append(Branch(cut_end(f"{date[:10]}  {title}", _WIDEST)))
    return Branch(f"{name or '(no folder)'}  {len(notes):,}{archived}", below)


def _folder(path: str) -> str:
    """Return the first folder of a path; nothing where the file lies in none."""
    return path.partition("/")[0] if "/" in path else ""


@dataclass(frozen=True, slots=True)
class NeighborsShown(Shown):
    """What a note links to and what links to it."""

    path: str
    out: Sequence[str]
    back: Sequence[str]
    quotes: LinkLines = inner()

    def lines(self) -> Iterable[str]:
        """Return the links as a tree."""
        quote = self.quotes.quote
        out = [Branch(f"-> {to}", remark=quote(self.path, to, depth=1)) for to in self.out]
        back = [Branch(f"<- {of}", remark=quote(of, self.path, depth=1)) for of in self.back]
        return Branch(self.path, [*out, *back]).lines()


@graph.verb("neighbors")
def show_neighbors(palace: Palace, note: Note, include_cold: IncludeCold = False) -> NeighborsShown:
    """Draw what a note links to (->) and what links to it (<-), with the line of each link.

    Example: palace graph neighbors control_panel
    """
    links = palace.graph(include_cold=include_cold)
    path = links.find_note(note)
    return NeighborsShown(path, *links.neighbors(path), LinkLines(palace, links))


@dataclass(frozen=True, slots=True)
class RouteShown(Shown):
    """The shortest way between two notes; empty where there is none."""

    route: Sequence[str]
    quotes: LinkLines = inner()

    def lines(self) -> Iterable[str]:
        """Return each step below the one before, with the line that links the two."""
        if not self.route:
            return ()
        branch = Branch(self.route[-1])
        for depth, (path, after) in reversed([*enumerate(pairwise(self.route), start=1)]):
            is_out = self.quotes.has(path, after)
            source, target = (path, after) if is_out else (after, path)
            quote = self.quotes.quote(source, target, depth=depth)
            step = f"{'->' if is_out else '<-'} {branch.text}"
            branch = Branch(path, [Branch(step, branch.below, branch.remark)], quote)
        return branch.lines()

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return that there is no way."""
        return () if self.route else ["no chain of links connects the two notes"]


@graph.verb("route")
def show_route(palace: Palace, start: Note, goal: Note) -> RouteShown:
    """Draw the shortest way between two notes, along links in either direction.

    An arrow says which of two notes links to the other; above it stands the line of the link.

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
        """Return their paths."""
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
        """Return a line for each."""
        for one in (*self.broken, *self.ambiguous, *self.archived):
            targets = f" ({', '.join(one.targets)})" if one.targets else ""
            yield f"{one.state:<9}  {one.path} -> [[{one.link}]]{targets}"

    def failure(self) -> CheckFailedError | None:
        """Return the error of ``--strict``."""
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
        """Print the JSON object."""
        Shown.show(self, as_json=True)


@graph.verb("export", json=False)
def export_graph(palace: Palace) -> GraphExported:
    """Print all notes and links as one JSON object.

    Example: palace graph export
    """
    return GraphExported(**palace.graph().export())

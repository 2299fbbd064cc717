"""``palace graph``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

from typer import Context, Option, Typer

from memory_palace.changes.changing import read_notes
from memory_palace.cli.cells import ELLIPSIS, cut_end
from memory_palace.cli.old_changes import show_change
from memory_palace.cli.options import Apply, IncludeCold, Json, Note, open_palace
from memory_palace.errors import CheckFailedError, PalaceError
from memory_palace.graph.near import Neighbors
from memory_palace.graph.router import Edge, LinkGraph
from memory_palace.language.visible import visible_line
from memory_palace.notes.document import Document, parse_document
from memory_palace.notes.reading import NoteUnreadable
from memory_palace.palace import Palace
from memory_palace.shown import plural, print_answer, say


@dataclass(frozen=True, slots=True)
class Branch:
    """One entry of a tree, and what hangs on it."""

    text: str
    below: Sequence[Branch] = ()
    remark: str = ""
    """What stands on a line of its own below it."""


class _Strokes(NamedTuple):
    middle: str
    last: str
    beside: str


_BOX = _Strokes("├─ ", "└─ ", "│  ")
_ASCII = _Strokes("|- ", "`- ", "|  ")


def draw_tree(root: Branch) -> Iterator[str]:
    """Yield the lines of a tree in what the locale of this terminal can show."""
    return lay_tree(root, is_ascii=not has_blocks(os.environ))


def has_blocks(environ: Mapping[str, str]) -> bool:
    """Whether the locale of a terminal is UTF-8, or none is named."""
    names = (environ.get(key, "") for key in ("LC_ALL", "LC_CTYPE", "LANG"))
    name = next(filter(None, names), "UTF-8").casefold()
    return "utf-8" in name or "utf8" in name


def lay_tree(root: Branch, *, is_ascii: bool = False) -> Iterator[str]:
    """Yield the lines of a tree; each entry is one line, whatever its text holds."""
    yield visible_line(root.text)
    yield from _lay_below(root, _ASCII if is_ascii else _BOX, "")


def _lay_below(branch: Branch, strokes: _Strokes, before: str) -> Iterator[str]:
    if branch.remark:
        beside = strokes.beside if branch.below else "   "
        yield f"{before}{beside}{visible_line(branch.remark)}"
    for place, entry in enumerate(branch.below, start=1):
        is_last = place == len(branch.below)
        yield f"{before}{strokes.last if is_last else strokes.middle}{visible_line(entry.text)}"
        yield from _lay_below(entry, strokes, before + ("   " if is_last else strokes.beside))


app = Typer(no_args_is_help=True, help="Follow and check links, and terms that lead to notes.")


_MOST_FOLDERS, _NEWEST = 6, 2
_WIDEST = 60


@app.command("map")
def map_palace(
    ctx: Context,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Draw rooms, folders and their newest notes; --apply writes an overview.

    The overview of rooms, work, insights and health goes into the control panel, between two
    marks. The text around them is yours and stays as it is; `palace undo` takes the
    change back. Of archived notes the number is shown, and no name. Example: palace graph map
    """
    palace = open_palace(ctx)
    if apply or as_json:
        show_change(palace.map(apply=apply), as_json=as_json)
        return
    rooms: dict[str, list[Document]] = {}
    for document in read_notes(palace).documents.values():
        home = palace.paths.rooms.room_of(document.path) or _folder(document.path)
        rooms.setdefault(home, []).append(document)
    count = sum(map(len, rooms.values()))
    name = palace.paths.root.resolve().name
    tree = Branch(
        f"{name}  {plural(count, 'note')}", [_room(room, rooms[room]) for room in sorted(rooms)]
    )
    print_answer({}, draw_tree(tree), as_json=False)


def _room(name: str, notes: Sequence[Document]) -> Branch:
    cold = sum(note.is_cold for note in notes)
    archived = f", {'all' if cold == len(notes) else cold} archived" if cold else ""
    hot = [note for note in notes if not note.is_cold]
    folders: dict[str, int] = {}
    for note in hot:
        inside = note.place.removeprefix("./").removeprefix(f"{name}/")
        if folder := _folder(inside):
            folders[folder] = folders.get(folder, 0) + 1
    below = [*_folders(folders), *(Branch(_newest_line(note)) for note in _newest(hot))]
    return Branch(f"{name or '(no folder)'}  {len(notes):,}{archived}", below)


def _folders(folders: Mapping[str, int]) -> list[Branch]:
    """Return a branch for each of the largest, by name, and one for the others."""
    largest = sorted(folders, key=lambda folder: (-folders[folder], folder))[:_MOST_FOLDERS]
    shown = [Branch(f"{folder}/  {folders[folder]:,}") for folder in sorted(largest)]
    others = [folder for folder in folders if folder not in largest]
    if others:
        count = sum(folders[folder] for folder in others)
        shown.append(Branch(f"{plural(len(others), 'other folder')}  {count:,}"))
    return shown


def _newest(notes: Sequence[Document]) -> list[Document]:
    dated = [note for note in notes if note.text("date")]
    return sorted(dated, key=lambda note: (note.text("date"), note.path), reverse=True)[:_NEWEST]


def _newest_line(note: Document) -> str:
    return cut_end(f"{note.text('date')[:10]}  {note.title}", _WIDEST)


def _folder(path: str) -> str:
    """Return the first folder of a path; nothing where the file lies in none."""
    return path.partition("/")[0] if "/" in path else ""


@app.command("neighbors")
def show_neighbors(
    ctx: Context, note: Note, include_cold: IncludeCold = False, as_json: Json = False
) -> None:
    """Draw what a note links to (->) and what links to it (<-), with the line of each link.

    Example: palace graph neighbors control_panel
    """
    palace = open_palace(ctx)
    graph = palace.graph(include_cold=include_cold)
    path = graph.find_note(note)
    near = graph.neighbors(path)
    record = {"path": path, "out": list(near.out), "back": list(near.back)}
    tree = None if as_json else neighbor_tree(path, near, LinkLines(palace, graph))
    print_answer(record, draw_tree(tree) if tree else (), as_json=as_json)


@app.command("route")
def show_route(ctx: Context, start: Note, goal: Note, as_json: Json = False) -> None:
    """Draw the shortest way between two notes, along links in either direction.

    An arrow says which of two notes links to the other; above it stands the line of the link.

    Example: palace graph route constitution "battery failures"
    """
    palace = open_palace(ctx)
    graph = palace.graph()
    route = graph.route(graph.find_note(start), graph.find_note(goal))
    tree = route_tree(route, LinkLines(palace, graph)) if route and not as_json else None
    print_answer({"route": route}, draw_tree(tree) if tree else (), as_json=as_json)
    if not route:
        say("no chain of links connects the two notes")


@app.command("orphans")
def show_orphans(ctx: Context, as_json: Json = False) -> None:
    """List notes without any link in or out.

    Example: palace graph orphans
    """
    orphans = open_palace(ctx).graph().orphans()
    print_answer({"orphans": orphans}, orphans, as_json=as_json)


@app.command("broken")
def show_broken(
    ctx: Context,
    strict: Annotated[
        bool, Option("--strict", help="Exit 8 if a link is broken or ambiguous.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List links that lead nowhere, to several notes, or into the archive.

    Example: palace graph broken
    """
    graph = open_palace(ctx).graph()
    broken, ambiguous, archived = graph.broken(), graph.ambiguous(), graph.archived()
    record = {
        "broken": _records(broken),
        "ambiguous": _records(ambiguous),
        "archived": _records(archived),
    }
    print_answer(record, map(_line, (*broken, *ambiguous, *archived)), as_json=as_json)
    if strict and (broken or ambiguous):
        count = plural(len(broken), "broken link")
        raise CheckFailedError(f"{count}, {len(ambiguous)} ambiguous")


@app.command("export")
def export_graph(ctx: Context) -> None:
    """Print all notes and links as one JSON object.

    Example: palace graph export
    """
    print_answer(open_palace(ctx).graph().export(), as_json=True)


_LEAST_QUOTE = 30


class LinkLines:
    """Finds the line of a link in the notes as they are now; the graph is of the index."""

    def __init__(self, palace: Palace, graph: LinkGraph) -> None:
        self._palace = palace
        self._texts = {
            (edge.source, edge.targets[0]): edge.text
            for edge in reversed(graph.edges)
            if edge.state == "resolved"
        }
        self._read = cache(self._read_note)
        self._width = shutil.get_terminal_size().columns

    def has(self, source: str, target: str) -> bool:
        """Whether one note links to another."""
        return (source, target) in self._texts

    def quote(self, source: str, target: str, *, depth: int) -> str:
        """Return ``12: the text of the line``, cut to the terminal; nothing where it is gone."""
        note = self._read(source)
        text = self._texts.get((source, target))
        link = next((x for x in note.links if x.target == text), None) if note else None
        if note is None or link is None:
            return ""
        lines, place = note.body.split("\n"), link.line - note.body_first_line
        said = lines[place].strip() if 0 <= place < len(lines) else "in its front matter"
        room = max(self._width - 3 * depth - 6, _LEAST_QUOTE)
        before = said.find(f"[[{text}")
        if before > room // 2:
            said = f"{ELLIPSIS}{said[before - room // 4 :]}"
        return cut_end(f"{note.stem}:{link.line}  {said}", room)

    def _read_note(self, path: str) -> Document | None:
        paths = self._palace.paths
        file = paths.root / path
        try:
            if file.is_symlink():
                return None
            return parse_document(path, file.read_bytes(), rooms=paths.rooms)
        except (OSError, NoteUnreadable, PalaceError):
            return None


def route_tree(route: Sequence[str], lines: LinkLines) -> Branch:
    """Return a way: each step below the one before, with the line that links the two."""
    branch = Branch(route[-1])
    for depth, (path, after) in reversed([*enumerate(pairwise(route), start=1)]):
        is_out = lines.has(path, after)
        source, target = (path, after) if is_out else (after, path)
        quote = lines.quote(source, target, depth=depth)
        arrow = "->" if is_out else "<-"
        branch = Branch(
            path, [Branch(f"{arrow} {branch.text}", branch.below, branch.remark)], quote
        )
    return branch


def neighbor_tree(path: str, near: Neighbors, lines: LinkLines) -> Branch:
    """Return what a note links to and what links to it."""
    out = [Branch(f"-> {to}", remark=lines.quote(path, to, depth=1)) for to in near.out]
    back = [Branch(f"<- {of}", remark=lines.quote(of, path, depth=1)) for of in near.back]
    return Branch(path, [*out, *back])


def _line(edge: Edge) -> str:
    targets = f" ({', '.join(edge.targets)})" if edge.targets else ""
    return f"{edge.state:<9}  {edge.source} -> [[{edge.text}]]{targets}"


def _records(edges: Iterable[Edge]) -> list[dict[str, Any]]:
    return [{"path": e.source, "link": e.text, "targets": list(e.targets)} for e in edges]

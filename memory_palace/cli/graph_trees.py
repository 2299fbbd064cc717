"""The ways between notes as trees: where each link stands, and what its line says."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from memory_palace.cli.cells import ELLIPSIS, cut_end
from memory_palace.cli.trees import Branch
from memory_palace.errors import PalaceError
from memory_palace.graph.near import Neighbors
from memory_palace.graph.router import LinkGraph
from memory_palace.notes.document import Document, parse_document
from memory_palace.notes.reading import NoteUnreadable
from memory_palace.palace import Palace

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

"""Trees of a terminal, and the lines of notes that stand beside the links in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from memory_palace.cli.screen import ELLIPSIS, cut_end
from memory_palace.errors import PalaceError
from memory_palace.graph.router import LinkGraph
from memory_palace.language.visible import visible_line
from memory_palace.notes.document import Document, parse_document
from memory_palace.notes.reading import NoteUnreadable
from memory_palace.palace import Palace
from memory_palace.shown import Shown

_LEAST_QUOTE = 30


class Branch(Tree, Shown):
    """An entry of a tree, on one line whatever its text holds, and what hangs on it."""

    ASCII_GUIDES = ("   ", "|  ", "|- ", "`- ")
    TREE_GUIDES = [("   ", "│  ", "├─ ", "└─ ")] * 3

    def __init__(self, text: str, below: Sequence[Branch] = (), remark: str = "") -> None:
        """``remark`` stands on a line of its own below the entry."""
        self.text, self.below, self.remark = text, below, remark
        beside = ("│  " if has_blocks(os.environ) else "|  ") if below else "   "
        more = f"\n{beside}{visible_line(remark)}" if remark else ""
        super().__init__(Text(visible_line(text) + more))
        self.children = [*below]

    def lines(self) -> Iterator[str]:
        """Return the lines of the tree, neither wrapped nor cut, in what the locale can show."""
        console = Console(width=1_000_000, color_system=None, legacy_windows=False)
        options = console.options
        options.encoding = "utf-8" if has_blocks(os.environ) else "ascii"
        for line in console.render_lines(self, options, pad=False):
            yield "".join(segment.text for segment in line)


def has_blocks(environ: Mapping[str, str]) -> bool:
    """Whether the locale of a terminal is UTF-8, or none is named."""
    names = (environ.get(key, "") for key in ("LC_ALL", "LC_CTYPE", "LANG"))
    name = next(filter(None, names), "UTF-8").casefold()
    return "utf-8" in name or "utf8" in name


class LinkLines:
    """Finds the line of a link in the notes as they are now; the graph is of the index."""

    def __init__(self, palace: Palace, links: LinkGraph) -> None:
        self._paths = palace.paths
        self._texts = {
            (edge.source, edge.targets[0]): edge.text
            for edge in reversed(links.edges)
            if edge.state == "resolved"
        }
        self._read = cache(self._read_note)

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
        room = max(shutil.get_terminal_size().columns - 3 * depth - 6, _LEAST_QUOTE)
        before = said.find(f"[[{text}")
        if before > room // 2:
            said = f"{ELLIPSIS}{said[before - room // 4 :]}"
        return cut_end(f"{note.stem}:{link.line}  {said}", room)

    def _read_note(self, path: str) -> Document | None:
        file = self._paths.root / path
        try:
            if file.is_symlink():
                return None
            return parse_document(path, file.read_bytes(), rooms=self._paths.rooms)
        except (OSError, NoteUnreadable, PalaceError):
            return None

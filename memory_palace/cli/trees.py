"""A tree on a terminal: lines of a box, or ASCII where the locale has none.

What is piped is drawn the same: a tree stays readable there, and a path is never cut.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory_palace.cli.history import has_blocks
from memory_palace.language.visible import visible_line


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

"""Text in the cells of a terminal: cut to a width, where a character may take two."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from memory_palace.language.visible import visible_line

ELLIPSIS = "…"


def cut_end(text: str, width: int) -> str:
    """Return what of a text fits in so many cells, on one line, nothing in it hidden."""
    text = visible_line(text)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + ELLIPSIS


def cut_middle(text: str, width: int) -> str:
    """Return a path without its middle where it takes more cells: its end says more."""
    text = visible_line(text)
    if cell_len(text) <= width:
        return text
    tail = (width - 1) * 2 // 3
    start = len(text)
    while start and cell_len(text[start - 1 :]) <= tail:
        start -= 1
    return set_cell_size(text, width - 1 - tail).rstrip() + ELLIPSIS + text[start:]

"""Text in the cells of a terminal: cut and wrapped to a width, where a character may take two."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from memory_palace.language.visible import visible_line

ELLIPSIS = "…"
NARROWEST, WIDEST = 20, 120
"""Columns that are used: text wider than that is hard to read."""
INDENT = 3
_CONSOLE = Console(width=WIDEST)


def cut_end(text: str, width: int) -> str:
    """Return a text as one visible line, cut with an ellipsis to ``width`` cells."""
    text = visible_line(text)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + ELLIPSIS


def wrap(line: Text, width: int) -> Iterator[Text]:
    """Yield the rows of a line, its styles kept; a word that is longer goes on in the next row."""
    for row in line.wrap(_CONSOLE, width, tab_size=1):
        row.rstrip()
        yield row


def cut_start(text: Text, width: int) -> Text:
    """Return a path without its beginning where it is too long: its end says more."""
    if text.cell_len <= width:
        return text
    while text.cell_len > width - 1:
        text = text[1:]
    return Text.assemble(ELLIPSIS, text)


def cut_text(text: Text, width: int) -> Text:
    """Return a text without its end where it is too long."""
    text = text.copy()
    text.truncate(width, overflow="ellipsis")
    return text


def link_to(file: Path, line: int, environ: Mapping[str, str]) -> str:
    """Return the address that a click opens.

    Only kitty reads a line after ``#``; others refuse an address that has one.
    """
    path = quote(str(file), safe="/")
    anchor = f"#{line}" if "KITTY_WINDOW_ID" in environ else ""
    return f"file://{platform.node()}{path}{anchor}"


def print_rows(rows: Sequence[Text], environ: Mapping[str, str]) -> None:
    """Print rows in colour, or without a single escape where the environment says so."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        print(*(row.plain.rstrip() for row in rows), sep="\n")
        return
    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    for row in rows:
        console.print(row)

"""Text in the cells of a terminal: cut and wrapped to a width, where a character may take two.

Nothing is wrapped inside a word: one that is longer than a line loses its middle. Text in scripts
without spaces breaks between characters, as its writers break it.
"""

from __future__ import annotations

import platform
import re
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
PIECE = re.compile(
    # One character of a script without spaces, with what may not begin or end a line; else a word.
    r"[「『（〔［｛〈《【“‘(]*[\u2e80-\u2fff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff][\u3099\u309a]?[、。，．・：；？！ー」』）〕］｝〉》】”’),.;:?!…]*"
    r"|[^\s\u2e80-\u2fff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)


def cut_end(text: str, width: int) -> str:
    """Return what of a text fits in so many cells, on one line, nothing in it hidden."""
    text = visible_line(text)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + ELLIPSIS


def _halves(text: str, width: int) -> tuple[int, int]:
    """Return the cells that are left for the first part, and where the last part begins."""
    tail = (width - 1) * 2 // 3
    start = len(text)
    while start and cell_len(text[start - 1 :]) <= tail:
        start -= 1
    return width - 1 - tail, start


def wrap(line: Text, width: int) -> Iterator[Text]:
    """Yield the rows of a line, its styles kept; a word that is longer loses its middle."""
    plain = line.plain
    start = end = 0
    for match in PIECE.finditer(plain):
        if end > start and cell_len(plain[start : match.end()]) > width:
            yield line[start:end]
            start = end
        if cell_len(match[0]) > width:
            yield cut_text_middle(line[match.start() : match.end()], width)
            start = end = match.end()
            continue
        if start == end:
            start = match.start()
        end = match.end()
    if end > start:
        yield line[start:end]


def cut_text_middle(text: Text, width: int) -> Text:
    """Return a text without its middle where it is too long: its end says more than that."""
    if text.cell_len <= width:
        return text
    first, start = _halves(text.plain, width)
    return Text.assemble(_take(text, first), Text(ELLIPSIS, text.style), text[start:])


def _take(text: Text, width: int) -> Text:
    end = 0
    while end < len(text) and cell_len(text.plain[: end + 1]) <= width:
        end += 1
    return text[:end]


def cut_text(text: Text, width: int) -> Text:
    """Return a text without its end where it is too long."""
    return text if text.cell_len <= width else Text.assemble(_take(text, width - 1), ELLIPSIS)


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

"""Cut and wrap text to a width in terminal cells, of which a wide character takes two."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from memory_palace.language.visible import visible_line
from memory_palace.system import IS_POSIX

ELLIPSIS = "…"
NARROWEST, WIDEST = 20, 120
"""Minimum and maximum columns used: wider text is hard to read."""
INDENT = 3
_CONSOLE = Console(width=WIDEST)


def cut_end(text: str, width: int) -> str:
    """Return a text as one visible line, cut with an ellipsis to ``width`` cells."""
    text = visible_line(text)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + ELLIPSIS


def wrap(line: Text, width: int) -> Iterator[Text]:
    """Yield the rows of a line with its styles; a word wider than a row is broken."""
    for row in line.wrap(_CONSOLE, width, tab_size=1):
        row.rstrip()
        yield row


def cut_start(text: Text, width: int) -> Text:
    """Return a path cut at its start to ``width`` cells, since its end is more informative."""
    if text.cell_len <= width:
        return text
    while text.cell_len > width - 1:
        text = text[1:]
    return Text.assemble(ELLIPSIS, text)


def cut_text(text: Text, width: int) -> Text:
    """Return a text cut at its end to ``width`` cells."""
    text = text.copy()
    text.truncate(width, overflow="ellipsis")
    return text


def link_to(file: Path, line: int, environ: Mapping[str, str]) -> str:
    """Return the address of a note for a terminal hyperlink: in Obsidian, else that of a line.

    Only kitty accepts a line after ``#``; other terminals reject such an address.
    """
    if vault := vault_address(file.parent):
        return vault + quote(file.name, safe="", errors="surrogateescape")
    anchor = f"#{line}" if "KITTY_WINDOW_ID" in environ else ""
    host = platform.node() if IS_POSIX else ""
    return file.as_uri().replace("file://", f"file://{host}", 1) + anchor


def vault_address(folder: Path) -> str:
    """Return the address of a folder's files in Obsidian, up to their names; empty outside a vault.

    See https://help.obsidian.md/Extending+Obsidian/Obsidian+URI, as of November 2026.
    """
    for vault in (folder, *folder.parents):
        if vault.name and (vault / ".obsidian").is_dir():
            inside = "/".join((*folder.relative_to(vault).parts, ""))
            name, file = (quote(s, safe="", errors="surrogateescape") for s in (vault.name, inside))
            return f"obsidian://open?vault={name}&file={file}"
    return ""


def print_rows(rows: Sequence[Text], environ: Mapping[str, str]) -> None:
    """Print rows in colour, or plain with ``NO_COLOR`` or ``TERM=dumb``."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        print(*(row.plain.rstrip() for row in rows), sep="\n")
        return
    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    for row in rows:
        console.print(row)

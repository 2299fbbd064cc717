"""Tables of Markdown, as people write them: rows of cells between bars."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BAR = re.compile(r"(?<!\\)\|")


def split_cells(line: str) -> list[str]:
    """Return the cells of a line; a bar with a backslash before it is text."""
    bare = line.strip().removeprefix("|")
    cells = _BAR.split(bare)
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return [cell.strip().replace(r"\|", "|") for cell in cells]


def join_cells(*cells: str) -> str:
    """Return the row of some cells."""
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return "".join(f"| {cell} " for cell in escaped) + "|"


def find_rows(text: str, *columns: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line, counted from 0, and cells of every row of the tables with those columns first.

    The header, whatever its case, and the rule below it are no rows; a row has at least a cell for
    each of ``columns``. A table ends at a line without a bar.
    """
    is_inside = False
    for number, line in enumerate(text.split("\n")):
        if "|" not in line:
            is_inside = False
            continue
        cells = split_cells(line)
        if [cell.lower() for cell in cells[: len(columns)]] == [*columns]:
            is_inside = True
        elif is_inside and len(cells) >= len(columns) and set("".join(cells)) - set("-: "):
            yield number, cells

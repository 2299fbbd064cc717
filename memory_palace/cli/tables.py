"""Tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memory_palace.language.visible import visible


def print_board(columns: Mapping[str, Sequence[str]]) -> None:
    """Print named columns side by side. What stands in them is text, never markup."""
    table = Table(show_lines=True)
    for name, found in columns.items():
        table.add_column(f"{name} {len(found)}", overflow="fold", ratio=1)
    for row in zip_longest(*columns.values(), fillvalue=""):
        table.add_row(*(Text(visible(text)) for text in row))
    Console().print(table)

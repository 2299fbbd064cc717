"""Options that several verbs share, declared once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from memory_palace.errors import UsageError
from memory_palace.palace import Palace

SCHEMA = 1
"""Number of the JSON contract; it changes when a key changes its meaning or goes."""

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("-q", "--quiet", help="Print no words.")]
Limit: TypeAlias = Annotated[int, typer.Option("-k", "--top-k", min=1, help="Notes at most.")]
Type: TypeAlias = Annotated[str | None, typer.Option("-t", "--type", help="Only of this type.")]
PriorityName: TypeAlias = Annotated[
    str | None, typer.Option("-p", "--priority", help="Only high, medium or low.")
]
Room: TypeAlias = Annotated[str | None, typer.Option("--room", help="Only in this room.")]
Since: TypeAlias = Annotated[
    str | None, typer.Option("--since", help="Not older: a date, or 30d, 2w, 6m, 1y, yesterday.")
]
Until: TypeAlias = Annotated[str | None, typer.Option("--until", help="Not newer.")]
IncludeCold: TypeAlias = Annotated[
    bool, typer.Option("--include-cold", help="Look into archive_basement too.")
]
Wait: TypeAlias = Annotated[
    float, typer.Option("--wait", min=0.0, help="Seconds to wait for another writer.")
]


def open_palace(ctx: typer.Context) -> Palace:
    """Open the palace that ``-C``, ``PALACE_ROOT`` or the working folder names."""
    return Palace.discover(ctx.obj or Path.cwd())


def read_input(file: str, *, hint: str = "") -> str:
    """Return the text of a file, ``-`` being standard input."""
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text("utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {file}{hint}") from error

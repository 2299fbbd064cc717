"""Options that several verbs share, declared once."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, TypeAlias, get_args

import typer

from memory_palace.cli.when import parse_moment
from memory_palace.errors import UsageError
from memory_palace.models import Filters, Priority
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
    root: Path | None = ctx.obj
    return Palace.discover(Path.cwd()) if root is None else Palace.discover(root.resolve())


def read_input(file: str, *, hint: str = "") -> str:
    """Return the text of a file, ``-`` being standard input."""
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text("utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {file}{hint}") from error


def make_filters(
    *,
    type: str | None,
    priority: str | None,
    room: str | None,
    since: str | None,
    until: str | None,
) -> Filters:
    """Check the filter options and turn dates into moments."""
    level = priority.lower() if priority is not None else None
    if level is not None and level not in get_args(Priority):
        raise UsageError(f"priority is high, medium or low, not {priority!r}")
    now = time.time()
    return Filters(
        type=type,
        priority=level,  # type: ignore[arg-type]
        room=room,
        since=parse_moment(since, now=now) if since else None,
        until=parse_moment(until, now=now, end_of_day=True) if until else None,
    )

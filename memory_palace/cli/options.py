"""Options and arguments that several verbs share, declared once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from memory_palace.errors import UsageError
from memory_palace.palace import Palace

Note: TypeAlias = Annotated[str, typer.Argument(help="Path, file name, title or alias of a note.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
JsonLines: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object per line.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("-q", "--quiet", help="Print only errors.")]
Limit: TypeAlias = Annotated[
    int, typer.Option("-k", "--top-k", min=1, help="Maximum number of results.")
]
Type: TypeAlias = Annotated[str | None, typer.Option("-t", "--type", help="Only this note type.")]
PriorityName: TypeAlias = Annotated[
    str | None, typer.Option("-p", "--priority", help="Only this priority: high, medium or low.")
]
Room: TypeAlias = Annotated[str | None, typer.Option("--room", help="Only notes in this room.")]
Since: TypeAlias = Annotated[
    str | None,
    typer.Option("--since", help="Only notes from this date on: a date, 30d, 2w, 6m or 1y."),
]
Until: TypeAlias = Annotated[
    str | None, typer.Option("--until", help="Only notes up to this date.")
]
AsOf: TypeAlias = Annotated[
    str | None, typer.Option("--as-of", help="Answer as if today were this date.")
]
IncludeCold: TypeAlias = Annotated[
    bool, typer.Option("--include-cold", help="Search archive_basement as well.")
]
Budget: TypeAlias = Annotated[
    int | None, typer.Option("--budget", min=1, help="Maximum size of the text, in UTF-8 bytes.")
]
Wait: TypeAlias = Annotated[
    float, typer.Option("--wait", min=0.0, help="Seconds to wait for another writer to finish.")
]
Apply: TypeAlias = Annotated[
    bool, typer.Option("--apply", help="Make the change; without this it is only shown.")
]
AllowUncommitted: TypeAlias = Annotated[
    bool, typer.Option("--allow-uncommitted", help="Change notes with uncommitted edits as well.")
]
Model: TypeAlias = Annotated[
    str | None, typer.Option("--model", help="Model of the llm library that does the writing.")
]
Words: TypeAlias = Annotated[
    bool, typer.Option("--words", help="Compare words only, without a model.")
]
Tags: TypeAlias = Annotated[list[str] | None, typer.Option("--tag", help="Tag; repeatable.")]


def open_palace(ctx: typer.Context) -> Palace:
    """Open the palace that ``-C``, ``PALACE_ROOT`` or the working folder names."""
    return Palace.discover(ctx.obj or Path.cwd())


def read_input(file: str, *, hint: str = "") -> str:
    """Return the text of a file; ``-`` is standard input."""
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text("utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {file}{hint}") from error

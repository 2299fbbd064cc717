"""Options and arguments that several verbs share, declared once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option

from memory_palace.errors import UsageError
from memory_palace.palace import Palace

Note = Annotated[str, Argument(help="Path, file name, title or alias of a note.")]
Json = Annotated[bool, Option("--json", help="Print one JSON object.")]
JsonLines = Annotated[bool, Option("--json", help="Print one JSON object per line.")]
Quiet = Annotated[bool, Option("-q", "--quiet", help="Print only errors.")]
Limit = Annotated[int, Option("-k", "--top-k", min=1, help="Maximum number of results.")]
Type = Annotated[str | None, Option("-t", "--type", help="Only this note type.")]
PriorityName = Annotated[
    str | None, Option("-p", "--priority", help="Only this priority: high, medium or low.")
]
Room = Annotated[str | None, Option("--room", help="Only notes in this room.")]
Since = Annotated[
    str | None, Option("--since", help="Only notes from this date on: a date, 30d, 2w, 6m or 1y.")
]
Until = Annotated[str | None, Option("--until", help="Only notes up to this date.")]
AsOf = Annotated[str | None, Option("--as-of", help="Answer as if today were this date.")]
IncludeCold = Annotated[bool, Option("--include-cold", help="Search archive_basement as well.")]
Budget = Annotated[
    int | None, Option("--budget", min=1, help="Maximum size of the text, in UTF-8 bytes.")
]
Wait = Annotated[
    float, Option("--wait", min=0.0, help="Seconds to wait for another writer to finish.")
]
Apply = Annotated[bool, Option("--apply", help="Make the change; without this it is only shown.")]
AllowUncommitted = Annotated[
    bool, Option("--allow-uncommitted", help="Change notes with uncommitted edits as well.")
]
Model = Annotated[
    str | None, Option("--model", help="Model of the llm library that does the writing.")
]
Words = Annotated[bool, Option("--words", help="Compare words only, without a model.")]
Prices = Annotated[
    str | None, Option("--prices", help="Price per million tokens in and out, such as 0.10,0.40.")
]
Tags = Annotated[list[str] | None, Option("--tag", help="Tag; repeatable.")]


def open_palace(ctx: Context) -> Palace:
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

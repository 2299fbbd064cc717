"""``palace new``."""

from __future__ import annotations

import os
import select
import stat
import sys
from typing import Annotated, Any

from typer import Argument, Context, Option

from memory_palace.changes.new_notes import NewNote, make_note
from memory_palace.cli.options import Json, Tags, completed, folders_below, open_palace, read_text
from memory_palace.cli.printing import print_answer, say

_WAIT_SECONDS = 2.0
"""For the first byte of a pipe: one that nobody writes to is left alone after that."""


def new_note(
    ctx: Context,
    title: Annotated[str, Argument(help="Title of the note; its file is named after it.")],
    room: Annotated[
        str | None,
        Option(
            "--room",
            help="Room, or a folder in one: project_rooms/station.",
            autocompletion=completed("rooms"),
        ),
    ] = None,
    folder: Annotated[
        str | None,
        Option("--in", help="Any folder of the notes.", autocompletion=completed("folders")),
    ] = None,
    type: Annotated[
        str | None, Option("-t", "--type", help="Type of the note; the room's by default.")
    ] = None,
    priority: Annotated[str | None, Option("-p", "--priority", help="high, medium or low.")] = None,
    tag: Tags = None,
    body: Annotated[
        str | None, Option("--body", help="Text of the note; - waits for stdin to end.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Create a note with front matter and print its path. No file is ever overwritten.

    It goes to project_rooms; where no folder is that room, to the top of the notes. What is piped
    in is its text.

    Example: palace new "Rain gauge drifts in frost" --room project_rooms/station -p high
    """
    palace = open_palace(ctx)
    folders = folders_below(palace, [folder] if folder is not None else None)
    where = {"room": room, "folder": folders[0] if folders else None}
    given = {"type": type, "priority": priority, **where}
    text = _read_body(body, palace.config.max_note_bytes)
    done = make_note(palace, title, body=text, tags=tag or (), **given)
    print_answer(_record(done), [done.path], as_json=as_json)
    for problem in done.withheld:
        say(f"line {problem.line} was not written: {problem.message}")


def _read_body(body: str | None, most: int) -> str:
    """Return what is to stand in the note; without ``--body`` what is piped in, if anything is."""
    if body is not None and body != "-":
        return body
    if body is None and not _is_piped():
        return ""
    return read_text(None, most=most)


def _is_piped() -> bool:
    """Whether standard input is for us: text is in it, or its writer has ended.

    A program may leave it open and never write; a loop may read the same file, line by line.
    """
    if sys.stdin is None or sys.stdin.isatty():
        return False
    try:
        number = sys.stdin.fileno()
        kind = os.fstat(number).st_mode
    except (OSError, ValueError):
        return True  # it is no file, and holds what it holds
    if stat.S_ISREG(kind):
        return os.lseek(number, 0, os.SEEK_CUR) == 0
    if not stat.S_ISFIFO(kind) and not stat.S_ISSOCK(kind):
        return False
    if not select.select([number], [], [], _WAIT_SECONDS)[0]:
        say(f"nothing came from stdin in {_WAIT_SECONDS:.0f} s; `--body -` waits for it")
        return False
    return True


def _record(done: NewNote) -> dict[str, Any]:
    return {
        "path": done.path,
        "line": 1,
        "last_line": done.last_line,
        "indexed": done.is_indexed,
        "remark": done.remark or None,
        "withheld": [{"line": one.line, "why": one.message} for one in done.withheld],
    }

"""``palace show``, ``palace new`` and ``palace undo``."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from typer import Argument, Option

from memory_palace.changes.changing import ChangeEntry, Outcome
from memory_palace.changes.composing import make_note
from memory_palace.changes.journal import find_undone
from memory_palace.cli.group import (
    Apply,
    Group,
    IncludeCold,
    Tags,
    completed,
    folders_below,
    note_below,
    read_text,
)
from memory_palace.notes.note import Unwritten, split_line_range
from memory_palace.palace import Palace
from memory_palace.shown import Shown, say
from memory_palace.system import wait_for_input

verbs = Group()
_WAIT_SECONDS = 2.0
"""Wait for the first byte of a pipe, which is ignored if none comes."""


@dataclass(frozen=True, slots=True)
class NoteShown(Shown):
    """Lines of a note."""

    path: str
    first_line: int
    last_line: int
    total_lines: int
    text: str

    def lines(self) -> Iterable[str]:
        return [self.text]


@verbs.verb("show")
def show(
    palace: Palace,
    note: Annotated[
        str,
        Argument(
            help="Path, file name, slug, title or alias; add :10 or :10-20 for lines.",
            autocompletion=completed("notes"),
        ),
    ],
    include_cold: IncludeCold = False,
) -> NoteShown:
    """Print a note, or some of its lines.

    Example: palace show "control_panel:1-20"
    """
    name, first, last = split_line_range(note_below(palace, note))
    found = palace.read(name, first_line=first, last_line=last, include_cold=include_cold)
    return NoteShown(found.path, found.first_line, found.last_line, found.total_lines, found.text)


@dataclass(frozen=True, slots=True)
class NoteMade(Shown):
    """A note that was made."""

    path: str
    line: int
    last_line: int
    indexed: bool
    remark: str | None
    """Why the index does not hold it; null where it does."""
    withheld: tuple[Unwritten, ...]

    def lines(self) -> Iterable[str]:
        return [self.path]

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        return map(str, self.withheld)


@verbs.verb("new")
def new(
    palace: Palace,
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
) -> NoteMade:
    """Create a note with front matter and print its path. No file is ever overwritten.

    It goes to project_rooms; where no folder is that room, to the top of the notes. What is piped
    in is its text.

    Example: palace new "Rain gauge drifts in frost" --room project_rooms/station -p high
    """
    folders = folders_below(palace, [folder] if folder is not None else None)
    where = {"room": room, "folder": folders[0] if folders else None}
    given = {"type": type, "priority": priority, **where}
    text = _read_body(body, palace.config.max_note_bytes)
    done = make_note(palace, title, body=text, tags=tag or (), **given)
    return NoteMade(
        done.path, 1, done.last_line, done.is_indexed, done.remark or None, done.withheld
    )


def _read_body(body: str | None, most: int) -> str:
    """Return the text of the note: ``--body``, else piped input, else empty."""
    if body is not None and body != "-":
        return body
    if body is None and not _is_piped():
        return ""
    return read_text(None, most=most)


def _is_piped() -> bool:
    """Whether standard input has text for the note, or is at its end.

    A pipe may stay open without being written to; a partly read file may be a shell loop's input.
    """
    if sys.stdin is None or sys.stdin.isatty():
        return False
    try:
        number = sys.stdin.fileno()
        kind = os.fstat(number).st_mode
    except (OSError, ValueError):
        return True  # not a file: its text is available
    if stat.S_ISREG(kind):
        return os.lseek(number, 0, os.SEEK_CUR) == 0
    if not stat.S_ISFIFO(kind) and not stat.S_ISSOCK(kind):
        return False
    if not wait_for_input(number, _WAIT_SECONDS):
        say(f"nothing came from stdin in {_WAIT_SECONDS:.0f} s; `--body -` waits for it")
        return False
    return True


@dataclass(frozen=True, slots=True)
class ChangesShown(Shown):
    """The log of changes."""

    changes: tuple[ChangeEntry, ...]

    def lines(self) -> Iterable[str]:
        return (one.name + "  undone" * (one.undone is True) for one in self.changes)


@verbs.verb("undo")
def undo(
    palace: Palace,
    identity: Annotated[
        str | None, Argument(metavar="ID", help="Id of a change; the last one by default.")
    ] = None,
    listed: Annotated[bool, Option("--list", help="List the changes with their ids.")] = False,
    apply: Apply = False,
) -> Outcome | ChangesShown:
    """Show the last change that any verb made to the notes, and take it back with --apply.

    Every byte and folder comes back. Where a file was edited since, it is named and nothing is
    changed.

    Example: palace undo --apply
    """
    if not listed:
        return palace.changes.undo(identity=identity, apply=apply)
    log = palace.changes.log()
    undone = find_undone(log)
    return ChangesShown(tuple(ChangeEntry.of(o, undone=o.identity in undone) for o in log))

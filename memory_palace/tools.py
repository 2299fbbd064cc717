"""Hook of agents: the tools that they call, and the lines of a session's first page.

``memory_palace.table.TOOLS`` names the tools, typed functions from a palace to an answer. The
docstring is all that an agent is told of a tool. Its parameters are texts, lists of texts, numbers
or flags; ``Annotated`` gives their descriptions and bounds. ``agent`` is the name of the caller;
only tools that write have it. ``PAGE`` names functions from a palace to lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_palace.notes.document import Document, parse_document
from memory_palace.notes.note import NoteUnreadable, read_note
from memory_palace.palace import Palace


@dataclass(frozen=True, slots=True)
class Between:
    """The bounds of a number."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Said:
    """The parts of a tool's answer, in order of output."""

    place: str = ""
    """``path:lines``"""
    lines: Sequence[str] = ()
    remarks: Sequence[str] = ()
    """Messages; the commands that they name are replaced by tools for agents."""
    text: Sequence[str] = ()
    """Lines of notes, which are put into a fence."""
    cut: str = ""
    """How to see the rest of a text that is cut."""


def shorten(text: str, most: int) -> str:
    """Return a text on one line, cut between words to ``most`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rpartition(' ')[0] or line[:most]} …"


def newest_in(palace: Palace, place: str, *, but: tuple[str, ...] = ()) -> list[str]:
    """Return the paths of the indexed notes in a place such as ``conflict_room/``, newest first."""
    snapshot = palace.snapshot()
    room = place.partition("/")[0]
    found = []
    for n, path in enumerate(snapshot.paths):
        if snapshot.rooms[n] == room:
            at = snapshot.room_map.place_of(path)
            if at.startswith(place) and not at.startswith(but):
                found.append((-float(snapshot.told_dates[n]), path))
    return [path for _, path in sorted(found)]


def read_now(palace: Palace, paths: Sequence[str]) -> Iterator[Document]:
    """Yield the current notes at paths; missing, private and unreadable ones are skipped."""
    for path in paths:
        try:
            data, _ = read_note(palace.paths, path, limit_bytes=palace.config.max_note_bytes)
        except (OSError, NoteUnreadable):
            continue
        if document := parse_document(path, data, rooms=palace.paths.rooms):
            yield document

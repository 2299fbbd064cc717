"""The hook of agents: tools that they call, and lines of the page that a session begins with.

``memory_palace.table.TOOLS`` names the tools, each a typed function from a palace to what it says.
Its docstring is all that an agent is told of it. A parameter is an argument: text, texts, a number
or a flag; ``Annotated`` gives its description and the bounds of a number. A parameter ``agent`` is
who asks, and only tools that write have it. ``PAGE`` names functions from a palace to lines.
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
    """The answer of a tool, from its first line to its last."""

    place: str = ""
    """``path:lines``"""
    lines: Sequence[str] = ()
    remarks: Sequence[str] = ()
    """Messages that may name commands; agents are told of tools instead."""
    text: Sequence[str] = ()
    """Lines of notes, which are put into a fence."""
    cut: str = ""
    """What to do to see the rest, where the text is too long."""


def shorten(text: str, most: int) -> str:
    """Return a text on one line of at most so many characters, cut between words."""
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
    """Yield notes as they are now; one that is gone, private or cannot be read is left out."""
    for path in paths:
        try:
            data, _ = read_note(palace.paths, path, limit_bytes=palace.config.max_note_bytes)
        except (OSError, NoteUnreadable):
            continue
        if document := parse_document(path, data, rooms=palace.paths.rooms):
            yield document

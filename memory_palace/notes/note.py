"""A note that was parsed, the passages it is cut into, and its name, room and type by its path."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

from memory_palace.config import ROOMS, PalacePaths, Rooms
from memory_palace.models import ALWAYS, Link, NoteDate, Priority, Problem, Validity

Days: TypeAlias = tuple[date, date]
"""The first and the last day of a span."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a note: the unit that is embedded, scored and shown."""

    heading_path: tuple[str, ...]
    """Headings above the passage, outermost first; the note's own title is not repeated."""
    first_line: int
    last_line: int
    """1-based, inclusive, counted in the file as stored; 0 of what is no passage."""
    text: str
    """The passage itself, as written (private and secret lines blanked)."""
    embed_text: str
    """The text for the embedder: title and headings, then the passage, without the times of turns.
    Never the file name."""
    digest: str
    """SHA-256 of ``embed_text``, hexadecimal: the key under which its vector is kept."""
    validity: Validity = ALWAYS
    """Of a claim that a line below it says is superseded; the note may hold longer."""


@dataclass(frozen=True, slots=True)
class Note:
    """One parsed Markdown file. ``type`` and ``priority`` are what its front matter says."""

    path: str
    digest: str
    """SHA-256 of the bytes as stored, hexadecimal."""
    title: str
    """Front matter ``title``, else the first ``#`` heading, else the file's stem."""
    type: str | None = None
    priority: Priority | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    days: tuple[Days, ...] = ()
    """The days that the note names as its own, the most telling first; two at most."""
    yearless: date | None = None
    """A day of any year, where its name gives no more."""
    date: NoteDate | None = None
    """From front matter or file name; ``None`` where git or mtime has to say."""
    validity: Validity = ALWAYS
    is_evergreen: bool = False
    """Front matter ``evergreen: true``: recency does not decay."""
    is_private: bool = False
    """Front matter ``private: true``: the note has no chunks, title or links."""
    body: str = ""
    """The text after the front matter, lines kept, private spans and secrets blanked."""
    body_first_line: int = 1
    chunks: tuple[Chunk, ...] = ()
    originals: tuple[str, ...] = ()
    """Stems of the notes that say all it says, word for word."""
    talkers: frozenset[str] = frozenset()
    """The people who take turns in it, casefolded."""
    questions: tuple[Chunk, ...] = ()
    """Questions of its front matter, a chunk each: they are searched, and never shown."""
    problems: tuple[Problem, ...] = ()


OUTSIDE = "note"
"""Type of a note that lies in none of the seven rooms."""


def default_type(rooms: Rooms, path: str) -> str:
    """Return the type of a note that neither itself nor the manifest names."""
    room = rooms.room_of(path)
    return ROOMS[room] if room else OUTSIDE


def is_cold_path(paths: PalacePaths, path: str) -> bool:
    """Whether a root-relative path is cold, links followed, whether or not it exists."""
    home = paths.notes.resolve()
    resolved = (paths.root / path).resolve()
    if not resolved.is_relative_to(home):
        return False
    return paths.rooms.is_archived(paths.prefix + resolved.relative_to(home).as_posix())


def stem_of(target: str) -> str:
    """Return the file name without ``.md`` or ``.markdown``, of a path or of what a link names."""
    name = target.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    return stem if suffix.lower() in ("md", "markdown") else name

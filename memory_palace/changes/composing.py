"""Compose what a change writes: the path of a new note, its text, new fields of an old one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType

from memory_palace.changes.operations import Create, Replace
from memory_palace.config import PalacePaths, Rooms
from memory_palace.errors import RoomNotMappedError, UsageError
from memory_palace.notes.document import Document
from memory_palace.notes.frontmatter import set_fields, write_front_matter
from memory_palace.notes.sections import read_section, replace_section
from memory_palace.retrieval.filters import check_room

_UNSAFE = re.compile(r'[\x00-\x1f/\\:*?"<>|#^\[\]]+')
_LONGEST_SLUG = 60
_SUFFIX = ".md"
_LONGEST_NAME = 255
"""Bytes of a file's name that every file system in use takes."""
_UNDECIDED = re.compile(r"\A(?:Open|Pending\. A person decides)\.\s*")


def note_path(rooms: Rooms, title: str, *, room: str) -> str:
    """Return where a note of this title belongs, relative to the root.

    ``room`` may name a folder inside one. Raise ``UsageError`` where the title leaves nothing to
    name a file by, and ``RoomNotMappedError`` where no folder is the room.
    """
    return rooms.path_of(f"{room}/{file_name(title)}")


def place_note(paths: PalacePaths, title: str, *, room: str | None, folder: str | None) -> str:
    """Return where a new note belongs: in a room, in a folder, or where notes of no room go.

    Raise ``UsageError`` for an unknown room, and for a room and a folder at once.
    """
    if room is not None and folder is not None:
        raise UsageError("give a room or a folder, not both")
    if room is not None:
        check_room(room.partition("/")[0])
        return note_path(paths.rooms, title, room=room)
    if folder is None:
        try:
            return note_path(paths.rooms, title, room="project_rooms")
        except RoomNotMappedError:
            folder = ""
    inside = folder.removeprefix(paths.prefix).rstrip("/")
    return (
        f"{paths.prefix}{inside}/{file_name(title)}" if inside else paths.prefix + file_name(title)
    )


def file_name(title: str) -> str:
    """Return the name of a file for a note of this title; raise ``UsageError`` as above."""
    name = " ".join(_UNSAFE.sub(" ", title).split()).strip(". ")
    if not name:
        raise UsageError(f"a file cannot be named after {title!r}; give it a title with letters")
    return f"{_shorten(name)}{_SUFFIX}"


def _shorten(name: str) -> str:
    """Cut a name to the bytes that a file system takes, between characters.

    A digest of the whole stands for what is cut off, so that two long titles name two files.
    """
    data, most = name.encode("utf-8", "replace"), _LONGEST_NAME - len(_SUFFIX)
    if len(data) <= most:
        return name
    digest = sha256(data).hexdigest()[:8]
    return f"{data[: most - len(digest) - 1].decode('utf-8', 'ignore').rstrip('. ')} {digest}"


def make_slug(title: str) -> str:
    """Return a title in small letters, digits and hyphens; letters of any script are letters.

    Raise ``UsageError`` where nothing is left.
    """
    words = re.findall(r"\w+", unicodedata.normalize("NFC", title).casefold().replace("_", " "))
    slug = "-".join(words)[:_LONGEST_SLUG].strip("-")
    if not slug:
        raise UsageError(f"a file cannot be named after {title!r}; give it a title with letters")
    return slug


def one_line(text: str, what: str) -> str:
    """Return a text on one line; raise ``UsageError`` naming ``what`` where it is blank."""
    found = " ".join(text.split())
    if not found:
        raise UsageError(f"{what} is empty")
    return found


def compose_note(
    path: str,
    title: str,
    fields: Mapping[str, object],
    sections: Mapping[str, str] = MappingProxyType({}),
    *,
    lead: str = "",
    source: str = "",
) -> Create:
    """Return a new note: fields, the title as its heading, a section for each name and text.

    ``lead`` stands above the sections. ``source`` is the stem of the note this one was made from;
    the last line links to it.
    """
    parts = [f"{write_front_matter(fields)}# {title}\n"]
    parts += [f"{lead}\n"] if lead else []
    parts += [f"## {name}\n\n{text}\n" for name, text in sections.items()]
    parts += [f"From [[{source}]].\n"] if source else []
    return Create(path, "\n".join(parts).encode())


def edit_fields(document: Document, values: Mapping[str, object]) -> Replace:
    """Return the change of some fields of a note; ``None`` drops a field."""
    after = set_fields(document.path, document.data, values)
    return Replace(document.path, document.data, after)


def record_decision(path: str, data: bytes, words: str) -> bytes:
    """Put a decision below the heading of that name, above what stands there: it is kept.

    What a form says until somebody decides is dropped.
    """
    old = (read_section(path, data, "Decision") or "").strip()
    rest = _UNDECIDED.sub("", old, count=1).strip()
    return replace_section(path, data, "Decision", f"{words}\n\n{rest}" if rest else words)


def fence_text(text: str, language: str = "") -> str:
    """Show a text in a fence longer than any in it: text of a note is data."""
    longest = max(map(len, re.findall(r"`+|~+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"

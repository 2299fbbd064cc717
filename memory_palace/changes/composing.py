"""Compose the path and text of a new note, and new fields or lines of an existing one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType

from memory_palace.changes.changing import (
    WAIT_SECONDS,
    find_note,
    index_note,
    read_notes,
    today,
    write_file,
)
from memory_palace.changes.journal import Create, Replace, check_inside
from memory_palace.config import Config, PalacePaths, Rooms
from memory_palace.errors import IndexMissingError, RoomNotMappedError, UsageError
from memory_palace.graph.naming import NoteNames
from memory_palace.notes.discovery import SUFFIXES
from memory_palace.notes.document import (
    Document,
    append_text,
    read_section,
    replace_section,
    set_fields,
)
from memory_palace.notes.frontmatter import split_front_matter, write_front_matter
from memory_palace.notes.note import (
    Unwritten,
    clean_text,
    is_cold_path,
    leave_out,
    split_line_range,
)
from memory_palace.palace import Palace
from memory_palace.retrieval.question import check_priority, check_room
from memory_palace.system import read_file

_UNSAFE = re.compile(r'[\x00-\x1f/\\:*?"<>|#^\[\]]+')
_DEVICE = re.compile(
    r"\A(con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?=\s*(?:\.|$))", re.I
)
"""Stem of a name that is a device on Windows, whatever its suffix."""
_LONGEST_SLUG = 60
_SUFFIX = ".md"
_LONGEST_NAME, _LONGEST_UTF16 = 255, 140
"""Maximum bytes of a file name on the common file systems, and its maximum UTF-16 units: Windows
allows 260 for a whole path, and 120 are left for the folder and the suffix of a temporary."""
_UNDECIDED = re.compile(r"\A(?:Open|Pending\. A person decides)\.\s*")


INBOX = "Inbox"
"""The default inbox folder, if no folder is mapped to the chambers."""


def note_path(rooms: Rooms, title: str, *, room: str) -> str:
    """Return the path of a new note with this title, relative to the root.

    ``room`` may be a folder below a room. Raise ``UsageError`` for a title without a usable
    character, and ``RoomNotMappedError`` for a room without a folder.
    """
    return rooms.path_of(f"{room}/{file_name(title)}")


def place_note(paths: PalacePaths, title: str, *, room: str | None, folder: str | None) -> str:
    """Return the path of a new note: in a room, in a folder, or in the default place.

    Raise ``UsageError`` for an unknown room, and for both a room and a folder.
    """
    if room is not None and folder is not None:
        raise UsageError("give a room or a folder, not both")
    if room is not None:
        check_room(room.partition("/")[0])
    if folder is None:
        try:
            return note_path(paths.rooms, title, room=room or "project_rooms")
        except RoomNotMappedError:
            if room is not None:
                raise
    inside = (folder or "").removeprefix(paths.prefix).rstrip("/")
    return f"{paths.prefix}{inside and f'{inside}/'}{file_name(title)}"


def common_inbox(paths: PalacePaths, config: Config) -> str:
    """Return the inbox folder of agents without a chamber, relative to the root."""
    if config.inbox is not None:
        return f"{paths.prefix}{config.inbox}"
    try:
        return f"{paths.rooms.folder_of('chambers')}/inbox"
    except RoomNotMappedError:
        return f"{paths.prefix}{INBOX}"


def file_name(title: str) -> str:
    """Return the file name of a note with this title; raise ``UsageError`` if it is empty."""
    if name := make_safe(title):
        return f"{name}{_SUFFIX}"
    raise UsageError(f"a file cannot be named after {title!r}; give it a title with letters")


def make_safe(text: str) -> str:
    """Return a text as the stem of a file name, or a folder's name, that every system takes.

    Of a longer one a digest replaces the end, so that two long titles give two names.
    """
    name = " ".join(_UNSAFE.sub(" ", text).split()).strip(". ")
    name = _DEVICE.sub(r"\1_", name)
    for encoding, most in (("utf-8", _LONGEST_NAME), ("utf-16-le", 2 * _LONGEST_UTF16)):
        data, room = name.encode(encoding, "replace"), most - len(_SUFFIX.encode(encoding))
        if len(data) > room:
            mark = f" {sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"
            kept = data[: room - len(mark.encode(encoding))].decode(encoding, "ignore")
            name = f"{kept.rstrip('. ')}{mark}"
    return name


def make_slug(title: str) -> str:
    """Return a title as a slug of lower-case letters of any script, digits and hyphens.

    Raise ``UsageError`` if nothing is left.
    """
    words = re.findall(r"\w+", unicodedata.normalize("NFC", title).casefold().replace("_", " "))
    slug = "-".join(words)[:_LONGEST_SLUG].strip("-")
    if not slug:
        raise UsageError(f"a file cannot be named after {title!r}; give it a title with letters")
    return make_safe(slug)


def one_line(text: str, what: str) -> str:
    """Return a text on one line; raise ``UsageError`` naming ``what`` if it is blank."""
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
    """Return a new note: front matter, the title as heading, a section per name and text.

    ``lead`` precedes the sections. ``source`` is the stem of the note that this one was made from;
    the last line links to it.
    """
    parts = [f"{write_front_matter(fields)}# {title}\n"]
    parts += [f"{lead}\n"] if lead else []
    parts += [f"## {name}\n\n{text}\n" for name, text in sections.items()]
    parts += [f"From [[{source}]].\n"] if source else []
    return Create(path, "\n".join(parts).encode())


def edit_fields(document: Document, values: Mapping[str, object]) -> Replace:
    """Return the change of some front matter fields of a note; ``None`` drops a field."""
    after = set_fields(document.path, document.data, values)
    return Replace(document.path, document.data, after)


def record_decision(path: str, data: bytes, words: str) -> bytes:
    """Return a note with a decision at the start of its section "Decision", whose text is kept.

    The placeholder of a form for an open decision is dropped.
    """
    old = (read_section(path, data, "Decision") or "").strip()
    rest = _UNDECIDED.sub("", old, count=1).strip()
    return replace_section(path, data, "Decision", f"{words}\n\n{rest}" if rest else words)


@dataclass(frozen=True, slots=True)
class Appended:
    """Text that was added to a note, or a new note."""

    path: str
    line: int
    last_line: int
    """Of the text in the note, 1-based and inclusive."""
    withheld: tuple[Unwritten, ...]
    """What was not written, by line of the text as given: lines with secrets, private spans."""
    remark: str
    """Why the index does not contain it; empty if it does."""
    made: str | None = None
    """The heading that was created for it, if it was missing."""

    @property
    def is_indexed(self) -> bool:
        """Whether the index contains it."""
        return not self.remark


def append_to_note(palace: Palace, note: str, text: str, *, under: str | None = None) -> Appended:
    """Append a text to a note, or to its section ``under``, and index it.

    The note is named by path, stem, title or alias. A section ends at the next heading of its level
    or above; a missing one is created at level two. Lines with secrets and private spans are left
    out. Every other byte of the note stays. Raise ``UsageError`` for an archived or private note,
    and for a text that would be hidden or change existing sections, ``CheckFailedError`` if nothing
    of it may be written.
    """
    clean, withheld = leave_out(clean_text(text))
    path = find_file(palace, note)
    before = read_file(palace.paths.root / path)  # raise before taking the lock
    done = append_text(path, before, clean, under=under)

    def write() -> Replace:
        nonlocal done
        data = (palace.paths.root / path).read_bytes()
        done = append_text(path, data, clean, under=under)
        most = palace.config.max_note_bytes
        if len(done.data) > most:
            raise UsageError(f"{path} would be larger than max_note_bytes ({most:,}); split it")
        return Replace(path, data, done.data)

    write_file(palace, write, command="append")
    remark = index_note(palace, path, wait_seconds=WAIT_SECONDS)
    return Appended(path, done.line, done.last_line, withheld, remark, done.made)


def find_file(palace: Palace, name: str) -> str:
    """Return the path of a note to be changed, by any of its names.

    Lines behind it, as in ``path:3-9``, are ignored. A note that is not indexed yet is found by its
    path. Raise ``UsageError`` for an unknown, ambiguous or archived note.
    """
    bare = split_line_range(name)[0]
    path = _find_path(palace, name) or _find_path(palace, bare) or _find_named(palace, bare)
    check_inside(palace.paths, path)
    if is_cold_path(palace.paths, path):
        raise UsageError(f"{path} is archived; `palace metabolism restore` brings it back")
    return path


def _find_path(palace: Palace, name: str) -> str | None:
    """Return the path of a note's file, given relative to the root or the notes, or ``None``."""
    for path in (name, f"{palace.paths.prefix}{name}"):
        with suppress(UsageError, OSError):
            check_inside(palace.paths, path)
            if path.lower().endswith(SUFFIXES) and (palace.paths.root / path).is_file():
                return path
    return None


def _find_named(palace: Palace, name: str) -> str:
    try:
        return NoteNames.from_snapshot(palace.snapshot()).find(name)
    except UsageError as error:
        with suppress(UsageError):
            return NoteNames.from_snapshot(palace.snapshot(include_cold=True)).find(name)
        raise error from None
    except IndexMissingError:
        return find_note(read_notes(palace), name).path


def make_note(
    palace: Palace,
    title: str,
    *,
    body: str = "",
    room: str | None = None,
    folder: str | None = None,
    type: str | None = None,
    priority: str | None = None,
    tags: Sequence[str] = (),
) -> Appended:
    """Create a note and update an existing index; see ``Palace.new``."""
    path = place_note(palace.paths, title, room=room, folder=folder)
    level = check_priority(priority) if priority is not None else None
    text, withheld = leave_out(clean_text(body)) if body.strip() else ("", ())
    matter = split_front_matter(f"{text}\n")
    if matter.end or matter.error:
        raise UsageError("the body begins with front matter; give the fields as options")
    given = {"type": type, "priority": level, "tags": list(tags)}
    fields: dict[str, object] = {"title": title, "date": today()}
    fields |= {key: value for key, value in given.items() if value}
    if text.startswith("# "):  # it has its heading
        note = Create(path, f"{write_front_matter(fields)}{text}\n".encode())
    else:
        note = compose_note(path, title, fields, lead=text)
    most = palace.config.max_note_bytes
    if len(note.after) > most:
        raise UsageError(f"the note would be larger than max_note_bytes ({most:,}); split it")
    write_file(palace, lambda: note, command="new")
    remark = "it is not indexed yet; run `palace index`"
    if palace.paths.commit.exists():
        remark = index_note(palace, path, wait_seconds=WAIT_SECONDS)
    return Appended(path, 1, note.after.count(b"\n"), withheld, remark)

"""What is written at once, for it was asked for: one note, then the index, then the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

from memory_palace.changes.changing import WAIT_SECONDS, find_note, read_notes, today, write_file
from memory_palace.changes.composing import compose_note, place_note
from memory_palace.changes.operations import Create, Replace, check_inside
from memory_palace.engine import Engine
from memory_palace.errors import IndexMissingError, PalaceError, UsageError
from memory_palace.graph.naming import NoteNames
from memory_palace.models import Problem
from memory_palace.notes.discovery import SUFFIXES, discover_notes
from memory_palace.notes.excerpt import split_line_range
from memory_palace.notes.frontmatter import set_fields, split_front_matter
from memory_palace.notes.rooms import is_cold_path
from memory_palace.notes.sections import append_text, clean_text
from memory_palace.notes.withholding import leave_out
from memory_palace.retrieval.filters import check_priority

MOST_UNINDEXED = 200
"""A palace without an index gets one of up to so many notes: more take more than a moment."""


@dataclass(frozen=True, slots=True)
class Appended:
    """Text that was added to a note."""

    path: str
    line: int
    last_line: int
    """Of the text in the note, 1-based and inclusive."""
    made: str | None
    """The heading that was made for it, where there was none of that name."""
    withheld: tuple[Problem, ...]
    """What was not written, by line of the text as given: lines with secrets, private spans."""
    is_indexed: bool
    remark: str
    """Why the index does not hold it, where it does not."""


def append_to_note(engine: Engine, note: str, text: str, *, under: str | None = None) -> Appended:
    """Add a text at the end of a note, or of its section ``under``, and index it.

    The note is named by path, stem, title or alias. A section ends at the next heading of its level
    or above; one that is missing is made, of level two. Lines with secrets and private spans are
    not written. Every other byte of the note stays. Raise ``UsageError`` for an archived or private
    note, and for a text that would be hidden or would change what stands there.
    """
    clean, withheld = leave_out(clean_text(text))
    path = find_file(engine, note)
    before = (engine.paths.root / path).read_bytes()  # what cannot be done is refused unlocked
    done = append_text(path, before, clean, under=under)

    def write() -> Replace:
        nonlocal done
        data = (engine.paths.root / path).read_bytes()
        done = append_text(path, data, clean, under=under)
        most = engine.config.max_note_bytes
        if len(done.data) > most:
            raise UsageError(f"{path} would be larger than max_note_bytes ({most:,}); split it")
        return Replace(path, data, done.data)

    write_file(engine, write, command="append")
    remark = index_note(engine, path, wait_seconds=WAIT_SECONDS)
    return Appended(path, done.line, done.last_line, done.made, withheld, not remark, remark)


def find_file(engine: Engine, name: str) -> str:
    """Return the path of the note that may be changed and is called ``name``.

    It may be named as an answer does, with lines: ``path:3-9``. A note that is not indexed yet is
    found by its path. Raise ``UsageError`` where there is none, several, or one that is archived.
    """
    bare = split_line_range(name)[0]
    path = _find_path(engine, name) or _find_path(engine, bare) or _find_named(engine, bare)
    check_inside(engine.paths, path)
    if is_cold_path(engine.paths, path):
        raise UsageError(f"{path} is archived; `palace metabolism restore` brings it back")
    return path


def _find_path(engine: Engine, name: str) -> str | None:
    """Return the path of a file of the notes that is named by it, from the root or the notes."""
    for path in (name, f"{engine.paths.prefix}{name}"):
        with suppress(UsageError, OSError):
            check_inside(engine.paths, path)
            if path.lower().endswith(SUFFIXES) and (engine.paths.root / path).is_file():
                return path
    return None


def _find_named(engine: Engine, name: str) -> str:
    try:
        return NoteNames.from_snapshot(engine.snapshot()).find(name)
    except UsageError as error:
        with suppress(UsageError):
            return NoteNames.from_snapshot(engine.snapshot(include_cold=True)).find(name)
        raise error from None
    except IndexMissingError:
        return find_note(read_notes(engine), name).path


@dataclass(frozen=True, slots=True)
class NewNote:
    """A note that was made."""

    path: str
    last_line: int
    withheld: tuple[Problem, ...]
    """What of the body was not written, by line of it as given: secrets, private spans."""
    is_indexed: bool
    remark: str
    """Why the index does not hold it, where it does not."""


def make_note(
    engine: Engine,
    title: str,
    *,
    body: str = "",
    room: str | None = None,
    folder: str | None = None,
    type: str | None = None,
    priority: str | None = None,
    tags: Sequence[str] = (),
) -> NewNote:
    """Create a note, and bring an index that exists up to date; ``Palace.new`` says the rest."""
    path = place_note(engine.paths, title, room=room, folder=folder)
    level = check_priority(priority) if priority is not None else None
    text, withheld = leave_out(clean_text(body)) if body.strip() else ("", ())
    given = {"type": type, "priority": level, "tags": list(tags)}
    fields: dict[str, object] = {"title": title, "date": today()}
    fields |= {key: value for key, value in given.items() if value}
    note = _compose(path, title, fields, text)
    most = engine.config.max_note_bytes
    if len(note.data) > most:
        raise UsageError(f"the note would be larger than max_note_bytes ({most:,}); split it")
    write_file(engine, lambda: note, command="new")
    remark = "it is not indexed yet; run `palace index`"
    if engine.paths.commit.exists():
        remark = index_note(engine, path, wait_seconds=WAIT_SECONDS)
    return NewNote(path, note.data.count(b"\n"), withheld, not remark, remark)


def _compose(path: str, title: str, fields: Mapping[str, object], text: str) -> Create:
    """Return a note of a body, whose own front matter and heading are kept.

    What is asked for replaces its fields of that name, but for tags, which are added, and the day.
    """
    matter = split_front_matter(f"{text}\n")
    if matter.error:
        raise UsageError(f"line {matter.error_line} of the body: its {matter.error}; correct it")
    body = text[matter.end :].strip("\n")
    is_titled = body.startswith("# ")
    if not matter.end and not is_titled:
        return compose_note(path, title, fields, lead=body)
    heading = "" if is_titled else f"# {title}\n\n" if body else f"# {title}"
    block = f"---\n{matter.raw}---\n" if matter.end else ""
    merged = {k: v for k, v in fields.items() if k != "date" or k not in matter.values}
    own, asked = matter.values.get("tags"), fields.get("tags")
    if own and isinstance(asked, list):
        listed = own if isinstance(own, list) else str(own).replace(",", " ").split()
        merged["tags"] = list(dict.fromkeys([*map(str, listed), *asked]))
    return Create(path, set_fields(path, f"{block}{heading}{body}\n".encode(), merged))


def index_note(engine: Engine, path: str, *, wait_seconds: float) -> str:
    """Bring the index up to date; return why the note is not in it, where it is not.

    Another process may have indexed the note since it was written.
    """
    why = ""
    if not _is_indexed(engine, path):
        try:
            if not engine.paths.commit.exists():
                found = discover_notes(engine.paths, ignore=engine.config.ignore)
                if len(found.files) > MOST_UNINDEXED:
                    return "it is kept; this palace has no index yet: run `palace index`"
            engine.index(takes_up=False, wait_seconds=wait_seconds)
        except (PalaceError, OSError) as error:
            why = f": {error}"
        if not _is_indexed(engine, path):
            return f"it is kept, and is not in the index{why or '; .palaceignore may say so'}"
    return ""


def _is_indexed(engine: Engine, path: str) -> bool:
    """Whether the committed index has the note as it is."""
    try:
        snapshot = engine.snapshot()
        place = snapshot.paths.index(path)
        data = (engine.paths.root / path).read_bytes()
    except (PalaceError, OSError, ValueError):
        return False
    digest = snapshot.note_digests[place].tobytes()
    return sha256(data).digest().startswith(digest)

"""What is written at once, for it was asked for: one note, then the index, then the answer."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from memory_palace.changes.changing import WAIT_SECONDS, find_note, read_notes, write_file
from memory_palace.changes.operations import Replace, check_inside
from memory_palace.engine import Engine
from memory_palace.errors import IndexMissingError, PalaceError, UsageError
from memory_palace.graph.naming import NoteNames
from memory_palace.models import Problem
from memory_palace.notes.discovery import discover_notes
from memory_palace.notes.excerpt import split_line_range
from memory_palace.notes.ignoring import SUFFIXES
from memory_palace.notes.insertion import append_text, clean_text
from memory_palace.notes.rooms import is_cold_path
from memory_palace.notes.withholding import leave_out

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
    path = _find_path(engine, name) or _find_path(engine, bare)
    if path is None:
        path = _find_named(engine, bare)
    check_inside(engine.paths, path)
    if is_cold_path(engine.paths, path):
        raise UsageError(f"{path} is archived; `palace metabolism restore` brings it back")
    return path


def _find_path(engine: Engine, name: str) -> str | None:
    """Return the path of a file of the notes that is named by it, from the root or the notes."""
    for path in (name, f"{engine.paths.prefix}{name}"):
        try:
            check_inside(engine.paths, path)
            if path.lower().endswith(SUFFIXES) and (engine.paths.root / path).is_file():
                return path
        except (UsageError, OSError):
            continue
    return None


def _find_named(engine: Engine, name: str) -> str:
    try:
        return NoteNames.from_snapshot(engine.snapshot()).find(name)
    except UsageError as error:
        try:
            return NoteNames.from_snapshot(engine.snapshot(include_cold=True)).find(name)
        except UsageError:
            raise error from None
    except IndexMissingError:
        return find_note(read_notes(engine), name).path


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

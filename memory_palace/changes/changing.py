"""How every command that edits notes does it: plan, show, and only then change, all or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from memory_palace.changes.journal import apply_change, plan_undo, read_log, recover, undo
from memory_palace.changes.operations import (
    ChangeSet,
    Create,
    LoggedChange,
    Move,
    Replace,
    render_diff,
    target_of,
)
from memory_palace.changes.relinking import relink
from memory_palace.engine import Engine
from memory_palace.errors import ConfigError, PalaceError, RoomNotMappedError, UsageError
from memory_palace.feature import Feature, Verb
from memory_palace.graph.naming import NoteNames
from memory_palace.notes.document import Document, Library, read_library
from memory_palace.notes.golden import read_golden_text
from memory_palace.settings import map_rooms, parse_settings

WAIT_SECONDS = 10.0
"""How long a change waits for another writer, such as a build that watches the notes."""

_ROOMS = re.compile(
    r"^rooms:[ \t]*(?:#[^\n]*)?\n(?P<below>(?:[ \t]*+(?:#[^\n]*+)?\n)*+(?P<indent>[ \t]+)(?=\S))?",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, and why."""

    change: ChangeSet
    reason: str
    evidence: tuple[str, ...] = ()
    redirects: Mapping[str, str] = field(default_factory=dict)
    """For a note that leaves: the note its links lead to afterwards."""
    edited: frozenset[str] = frozenset()
    """Notes whose edits the change is made for, so that git need not have seen them."""
    held: tuple[str, ...] = ()
    """What is left undone, each with the reason."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A change that was shown, and whether it was made."""

    diff: str
    reason: str
    paths: tuple[str, ...] = ()
    """What was written, moved notes by their new path."""
    identity: str | None = None
    """Under which it is logged; ``None`` where it was only shown."""
    remark: str = ""
    """Why the index is behind the notes, where it is."""
    held: tuple[str, ...] = ()
    """What was left undone, each with the reason."""
    evidence: tuple[str, ...] = ()
    """On what the change was based, as the log has it."""
    undone: LoggedChange | None = None
    """The change that was taken back, or would be."""


def change_notes(
    engine: Engine,
    plan: Callable[[Library], Plan],
    *,
    command: str,
    apply: bool,
    allow_uncommitted: bool = False,
    folder: str | None = None,
) -> Outcome:
    """Show what ``plan`` makes of the notes as they are; do it where ``apply`` says so.

    The plan of a change that is made is drawn up under the writer's lock. Links that a move
    would break are rewritten in the same change. ``folder`` is made where no folder is a room that
    the plan needs; ``None`` names it after the room.
    """
    if not apply:
        try:
            planned, change = _plan(engine, plan)
        except RoomNotMappedError as error:
            raise UsageError(
                f"{error}; or --apply makes the folder {error.room} and that line"
            ) from error
        shown, paths = render_diff(change), _paths(change)
        return Outcome(shown, planned.reason, paths, held=planned.held, evidence=planned.evidence)
    own = {engine.paths.shown(file) for file in (engine.paths.golden, engine.paths.settings)}
    before, identity = (engine.config, engine.paths), None
    with engine.writing(wait_seconds=WAIT_SECONDS):
        recover(engine.paths)
        try:
            planned, change = _plan_with_rooms(engine, plan, folder)
            if change:
                identity = apply_change(
                    engine.paths,
                    change,
                    command=command,
                    reason=planned.reason,
                    now=now(),
                    evidence=planned.evidence,
                    agent=engine.agent,
                    edited=planned.edited | own,
                    allow_uncommitted=allow_uncommitted or engine.config.changes.allow_uncommitted,
                )
        finally:
            if identity is None:  # no room was made
                engine.config, engine.paths = before
    remark = reindex(engine) if change else ""
    source = engine.paths.shown(engine.paths.settings)
    notes = [operation for operation in change if target_of(operation) != source]
    paths, held, evidence = _paths(notes), planned.held, planned.evidence
    return Outcome(render_diff(change), planned.reason, paths, identity, remark, held, evidence)


def write_file(
    engine: Engine,
    make: Callable[[], Create | Replace | None],
    *,
    command: str,
    reason: str = "",
) -> None:
    """Write the one file that ``make`` returns under the writer's lock, logged and undoable.

    Git need not have seen it: only what is asked for is changed, and no link has to be rewritten
    for it.
    """
    with engine.writing(wait_seconds=WAIT_SECONDS):
        recover(engine.paths)
        file = make()
        if file is not None:
            apply_change(
                engine.paths,
                [file],
                command=command,
                reason=reason or f"{command} {file.path}",
                now=now(),
                agent=engine.agent,
                edited={file.path},
            )


def undo_change(
    engine: Engine, *, command: str | None = None, identity: str | None = None, apply: bool = False
) -> Outcome:
    """Take back the last change of a command, or the one of an id, byte for byte."""
    which = {"command": command, "identity": identity}
    if apply:
        with engine.writing(wait_seconds=WAIT_SECONDS):
            taken_back = undo(engine.paths, now=now(), agent=engine.agent, **which)
    else:
        taken_back = plan_undo(engine.paths, **which)
    entry, change = taken_back.entry, taken_back.change
    return Outcome(
        render_diff(change),
        entry.reason,
        _paths(change),
        entry.identity if apply else None,
        reindex(engine) if apply else "",
        evidence=entry.evidence,
        undone=entry,
    )


def read_changes(engine: Engine, *, command: str | None = None) -> list[LoggedChange]:
    """Return what was changed, oldest first, by one command or by all."""
    log = read_log(engine.paths)
    return [entry for entry in log if command in (None, entry.command)]


def read_notes(engine: Engine, *, mentioning: bytes = b"") -> Library:
    """Read every note of a palace from the disk, cold ones included, as ``read_library`` does."""
    library = read_library(
        engine.paths,
        ignore=engine.config.ignore,
        limit_bytes=engine.config.max_note_bytes,
        mentioning=mentioning,
    )
    engine.note_unread(library.problems)
    return library


def find_note(library: Library, text: str) -> Document:
    """Return the note called ``text``, hot or cold, by any of its names or its ``task_id``."""
    documents = list(library.documents.values())
    names = NoteNames(
        [document.path for document in documents],
        [document.title for document in documents],
        [(*document.texts("aliases"), *document.texts("task_id")) for document in documents],
    )
    return library.documents[names.find(text)]


def reindex(engine: Engine) -> str:
    """Bring an index that exists up to date; return why it could not be, where it could not.

    The notes are already changed by then: what fails here must not look like a failed change.
    """
    if not engine.paths.commit.exists():
        return ""
    try:
        engine.index(takes_up=False, wait_seconds=WAIT_SECONDS)
    except (PalaceError, OSError) as error:
        return f"the notes were changed, but the index was not: {error}"
    return ""


def today() -> str:
    """Return the day, UTC."""
    return datetime.now(UTC).date().isoformat()


def now() -> str:
    """Return the moment, UTC, as the log has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _plan(engine: Engine, plan: Callable[[Library], Plan]) -> tuple[Plan, ChangeSet]:
    library, paths = read_notes(engine), engine.paths
    planned = plan(library)
    return planned, relink(
        library.documents,
        planned.change,
        rooms=paths.rooms,
        redirects=planned.redirects,
        golden=(paths.shown(paths.golden), read_golden_text(paths.golden)),
    )


def _plan_with_rooms(
    engine: Engine, plan: Callable[[Library], Plan], folder: str | None
) -> tuple[Plan, ChangeSet]:
    """Draw up a plan; rooms that it needs and that no folder is become part of the change."""
    path = engine.paths.settings
    before = path.read_bytes() if path.exists() else b""
    after, source = before, engine.paths.shown(path)
    while True:
        try:
            planned, change = _plan(engine, plan)
        except RoomNotMappedError as error:
            after = _add_room(engine, after, error.room, folder or error.room)
        else:
            new = Replace(source, before, after) if path.exists() else Create(source, after)
            return planned, [*([new] if after != before else []), *change]


def _add_room(engine: Engine, settings: bytes, room: str, folder: str) -> bytes:
    """Take a room for mapped to a folder; return the settings that say so.

    The line stands first below ``rooms:``, or at the end below a new ``rooms:``; every other byte
    stays. Raise ``UsageError`` where it cannot be added without rewriting what is there.
    """
    text, line = settings.decode(), f"{folder}: {room}"
    source = engine.paths.shown(engine.paths.settings)
    found = _ROOMS.search(text if text.endswith("\n") else f"{text}\n")
    if found is None:
        gap = "" if not text or text.endswith("\n") else "\n"
        text = f"{text}{gap}rooms:\n  {line}\n"
    else:
        start = found.start("indent") if found["below"] else found.end()
        text = f"{text[:start]}{found['indent'] or '  '}{line}\n{text[start:]}"
    rooms = {**engine.config.rooms, folder: room}
    paths = map_rooms(engine.paths, rooms)
    with suppress(ConfigError):
        if parse_settings(text, source).rooms == rooms:
            engine.config, engine.paths = replace(engine.config, rooms=rooms), paths
            return text.encode()
    raise UsageError(f"{source} could not be extended; add `{line}` to its rooms")


def _paths(change: ChangeSet) -> tuple[str, ...]:
    moved = {operation.old: operation.new for operation in change if isinstance(operation, Move)}
    paths = [target_of(operation) for operation in change]
    return tuple(dict.fromkeys(moved.get(path, path) for path in paths))


class Changes(Feature):
    """The log of everything that a command has changed in the notes."""

    log = Verb(read_changes)
    undo = Verb(undo_change)

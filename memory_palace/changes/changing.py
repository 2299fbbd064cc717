"""How commands change notes: plan, show, and only then write, all or nothing; or add at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Self

from memory_palace.changes.composing import compose_note, place_note
from memory_palace.changes.journal import apply_change, plan_undo, read_log, recover, undo
from memory_palace.changes.operations import (
    ChangeSet,
    Create,
    LoggedChange,
    Move,
    Replace,
    check_inside,
    render_diff,
    target_of,
)
from memory_palace.changes.relinking import relink
from memory_palace.errors import (
    ConfigError,
    IndexMissingError,
    PalaceError,
    RoomNotMappedError,
    UsageError,
)
from memory_palace.graph.naming import NoteNames
from memory_palace.models import Problem
from memory_palace.notes.discovery import SUFFIXES, discover_notes
from memory_palace.notes.document import Document, Library, read_library
from memory_palace.notes.excerpt import split_line_range
from memory_palace.notes.frontmatter import split_front_matter, write_front_matter
from memory_palace.notes.golden import read_golden_text
from memory_palace.notes.note import is_cold_path
from memory_palace.notes.sections import append_text, clean_text
from memory_palace.notes.withholding import leave_out
from memory_palace.palace import Feature, Palace, Verb
from memory_palace.retrieval.filters import check_priority
from memory_palace.settings import map_rooms, parse_settings
from memory_palace.shown import ABSENT, Absent, Shown, inner

WAIT_SECONDS = 10.0
"""How long a change waits for another writer, such as a build that watches the notes."""
MOST_UNINDEXED = 200
"""A palace without an index gets one of up to so many notes: more take more than a moment."""


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
class ChangeEntry:
    """A logged change of notes, as it is shown."""

    identity: str
    time: str
    command: str
    reason: str
    evidence: tuple[str, ...]
    writes: tuple[str, ...]
    moves: tuple[Move, ...]
    undoes: str | None
    agent: str | None
    undone: bool | Absent = ABSENT

    @classmethod
    def of(cls, entry: LoggedChange, *, undone: bool | Absent = ABSENT) -> ChangeEntry:
        """Return a logged change as it is shown."""
        return cls(
            *(entry.identity, entry.time, entry.command, entry.reason, entry.evidence),
            writes=tuple(one.path for one in entry.writes),
            moves=entry.moves,
            undoes=entry.undoes,
            agent=entry.agent or None,
            undone=undone,
        )

    @property
    def name(self) -> str:
        """The id of the change, its verb, and who made it where that is known."""
        by = f"  by {self.agent}" if self.agent else ""
        return f"{self.identity}  {self.command}  {self.reason}{by}"


@dataclass(frozen=True)
class Outcome(Shown):
    """A change of notes that was planned or made."""

    change: ChangeEntry | Absent
    """The change that is taken back, where one is."""
    is_applied: bool
    identity: str | None
    """Id for undo; null where the change was only shown."""
    reason: str
    paths: tuple[str, ...]
    """Notes written; moved notes by their new path."""
    diff: str
    remark: str | None
    """Why nothing was changed, or why the index is behind the notes; else null."""
    held: tuple[str, ...] = inner(default=())
    """Steps left undone, each with the reason."""
    evidence: tuple[str, ...] = inner(default=())
    """On what the change was based, as the log has it."""

    @classmethod
    def of(cls, outcome: Outcome, **more: Any) -> Self:
        """Return an outcome with the fields that a subclass adds."""
        return cls(**{each.name: getattr(outcome, each.name) for each in fields(Outcome)}, **more)

    def lines(self) -> Iterable[str]:
        """Return the change that is taken back, if one is, and the diff."""
        if self.change is not ABSENT:
            yield self.change.name
            yield from (f"  {words}" for words in self.change.evidence)
        if self.diff:
            yield self.diff.removesuffix("\n")

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return what became of the change."""
        if self.remark:
            yield self.remark


def change_notes(
    palace: Palace,
    plan: Callable[[Library], Plan],
    *,
    command: str,
    apply: bool,
    folder: str | None = None,
) -> Outcome:
    """Show what ``plan`` makes of the notes as they are; do it where ``apply`` says so.

    The plan of a change that is made is drawn up under the writer's lock. Links that a move
    would break are rewritten in the same change. A room that the plan needs and that no folder is
    gets ``folder``, by default named after it, where the settings name no rooms.
    """
    if not apply:
        try:
            planned, change = _plan(palace, plan)
        except RoomNotMappedError as error:
            if palace.config.rooms:
                raise
            raise UsageError(
                f"{error}; or --apply makes the folder {error.room} and that line"
            ) from error
        return _outcome(change, planned)
    own = {palace.paths.shown(file) for file in (palace.paths.golden, palace.paths.settings)}
    before, identity = (palace.config, palace.paths), None
    with palace.writing(wait_seconds=WAIT_SECONDS):
        recover(palace.paths)
        try:
            planned, change = _plan_with_room(palace, plan, folder)
            if change:
                identity = apply_change(
                    palace.paths,
                    change,
                    command=command,
                    reason=planned.reason,
                    now=now(),
                    evidence=planned.evidence,
                    agent=palace.agent,
                    edited=planned.edited | own,
                    allow_uncommitted=palace.config.changes.allow_uncommitted,
                )
        finally:
            if identity is None:  # no room was made
                palace.config, palace.paths = before
    remark = reindex(palace) if change else ""
    but = {palace.paths.shown(palace.paths.settings)}
    return _outcome(change, planned, identity, remark, but=but)


def write_file(
    palace: Palace,
    make: Callable[[], Create | Replace | None],
    *,
    command: str,
    reason: str = "",
) -> None:
    """Write the one file that ``make`` returns under the writer's lock, logged and undoable.

    Git need not have seen it: only what is asked for is changed, and no link has to be rewritten
    for it.
    """
    with palace.writing(wait_seconds=WAIT_SECONDS):
        recover(palace.paths)
        file = make()
        if file is not None:
            apply_change(
                palace.paths,
                [file],
                command=command,
                reason=reason or f"{command} {file.path}",
                now=now(),
                agent=palace.agent,
                edited={file.path},
            )


def undo_change(
    palace: Palace, *, command: str | None = None, identity: str | None = None, apply: bool = False
) -> Outcome:
    """Take back the last change of a command, or the one of an id, byte for byte."""
    which = {"command": command, "identity": identity}
    if apply:
        with palace.writing(wait_seconds=WAIT_SECONDS):
            taken_back = undo(palace.paths, now=now(), agent=palace.agent, **which)
    else:
        taken_back = plan_undo(palace.paths, **which)
    entry, change = taken_back.entry, taken_back.change
    plan = Plan(change, entry.reason, entry.evidence)
    shown = ChangeEntry.of(entry)
    if apply:
        return _outcome(change, plan, entry.identity, reindex(palace), undone=shown)
    return _outcome(change, plan, undone=shown)


def read_changes(palace: Palace, *, command: str | None = None) -> list[LoggedChange]:
    """Return what was changed, oldest first, by one command or by all."""
    log = read_log(palace.paths)
    return [entry for entry in log if command in (None, entry.command)]


def read_notes(palace: Palace, *, mentioning: bytes = b"") -> Library:
    """Read every note of a palace from the disk, cold ones included, as ``read_library`` does."""
    library = read_library(
        palace.paths,
        ignore=palace.config.ignore,
        limit_bytes=palace.config.max_note_bytes,
        mentioning=mentioning,
    )
    palace.note_unread(library.problems)
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


def reindex(palace: Palace) -> str:
    """Bring an index that exists up to date; return why it could not be, where it could not.

    The notes are already changed by then: what fails here must not look like a failed change.
    """
    if not palace.paths.commit.exists():
        return ""
    try:
        palace.index(takes_up=False, wait_seconds=WAIT_SECONDS)
    except (PalaceError, OSError) as error:
        return f"the notes were changed, but the index was not: {error}"
    return ""


def today() -> str:
    """Return the day, UTC."""
    return datetime.now(UTC).date().isoformat()


def now() -> str:
    """Return the moment, UTC, as the log has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _plan(palace: Palace, plan: Callable[[Library], Plan]) -> tuple[Plan, ChangeSet]:
    library, paths = read_notes(palace), palace.paths
    planned = plan(library)
    return planned, relink(
        library.documents,
        planned.change,
        rooms=paths.rooms,
        redirects=planned.redirects,
        golden=(paths.shown(paths.golden), read_golden_text(paths.golden)),
    )


def _plan_with_room(
    palace: Palace, plan: Callable[[Library], Plan], folder: str | None
) -> tuple[Plan, ChangeSet]:
    """Draw up a plan; a room that it needs becomes part of the change, folder and setting.

    Raise ``RoomNotMappedError`` where the settings name rooms, or where a second one is needed.
    """
    try:
        return _plan(palace, plan)
    except RoomNotMappedError as error:
        if palace.config.rooms:
            raise
        room, path = error.room, palace.paths.settings
        source, before = palace.paths.shown(path), path.read_bytes() if path.exists() else b""
        gap = b"" if before[-1:] in (b"", b"\n") else b"\n"
        after = before + gap + f"rooms:\n  {folder or room}: {room}\n".encode()
        try:
            rooms = parse_settings(after.decode(), source).rooms
        except ConfigError:  # ``rooms:`` stands there empty, or no block can follow
            raise error from None
    palace.config = replace(palace.config, rooms=rooms)
    palace.paths = map_rooms(palace.paths, rooms)
    planned, change = _plan(palace, plan)
    new = Replace(source, before, after) if path.exists() else Create(source, after)
    return planned, [new, *change]


def _outcome(
    change: ChangeSet,
    plan: Plan,
    identity: str | None = None,
    remark: str = "nothing was changed; add --apply",
    *,
    but: Set[str] = frozenset(),
    undone: ChangeEntry | Absent = ABSENT,
) -> Outcome:
    """Return a change as it is shown; files ``but`` which are no notes are not among its paths."""
    moved = {operation.old: operation.new for operation in change if isinstance(operation, Move)}
    paths = [target_of(operation) for operation in change]
    diff = render_diff(change)
    return Outcome(
        change=undone,
        is_applied=identity is not None,
        identity=identity,
        reason=plan.reason,
        paths=tuple(dict.fromkeys(moved.get(path, path) for path in paths if path not in but)),
        diff=diff,
        remark=(remark or None) if diff else "there is nothing to change",
        held=plan.held,
        evidence=plan.evidence,
    )


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


def append_to_note(palace: Palace, note: str, text: str, *, under: str | None = None) -> Appended:
    """Add a text at the end of a note, or of its section ``under``, and index it.

    The note is named by path, stem, title or alias. A section ends at the next heading of its level
    or above; one that is missing is made, of level two. Lines with secrets and private spans are
    not written. Every other byte of the note stays. Raise ``UsageError`` for an archived or private
    note, and for a text that would be hidden or would change what stands there,
    ``CheckFailedError`` where nothing of it may be written.
    """
    clean, withheld = leave_out(clean_text(text))
    path = find_file(palace, note)
    before = (palace.paths.root / path).read_bytes()  # what cannot be done is refused unlocked
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
    return Appended(path, done.line, done.last_line, done.made, withheld, not remark, remark)


def find_file(palace: Palace, name: str) -> str:
    """Return the path of the note that may be changed and is called ``name``.

    It may be named as an answer does, with lines: ``path:3-9``. A note that is not indexed yet is
    found by its path. Raise ``UsageError`` where there is none, several, or one that is archived.
    """
    bare = split_line_range(name)[0]
    path = _find_path(palace, name) or _find_path(palace, bare) or _find_named(palace, bare)
    check_inside(palace.paths, path)
    if is_cold_path(palace.paths, path):
        raise UsageError(f"{path} is archived; `palace metabolism restore` brings it back")
    return path


def _find_path(palace: Palace, name: str) -> str | None:
    """Return the path of a file of the notes that is named by it, from the root or the notes."""
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
    palace: Palace,
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
    if len(note.data) > most:
        raise UsageError(f"the note would be larger than max_note_bytes ({most:,}); split it")
    write_file(palace, lambda: note, command="new")
    remark = "it is not indexed yet; run `palace index`"
    if palace.paths.commit.exists():
        remark = index_note(palace, path, wait_seconds=WAIT_SECONDS)
    return NewNote(path, note.data.count(b"\n"), withheld, not remark, remark)


def index_note(palace: Palace, path: str, *, wait_seconds: float) -> str:
    """Bring the index up to date; return why the note is not in it, where it is not.

    Another process may have indexed the note since it was written.
    """
    why = ""
    if not _is_indexed(palace, path):
        try:
            if not palace.paths.commit.exists():
                found = discover_notes(palace.paths, ignore=palace.config.ignore)
                if len(found.files) > MOST_UNINDEXED:
                    return "it is kept; this palace has no index yet: run `palace index`"
            palace.index(takes_up=False, wait_seconds=wait_seconds)
        except (PalaceError, OSError) as error:
            why = f": {error}"
        if not _is_indexed(palace, path):
            return f"it is kept, and is not in the index{why or '; .palaceignore may say so'}"
    return ""


def _is_indexed(palace: Palace, path: str) -> bool:
    """Whether the committed index has the note as it is."""
    try:
        snapshot = palace.snapshot()
        place = snapshot.paths.index(path)
        data = (palace.paths.root / path).read_bytes()
    except (PalaceError, OSError, ValueError):
        return False
    digest = snapshot.note_digests[place].tobytes()
    return sha256(data).digest().startswith(digest)


class Changes(Feature):
    """The log of everything that a command has changed in the notes."""

    log = Verb(read_changes)
    undo = Verb(undo_change)

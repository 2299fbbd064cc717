"""Plan, show and apply changes of notes, all or nothing, or write one file at once."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from difflib import unified_diff
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Self
from urllib.parse import quote

from memory_palace.changes.journal import (
    ChangeSet,
    Create,
    LoggedChange,
    Move,
    Operation,
    Replace,
    apply_change,
    check_inside,
    end_line,
    plan_undo,
    read_log,
    target_of,
    undo,
)
from memory_palace.config import SEVEN, Rooms
from memory_palace.errors import ConfigError, PalaceError, RoomNotMappedError, UsageError
from memory_palace.graph.naming import NoteNames
from memory_palace.graph.resolve import ZonedNames, strip_suffix
from memory_palace.notes.discovery import discover_notes
from memory_palace.notes.document import Document, Library, parse_document, read_library
from memory_palace.notes.golden import read_golden_text, rename_notes
from memory_palace.notes.parsing import rewrite_links
from memory_palace.palace import Feature, Palace, Verb
from memory_palace.settings import map_rooms, parse_settings
from memory_palace.shown import ABSENT, Absent, Shown, inner

WAIT_SECONDS = 10.0
"""How long a change waits for another writer, such as a build that watches the notes."""
MOST_UNINDEXED = 200
"""Maximum number of notes for which a missing index is built: more would take too long."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A planned change with its reason."""

    change: ChangeSet
    reason: str
    evidence: tuple[str, ...] = ()
    redirects: Mapping[str, str] = field(default_factory=dict)
    """Maps a note that leaves to the note that its links lead to afterwards."""
    edited: frozenset[str] = frozenset()
    """Notes that may have edits not committed to git, since the change is made for these."""
    held: tuple[str, ...] = ()
    """Steps that are left out, each with the reason."""


@dataclass(frozen=True, slots=True)
class ChangeEntry:
    """A logged change of notes, for display."""

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
        """Return a logged change for display."""
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
        """The id of the change, its verb and reason, and its agent if known."""
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
        """Return the undone change, if any, and the diff."""
        if self.change is not ABSENT:
            yield self.change.name
            yield from (f"  {words}" for words in self.change.evidence)
        if self.diff:
            yield self.diff.removesuffix("\n")

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return why nothing was changed, or why the index is behind the notes."""
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
    """Plan a change of the current notes and return its diff; with ``apply`` make it.

    With ``apply`` the plan is made under the writer's lock. Links that a move would break are
    rewritten in the same change. A needed room without a folder is mapped to ``folder``, by default
    of the room's name, unless the settings map rooms.
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
    agent: str = "",
    wait_seconds: float = WAIT_SECONDS,
) -> None:
    """Write the file that ``make`` returns, under the writer's lock, as a logged change.

    Edits of it that are not committed to git are allowed, since only the requested bytes change and
    no link is rewritten.
    """
    with palace.writing(wait_seconds=wait_seconds):
        file = make()
        if file is not None:
            apply_change(
                palace.paths,
                [file],
                command=command,
                reason=reason or f"{command} {file.path}",
                now=now(),
                agent=agent or palace.agent,
                edited={file.path},
            )


def undo_change(palace: Palace, *, identity: str | None = None, apply: bool = False) -> Outcome:
    """Undo the last change, or the one of an id, byte for byte; without ``apply`` only show it."""
    if not apply:
        entry, change = plan_undo(palace.paths, identity)
        plan = Plan(change, entry.reason, entry.evidence)
        return _outcome(change, plan, undone=ChangeEntry.of(entry))
    with palace.writing(wait_seconds=WAIT_SECONDS):
        entry, change = undo(palace.paths, identity, now=now(), agent=palace.agent)
    plan = Plan(change, entry.reason, entry.evidence)
    return _outcome(change, plan, entry.identity, reindex(palace), undone=ChangeEntry.of(entry))


def read_changes(palace: Palace) -> list[LoggedChange]:
    """Return the logged changes, oldest first."""
    return read_log(palace.paths)


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
    """Update an existing index; return the message of a failure, else "".

    The notes are already changed, so that a failure here must not look like a failed change.
    """
    if not palace.paths.commit.exists():
        return ""
    try:
        palace.index(takes_up=False, wait_seconds=WAIT_SECONDS)
    except (PalaceError, OSError) as error:
        return f"the notes were changed, but the index was not: {error}"
    return ""


def today() -> str:
    """Return the current day, UTC."""
    return datetime.now(UTC).date().isoformat()


def now() -> str:
    """Return the current time, UTC, in the format of the log."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _plan(palace: Palace, plan: Callable[[Library], Plan]) -> tuple[Plan, ChangeSet]:
    library, paths = read_notes(palace), palace.paths
    planned = plan(library)
    change = relink(
        library.documents,
        planned.change,
        rooms=paths.rooms,
        redirects=planned.redirects,
        golden=(paths.shown(paths.golden), read_golden_text(paths.golden)),
    )
    for operation in change:
        check_inside(paths, operation.path)
        check_inside(paths, target_of(operation))
    return planned, change


def _plan_with_room(
    palace: Palace, plan: Callable[[Library], Plan], folder: str | None
) -> tuple[Plan, ChangeSet]:
    """Make a plan; a needed room without a folder is added to the settings by the change.

    Raise ``RoomNotMappedError`` if the settings map rooms, or if a second room is needed.
    """
    try:
        return _plan(palace, plan)
    except RoomNotMappedError as error:
        if palace.config.rooms:
            raise
        room, path = error.room, palace.paths.settings
        source, before = palace.paths.shown(path), path.read_bytes() if path.exists() else b""
        after = end_line(before) + f"rooms:\n  {folder or room}: {room}\n".encode()
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
    """Return the outcome of a change; its paths leave out ``but``, files that are not notes."""
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


def render_diff(change: ChangeSet) -> str:
    """Return the change as git would show it: renames as headers, texts as unified diffs."""
    shown: list[str] = []
    for one in change:
        if isinstance(one, Move):
            shown.append(f"diff --git a/{one.old} b/{one.new}\nsimilarity index 100%\n")
            shown.append(f"rename from {one.old}\nrename to {one.new}\n")
        else:
            old = "/dev/null" if one.before is None else f"a/{one.path}"
            new = "/dev/null" if one.after is None else f"b/{one.path}"
            before, after = _diff_lines(one.before or b""), _diff_lines(one.after or b"")
            shown += unified_diff(before, after, old, new)
    return "".join(shown)


def _diff_lines(data: bytes) -> list[str]:
    """Return the lines of a text as in a git diff, which marks a missing last line feed."""
    *whole, last = data.decode("utf-8", "backslashreplace").split("\n")
    ending = [f"{last}\n\\ No newline at end of file\n"] if last else []
    return [*(f"{line}\n" for line in whole), *ending]


def relink(
    documents: Mapping[str, Document],
    change: ChangeSet,
    *,
    rooms: Rooms = SEVEN,
    redirects: Mapping[str, str] = MappingProxyType({}),
    golden: tuple[str, str] = ("", ""),
) -> list[Operation]:
    """Return the change with all links rewritten that its moves would break.

    A link by stem or alias usually survives a move and is left unchanged; one by path, or one that
    becomes ambiguous, gets the new path. Notes that the change replaces are rewritten in their new
    text. ``redirects`` map a note that leaves to the note that its links lead to afterwards.
    ``golden`` is the path and the text of the golden questions, whose notes are renamed like links.
    """
    moves = {op.old: op.new for op in change if isinstance(op, Move)}
    if not moves:
        return list(change)
    after = {op.path: op.after for op in change if isinstance(op, Replace)}
    others = [op for op in change if not isinstance(op, Replace)]
    # Resolution of links before and after the moves, hot notes first, as in the graph.
    names = ZonedNames(
        (path, document.texts("aliases"), document.is_cold) for path, document in documents.items()
    )
    later = ZonedNames(
        _describe_after(path, document, moves.get(path, path), after.get(path), rooms)
        for path, document in documents.items()
    )

    def led_astray(target: str, source: str) -> str | None:
        """Return the new path of a link's target if the link would break, else ``None``."""
        meant = names.find(target, source)
        if meant is None:
            return None
        successor = redirects.get(meant, meant)
        new = moves.get(successor, successor)
        if new == meant and source not in moves:
            return None
        return None if later.find(target, moves.get(source, source)) == new else new

    for path, document in documents.items():
        wrong = {
            link.target: meant
            for link in document.links
            if link.target and (meant := led_astray(link.target, path)) is not None
        }
        if wrong:
            text = after.get(path, document.data)
            after[path] = _rewrite(text, wrong, path=moves.get(path, path))
    changed = [
        Replace(path, documents[path].data, text)
        for path, text in after.items()
        if text != documents[path].data
    ]
    place, asked = golden
    renamed = rename_notes(asked, lambda name: led_astray(name, place) or moves.get(name))
    if renamed != asked:
        old, new = (each.encode("utf-8", "surrogateescape") for each in (asked, renamed))
        changed.append(Replace(place, old, new))
    return [*changed, *others]


def _describe_after(
    path: str, document: Document, new: str, text: bytes | None, rooms: Rooms
) -> tuple[str, Sequence[str], bool]:
    """Return path, aliases and coldness of a note after the change; ``text`` replaces its own."""
    written = None if text is None else parse_document(path, text)
    is_cold = rooms.is_archived(new) or (document.is_cold and new == path)
    return new, (written or document).texts("aliases"), is_cold


def _rewrite(data: bytes, wrong: Mapping[str, str], *, path: str) -> bytes:
    """Rewrite links outside code; the rest of every line is kept."""
    text = data.decode("utf-8", "surrogateescape")
    folder = posixpath.dirname(path)

    def rename(target: str, is_wiki: bool) -> str | None:
        new = wrong.get(target)
        if new is None or target.endswith("/"):  # a URL path of a website, not a file
            return None
        return strip_suffix(new) if is_wiki else quote(posixpath.relpath(new, folder))

    return rewrite_links(text, rename).encode("utf-8", "surrogateescape")


def index_note(palace: Palace, path: str, *, wait_seconds: float) -> str:
    """Update the index; return why the note is not in it, or "".

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
    """Whether the committed index contains the note with its current bytes."""
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

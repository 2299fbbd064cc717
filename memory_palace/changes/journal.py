"""Atomic, undoable changes of several files.

Order of writes: the replaced bytes, in files named by their digest; the journal; the texts, the
moves; the log line; the removal of the journal. The log line is the commit: an interrupted change
without one is rolled back by the machine's next command that writes. Callers that write hold the
writer's lock, except for ``create_unlocked``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeGuard

from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError, UsageError
from memory_palace.notes.discovery import check_twins
from memory_palace.notes.manifest import return_lines, uncommitted
from memory_palace.storage import (
    append_record,
    is_own_record,
    link_new,
    make_folder,
    parse_record,
    read_records,
    remove_files,
    sweep_temporaries,
    sweep_temporaries_of,
    sync_folder,
    to_line,
    write_atomic,
    write_new,
    write_own_record,
)
from memory_palace.system import read_file

LOG = "moves.jsonl"
KEPT = "before"
"""Folder, below the logs, of the bytes that changes replaced; only undo needs it."""


@dataclass(frozen=True, slots=True)
class Move:
    """One note and its new path, relative to the root."""

    old: str
    new: str

    @property
    def path(self) -> str:
        """The path before the change."""
        return self.old


@dataclass(frozen=True, slots=True)
class Replace:
    """New bytes of a note, applied only if it still has the bytes ``before``."""

    path: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Create:
    """A note that must not exist yet."""

    path: str
    after: bytes
    before: ClassVar[None] = None


@dataclass(frozen=True, slots=True)
class Remove:
    """A note to be deleted; its bytes are kept for undo."""

    path: str
    before: bytes
    after: ClassVar[None] = None


Operation: TypeAlias = Move | Replace | Create | Remove
ChangeSet: TypeAlias = Sequence[Operation]
"""Operations that are applied together or not at all: texts first, then moves.

Every path is the one before the change, so that a note may be replaced and moved."""


def target_of(operation: Operation) -> str:
    """Return the path that the operation writes."""
    return operation.new if isinstance(operation, Move) else operation.path


def grow(paths: PalacePaths, log: str, records: Iterable[Mapping[str, object]]) -> Create | Replace:
    """Return the change that appends lines to a log."""
    file, data = paths.logs / log, b"".join(map(to_line, records))
    if not file.exists():
        return Create(paths.shown(file), data)
    before = read_file(file)
    return Replace(paths.shown(file), before, end_line(before) + data)


def end_line(data: bytes) -> bytes:
    """Return bytes with a final line feed, unless they are empty."""
    return data if data[-1:] in (b"", b"\n") else data + b"\n"


def check_change(paths: PalacePaths, change: ChangeSet) -> None:
    """Raise ``PalaceError`` if an operation of the change cannot be applied; write nothing."""
    gone = [operation.path for operation in change if isinstance(operation, Move | Remove)]
    for named in (map(target_of, change), gone):
        for path, count in Counter(named).items():
            if count > 1:
                raise UsageError(f"{path} is named twice in one change")
    for operation in change:
        _check(paths, operation)


def _check(paths: PalacePaths, operation: Operation) -> None:
    source, target = operation.path, target_of(operation)
    check_inside(paths, source)
    check_inside(paths, target)
    file, new = paths.root / source, paths.root / target
    if not isinstance(operation, Create) and (not file.is_file() or file.is_symlink()):
        raise UsageError(f"{source} is a link or not a file, and is left alone")
    if isinstance(operation, Replace | Remove) and file.read_bytes() != operation.before:
        raise PalaceError(f"{source} has been changed by another program; run the command again")
    if isinstance(operation, Move | Create) and (new.exists() or new.is_symlink()):
        raise UsageError(f"{target} already exists; move or rename it first")


def check_inside(paths: PalacePaths, path: str) -> None:
    """Raise ``UsageError`` for a path that is hidden, or outside the notes, links resolved.

    Sources are outside. Golden questions, settings, manifest and logs are allowed, even if hidden.
    """
    file = paths.file_of(path)
    if file in (paths.golden, paths.settings, paths.manifest) or (
        file.parent == paths.logs and file.suffix == ".jsonl"
    ):
        return
    is_plain = path.startswith(paths.prefix) and path != paths.prefix and "\0" not in path
    if (
        not is_plain
        or any(not part or part.startswith(".") for part in path.split("/"))
        or not file.resolve().is_relative_to(paths.notes.resolve())
    ):
        raise UsageError(f"{path} is outside the palace and is left alone")


class Write(NamedTuple):
    """The logged change of one text: SHA-256 of its bytes, hexadecimal."""

    path: str
    before: str | None
    """``None`` if the file did not exist."""
    after: str | None
    """``None`` if the file was deleted."""


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """A change without its bytes: the record of the journal and, once done, the line of the log.

    Its fields are the keys of the record, except for ``identity``, which is ``id`` there.
    """

    identity: str
    time: str = ""
    command: str = ""
    reason: str = ""
    evidence: tuple[str, ...] = ()
    """Reasons, one line each."""
    writes: tuple[Write, ...] = ()
    moves: tuple[Move, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of every file that the change leaves behind, by its path after the change."""
    undoes: str | None = None
    agent: str = ""
    """Name of the agent that made it, if any."""
    folders: tuple[str, ...] = ()
    """Folders that it created, outer ones first."""
    continues: str | None = None
    """Id of the change that this one continues."""

    def to_record(self) -> dict[str, object]:
        """Return the record as it is written; optional fields are left out if empty."""
        values = {"id": self.identity, "time": self.time, "command": self.command}
        seldom = ("undoes", "agent", "folders", "continues")
        return {
            **values,
            "reason": self.reason,
            "evidence": self.evidence,
            "writes": self.writes,
            "moves": [[move.old, move.new] for move in self.moves],
            "digests": self.digests,
            **{name: value for name in seldom if (value := getattr(self, name))},
        }

    @classmethod
    def of_record(cls, values: Mapping[str, Any]) -> LoggedChange | None:
        """Parse a record; ``None`` if it is invalid. Those of early versions have only moves."""
        moves, writes = values.get("moves"), values.get("writes", [])
        if not isinstance(values.get("id"), str) or not _are_rows(moves, str, str):
            return None
        if not _are_rows(writes, str, str | None, str | None):
            return None
        digests, undoes, continues = (values.get(k) for k in ("digests", "undoes", "continues"))
        known = digests.items() if isinstance(digests, dict) else ()
        return cls(
            identity=values["id"],
            time=str(values.get("time", "")),
            command=str(values.get("command", "cold")),
            reason=str(values.get("reason", "")),
            evidence=_texts(values.get("evidence")),
            writes=tuple(Write(*row) for row in writes),
            moves=tuple(Move(*row) for row in moves),
            digests={str(path): str(each) for path, each in known},
            undoes=undoes if isinstance(undoes, str) else None,
            agent=str(values.get("agent", "")),
            folders=_texts(values.get("folders")),
            continues=continues if isinstance(continues, str) else None,
        )

    def joined(self, later: LoggedChange) -> LoggedChange:
        """Return this change and its continuation as one; neither moves a note."""
        writes = {write.path: write for write in self.writes}
        for write in later.writes:
            before = writes[write.path].before if write.path in writes else write.before
            writes[write.path] = Write(write.path, before, write.after)
        return replace(
            later,
            evidence=self.evidence + later.evidence,
            writes=tuple(writes.values()),
            digests={**self.digests, **later.digests},
            folders=self.folders + later.folders,
        )


def _are_rows(rows: Any, *kinds: Any) -> TypeGuard[list[list[Any]]]:
    return isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == len(kinds) and all(map(isinstance, row, kinds))
        for row in rows
    )


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(str, values)) if isinstance(values, list) else ()


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes, hexadecimal."""
    return sha256(data).hexdigest()


def _name(data: bytes | None) -> str | None:
    return None if data is None else digest(data)


def _digest_of(path: Path) -> str | None:
    """Return the digest of a file; ``None`` if it cannot be read."""
    try:
        return digest(read_file(path))
    except OSError:
        return None


def apply_change(
    paths: PalacePaths,
    change: ChangeSet,
    *,
    command: str,
    reason: str,
    now: str,
    evidence: Sequence[str] = (),
    undoes: str | None = None,
    continues: str | None = None,
    agent: str = "",
    edited: Set[str] = frozenset(),
    allow_uncommitted: bool = False,
) -> str:
    """Apply all operations or none; return the id of the logged change.

    A file is overwritten only if it still has the bytes that the change expects. Raise a
    ``PalaceError`` if an operation fails, with every note as it was. A note with edits not
    committed to git is refused, unless it is in ``edited`` or the last logged change wrote them.
    ``continues`` is the id of the change that this one continues.
    """
    recover(paths)
    check_change(paths, change)
    if not undoes:  # which restores what was there
        made = [one for one in change if isinstance(one, Move | Create)]
        check_twins(paths.root, {target_of(one): one.path for one in made})
    if not allow_uncommitted:
        there = [op.path for op in change if not isinstance(op, Create) and op.path not in edited]
        if unseen := edits_not_in_git(paths, there):
            raise UsageError(
                f"not committed to git: {', '.join(unseen)}; commit first, or write "
                "`changes: {allow_uncommitted: true}` into palace.yaml"
            )
    identity = f"{now}-{sum(1 for _ in read_records(paths.logs / LOG)) + 1}"
    entry = LoggedChange(identity, now, command, reason, tuple(evidence), undoes=undoes)
    entry = _describe(paths, change, replace(entry, agent=agent, continues=continues))
    _keep(paths, change)
    write_own_record(paths.journal, entry.to_record())
    try:
        for operation in sorted(change, key=lambda operation: isinstance(operation, Move)):
            _do(paths.root, operation)
        append_record(paths.logs / LOG, entry.to_record())
    except (OSError, PalaceError) as error:
        recover(paths)
        if _is_logged(paths, entry):
            raise
        raise PalaceError(f"{reason}: {error}; no note was changed") from error
    remove_files([paths.journal])
    return entry.identity


def create_unlocked(
    paths: PalacePaths, note: Create | Replace, *, command: str, now: str, agent: str
) -> None:
    """Create and log a new file without the lock, since no other writer can be changing it."""
    check_inside(paths, note.path)
    entry = LoggedChange(f"{now}-{agent}", now, command, f"{command} {note.path}", agent=agent)
    entry = _describe(paths, [note], entry)
    _do(paths.root, note)
    append_record(paths.logs / LOG, entry.to_record())


def recover(paths: PalacePaths) -> bool:
    """Roll back a change of this machine without a log line; return if a journal existed."""
    journal = paths.journal
    for folder in (paths.own, paths.logs / KEPT):
        if folder.is_dir():
            sweep_temporaries(folder)
    try:
        record = parse_record(read_file(journal))
    except FileNotFoundError:
        return False
    entry = LoggedChange.of_record(record or {})
    if entry is None:
        raise PalaceError(f"{journal} is damaged; inspect it, then delete it")
    if not _is_logged(paths, entry):
        if not is_own_record(journal, record or {}):
            return True
        _roll_back(paths, entry)
    remove_files([journal])
    return True


def plan_undo(
    paths: PalacePaths, identity: str | None = None
) -> tuple[LoggedChange, list[Operation]]:
    """Return a logged change, by default the last one, and the operations that undo it.

    Raise ``UsageError`` naming every file that was changed since.
    """
    log = read_log(paths)
    entry = _entry_to_undo(log, identity)
    changed = [
        path for path, wanted in entry.digests.items() if _digest_of(paths.root / path) != wanted
    ]
    if changed:
        listed = ", ".join(sorted(changed))
        later = [e.identity for e in log[log.index(entry) + 1 :] if {*changed} & {*e.digests}]
        first = f"`palace undo {later[-1]}` goes first" if later else "put it back first"
        raise UsageError(
            f"nothing was undone, because these files have changed since: {listed}; {first}"
        )
    for folder in entry.folders:
        check_inside(paths, folder)
    places = {move.old: move.new for move in entry.moves}
    back: list[Operation] = []
    for write in entry.writes:
        path = places.get(write.path, write.path)
        now = b"" if write.after is None else (paths.root / path).read_bytes()
        before = _kept(paths, write)
        if before is None:
            back.append(Remove(path, now))
        else:
            back.append(Create(path, before) if write.after is None else Replace(path, now, before))
    made = {write.path: None for write in entry.writes if write.before is None}
    origins = {**made, **{move.new: move.old for move in entry.moves}}
    shown, after = paths.shown(paths.manifest), return_lines(paths, origins)
    if after is not None and shown not in entry.digests:
        back.append(Replace(shown, paths.manifest.read_bytes(), after))
    return entry, [*back, *(Move(move.new, move.old) for move in reversed(entry.moves))]


def undo(
    paths: PalacePaths, identity: str | None = None, *, now: str, agent: str = ""
) -> tuple[LoggedChange, list[Operation]]:
    """Restore the bytes and paths from before a change; the undo is logged as well."""
    recover(paths)
    entry, change = plan_undo(paths, identity)
    apply_change(
        paths,
        change,
        command=entry.command,
        now=now,
        allow_uncommitted=True,
        reason=f"undo {entry.identity}",
        undoes=entry.identity,
        agent=agent,
    )
    _drop_empty(paths.root, entry.folders)
    return entry, change


def read_log(paths: PalacePaths) -> list[LoggedChange]:
    """Return every logged change, oldest first, joined with its continuations."""
    log: list[LoggedChange] = []
    for entry in filter(None, map(LoggedChange.of_record, read_records(paths.logs / LOG))):
        is_next = log and entry.continues == log[-1].identity
        log.append(log.pop().joined(entry) if is_next else entry)
    return log


def find_undone(log: Sequence[LoggedChange]) -> set[str]:
    """Return the ids of the undone changes; an undo may be undone itself."""
    undone: set[str] = set()
    for entry in reversed(log):
        if entry.undoes and entry.identity not in undone:
            undone.add(entry.undoes)
    return undone


def read_moves(paths: PalacePaths) -> list[tuple[str, str]]:
    """Return the old and the new path of every logged move, oldest first."""
    return [(move.old, move.new) for entry in read_log(paths) for move in entry.moves]


def edits_not_in_git(paths: PalacePaths, notes: Sequence[str]) -> list[str]:
    """Return the notes with edits that neither git has committed nor a logged change made."""
    changed = uncommitted(paths.root, notes)
    log = read_log(paths) if changed else []
    ours = {path: wanted for entry in log for path, wanted in entry.digests.items()}
    return [path for path in changed if _digest_of(paths.root / path) != ours.get(path)]


def _roll_back(paths: PalacePaths, entry: LoggedChange) -> None:
    # The journal may come with a foreign palace: its paths must not lead out of this one.
    named = [path for move in entry.moves for path in (move.old, move.new)]
    for path in (*named, *(write.path for write in entry.writes), *entry.folders):
        check_inside(paths, path)
    before = {write.path: _kept(paths, write) for write in entry.writes}
    for move in reversed(entry.moves):
        _take_back_move(paths.root, move)
    for write in reversed(entry.writes):
        _take_back_write(paths.root, write, before[write.path])
    _drop_empty(paths.root, entry.folders)


def _entry_to_undo(log: Sequence[LoggedChange], identity: str | None) -> LoggedChange:
    undone = find_undone(log)
    for entry in reversed(log):
        if entry.identity == identity and identity in undone:
            raise UsageError(f"{identity} has already been undone")
        if entry.identity == identity:
            return entry
        if identity is None and not entry.undoes and entry.identity not in undone:
            return entry
    raise UsageError("there is nothing to undo" if identity is None else f"no change {identity}")


def _describe(paths: PalacePaths, change: ChangeSet, entry: LoggedChange) -> LoggedChange:
    """Return an entry with the writes, moves, digests and new folders of a planned change."""
    moves = [one for one in change if isinstance(one, Move)]
    texts = [one for one in change if not isinstance(one, Move)]
    writes = [Write(one.path, _name(one.before), _name(one.after)) for one in texts]
    left = {move.old: digest((paths.root / move.old).read_bytes()) for move in moves}
    left |= {write.path: write.after for write in writes if write.after is not None}
    for move in moves:
        left[move.new] = left.pop(move.old)
    made = {
        folder
        for target in map(target_of, change)
        for folder in (paths.root / target).parents
        if not folder.exists() and not target.startswith(".")
    }
    folders = sorted(folder.relative_to(paths.root).as_posix() for folder in made)
    return replace(
        entry, writes=tuple(writes), moves=tuple(moves), digests=left, folders=tuple(folders)
    )


def _keep(paths: PalacePaths, change: ChangeSet) -> None:
    """Store the bytes that a change replaces, each once, in files named by their digest.

    Those of a log that only grows are not stored: they are its first lines.
    """
    folder = paths.logs / KEPT
    for one in change:
        if not isinstance(one, Replace | Remove):
            continue
        is_log = one.path.endswith(".jsonl") and one.before.endswith(b"\n")
        if is_log and (one.after or b"").startswith(one.before):
            continue
        make_folder(folder, mode=0o700)
        path = folder / digest(one.before)
        if _digest_of(path) != path.name:
            write_atomic(path, one.before)


def _kept(paths: PalacePaths, write: Write) -> bytes | None:
    """Return stored bytes, verified by their digest; ``None`` if there was no file before."""
    if write.before is None:
        return None
    path: Path = paths.logs / KEPT / write.before
    if path.parent == paths.logs / KEPT and _digest_of(path) == path.name:
        return path.read_bytes()
    file = paths.root / write.path
    seen, size, data = sha256(), 0, file.read_bytes() if file.is_file() else b""
    for line in data.splitlines(keepends=True):
        seen.update(line)
        size += len(line)
        if seen.hexdigest() == write.before:  # a log that has grown
            return data[:size]
    raise PalaceError(f"{path} is missing or damaged, so this change cannot be undone")


def _is_logged(paths: PalacePaths, entry: LoggedChange) -> bool:
    return any(record.get("id") == entry.identity for record in read_records(paths.logs / LOG))


def _do(root: Path, operation: Operation) -> None:
    """Apply one checked operation; each of its steps is atomic."""
    path = root / operation.path
    if isinstance(operation, Move):
        _move(path, root / operation.new)
    elif operation.before is None:
        make_folder(path.parent)
        write_new(path, operation.after)
    else:
        if path.read_bytes() != operation.before:
            raise PalaceError(
                f"{operation.path} has been changed by another program; run the command again"
            )
        if operation.after is None:
            _drop(path)
        else:
            _rewrite(path, operation.after)


def _take_back_move(root: Path, move: Move) -> None:
    """Roll back a move that was not begun, only linked, or completed."""
    old, new = root / move.old, root / move.new
    if new.exists() and not old.exists():
        _move(new, old)
    elif new.exists() and old.samefile(new):
        _drop(new)


def _take_back_write(root: Path, write: Write, before: bytes | None) -> None:
    """Restore the old bytes of a file; ``before`` is ``None`` if it did not exist.

    A file with neither the old bytes nor the new ones was saved by another program since; it is
    left as it is.
    """
    path = root / write.path
    if before is None:
        if _digest_of(path) == write.after:
            _drop(path)
    elif write.after is None:
        if not path.exists():
            write_new(path, before)
    elif _digest_of(path) == write.after:
        _rewrite(path, before)
    sweep_temporaries_of(path)


def _drop_empty(root: Path, folders: Sequence[str]) -> None:
    """Remove the empty ones of some folders, inner ones first."""
    for folder in reversed(folders):
        with suppress(OSError):
            os.rmdir(root / folder)  # noqa: PTH106 - tests stop at this call


def _rewrite(path: Path, data: bytes) -> None:
    write_atomic(path, data, mode=path.stat().st_mode & 0o777)


def _drop(path: Path) -> None:
    os.unlink(path)  # noqa: PTH108 - tests stop at this call
    sync_folder(path.parent)


def _move(old: Path, new: Path) -> None:
    """Hard-link the new name, then remove the old one: a rename would overwrite."""
    make_folder(new.parent)
    link_new(old, new)
    sync_folder(new.parent)
    with suppress(FileNotFoundError):  # it was renamed
        os.unlink(old)  # noqa: PTH108 - tests stop at this call
    sync_folder(old.parent)

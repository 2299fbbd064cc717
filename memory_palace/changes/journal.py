"""Change notes: several files at once, all or nothing, and undoable.

Order: the bytes that will be replaced, in files named by their digest; the journal; the texts,
the moves; the log line; the end of the journal. The log line is the commit: an interrupted change
without one is rolled back by the next command that changes anything. The caller of everything
here that writes holds the writer's lock.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from memory_palace.changes.operations import (
    ChangeSet,
    Create,
    LoggedChange,
    Move,
    Operation,
    Remove,
    Replace,
    Write,
    check_change,
    check_inside,
    target_of,
)
from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError, UsageError
from memory_palace.notes.manifest import return_lines, uncommitted
from memory_palace.storage import (
    append_record,
    parse_record,
    read_records,
    remove_files,
    sweep_temporaries,
    sweep_temporaries_of,
    sync_folder,
    write_atomic,
    write_new,
)

LOG = "moves.jsonl"
KEPT = "before"
"""Folder below the logs: the bytes that changes replaced. Deleting it only forbids undo."""
_JOURNAL = ".journal.json"
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


@dataclass(frozen=True, slots=True)
class Undo:
    """The way back from one logged change."""

    entry: LoggedChange
    change: tuple[Operation, ...]


def digest(data: bytes) -> str:
    """Return the SHA-256 that names bytes, hexadecimal."""
    return sha256(data).hexdigest()


def _digest_of(path: Path) -> str | None:
    """Return the digest of a file, or ``None`` where it cannot be read."""
    try:
        return digest(path.read_bytes())
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
    """Do every operation, or none; return the id under which it is logged.

    Nothing is overwritten but what the change names with its present bytes. What cannot be
    done raises a ``PalaceError`` and leaves every note as it was. A note with edits that git
    has not seen is refused, unless it is one of ``edited``, or the last logged change wrote them.
    ``continues`` is the id of the change of which this one is the next part.
    """
    recover(paths)
    check_change(paths, change)
    if not allow_uncommitted:
        there = [op.path for op in change if not isinstance(op, Create)]
        _check_committed(paths, [path for path in there if path not in edited])
    identity = f"{now}-{sum(1 for _ in read_records(paths.logs / LOG)) + 1}"
    entry = LoggedChange(identity, now, command, reason, tuple(evidence), undoes=undoes)
    entry = _describe(paths, change, replace(entry, agent=agent, continues=continues))
    _keep(paths, change)
    write_atomic(paths.own / _JOURNAL, json.dumps(entry.to_record()).encode())
    try:
        for operation in sorted(change, key=lambda operation: isinstance(operation, Move)):
            _do(paths.root, operation)
        append_record(paths.logs / LOG, entry.to_record())
    except (OSError, PalaceError) as error:
        recover(paths)
        if _is_logged(paths, entry):
            raise
        raise PalaceError(f"{reason}: {error}; no note was changed") from error
    remove_files([paths.own / _JOURNAL])
    return entry.identity


def create_unlocked(
    paths: PalacePaths, note: Create | Replace, *, command: str, now: str, agent: str
) -> None:
    """Write a new file, which no other writer can be changing, and log it so that it is undone."""
    check_inside(paths, note.path)
    entry = LoggedChange(f"{now}-{agent}", now, command, f"{command} {note.path}", agent=agent)
    entry = _describe(paths, [note], entry)
    _do(paths.root, note)
    append_record(paths.logs / LOG, entry.to_record())


def recover(paths: PalacePaths) -> bool:
    """Roll back a change that was interrupted before its log line; say whether there was one."""
    journal = paths.own / _JOURNAL
    for folder in (paths.own, paths.logs / KEPT):
        if folder.is_dir():
            sweep_temporaries(folder)
    try:
        record = parse_record(journal.read_bytes())
    except FileNotFoundError:
        return False
    entry = LoggedChange.of_record(record or {})
    if entry is None:
        raise PalaceError(f"{journal} is damaged; inspect it, then delete it")
    if not _is_logged(paths, entry):
        _roll_back(paths, entry)
    remove_files([journal])
    return True


def plan_undo(
    paths: PalacePaths, *, command: str | None = None, identity: str | None = None
) -> Undo:
    """Return the way back from the last change of a command, or from the one of an id.

    Raise ``UsageError`` naming every note that was changed since.
    """
    log = read_log(paths)
    entry = _entry_to_undo(log, command, identity)
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
    return Undo(entry, (*back, *(Move(move.new, move.old) for move in reversed(entry.moves))))


def undo(paths: PalacePaths, *, now: str, agent: str = "", **which: str | None) -> Undo:
    """Give back bytes and places as they were before a change; the undo is logged as well."""
    recover(paths)
    planned = plan_undo(paths, **which)
    entry = planned.entry
    apply_change(
        paths,
        planned.change,
        command=entry.command,
        now=now,
        allow_uncommitted=True,
        reason=f"undo {entry.identity}",
        undoes=entry.identity,
        agent=agent,
    )
    _drop_empty(paths.root, entry.folders)
    return planned


def read_log(paths: PalacePaths) -> list[LoggedChange]:
    """Return every logged change, oldest first; the parts of one are joined."""
    log: list[LoggedChange] = []
    for entry in filter(None, map(LoggedChange.of_record, read_records(paths.logs / LOG))):
        is_next = log and entry.continues == log[-1].identity
        log.append(log.pop().joined(entry) if is_next else entry)
    return log


def find_undone(log: Sequence[LoggedChange]) -> set[str]:
    """Return the ids of the changes that are taken back; an undo may be taken back itself."""
    undone: set[str] = set()
    for entry in reversed(log):
        if entry.undoes and entry.identity not in undone:
            undone.add(entry.undoes)
    return undone


def read_moves(paths: PalacePaths) -> list[tuple[str, str]]:
    """Return the old and the new path of every logged move, oldest first."""
    return [(move.old, move.new) for entry in read_log(paths) for move in entry.moves]


def edits_not_in_git(paths: PalacePaths, notes: Sequence[str]) -> list[str]:
    """Return the notes with edits that git has not seen and the last logged change did not make."""
    changed = uncommitted(paths.root, notes)
    log = read_log(paths) if changed else []
    ours = {path: wanted for entry in log for path, wanted in entry.digests.items()}
    return [path for path in changed if _digest_of(paths.root / path) != ours.get(path)]


def _roll_back(paths: PalacePaths, entry: LoggedChange) -> None:
    # The file may have come with somebody else's palace: it must not reach outside of it.
    named = [path for move in entry.moves for path in (move.old, move.new)]
    for path in (*named, *(write.path for write in entry.writes), *entry.folders):
        check_inside(paths, path)
    before = {write.path: _kept(paths, write) for write in entry.writes}
    for move in reversed(entry.moves):
        _take_back_move(paths.root, move)
    for write in reversed(entry.writes):
        _take_back_write(paths.root, write, before[write.path])
    _drop_empty(paths.root, entry.folders)


def _entry_to_undo(
    log: Sequence[LoggedChange], command: str | None, identity: str | None
) -> LoggedChange:
    undone = find_undone(log)
    for entry in reversed(log):
        if identity is not None and entry.identity != identity:
            continue
        if identity is None and (entry.undoes or (command and entry.command != command)):
            continue
        if entry.identity not in undone:
            return entry
        if identity is not None:
            raise UsageError(f"{identity} has already been undone")
    raise UsageError("there is nothing to undo" if identity is None else f"no change {identity}")


def _check_committed(paths: PalacePaths, touched: Sequence[str]) -> None:
    edited = edits_not_in_git(paths, touched)
    if edited:
        raise UsageError(
            f"not committed to git: {', '.join(edited)}; commit first, or write "
            "`changes: {allow_uncommitted: true}` into palace.yaml"
        )


def _describe(paths: PalacePaths, change: ChangeSet, entry: LoggedChange) -> LoggedChange:
    """Return an entry with what is logged of a change, from the notes as they are before it."""
    moves = [operation for operation in change if isinstance(operation, Move)]
    writes = [
        Write(op.path, *(None if each is None else digest(each) for each in (op.before, op.after)))
        for op in change
        if not isinstance(op, Move)
    ]
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
    """Keep the bytes that the change replaces, each once, named by their digest.

    Of a log that only grows none are: they are its first lines.
    """
    texts = [op.before for op in change if isinstance(op, Replace | Remove) and not _grows(op)]
    folder = paths.logs / KEPT
    if texts:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for text in texts:
        path = folder / digest(text)
        if _digest_of(path) != path.name:
            write_atomic(path, text)


def _grows(operation: Replace | Remove) -> bool:
    return (
        isinstance(operation, Replace)
        and operation.path.endswith(".jsonl")
        and operation.before.endswith(b"\n")
        and operation.after.startswith(operation.before)
    )


def _kept(paths: PalacePaths, write: Write) -> bytes | None:
    """Return kept bytes, proved by their digest; ``None`` where there was no file before."""
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
    """Carry out one operation that was checked; each step is whole."""
    path = root / operation.path
    if isinstance(operation, Move):
        _move(path, root / operation.new)
    elif operation.before is None:
        path.parent.mkdir(parents=True, exist_ok=True)
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
    """Undo what was done of a move: nothing, the link, or all of it."""
    old, new = root / move.old, root / move.new
    if new.exists() and not old.exists():
        _move(new, old)
    elif new.exists() and old.samefile(new):
        _drop(new)


def _take_back_write(root: Path, write: Write, before: bytes | None) -> None:
    """Give a file its old bytes again; ``before`` is ``None`` where there was none.

    A file that holds neither the old bytes nor the new ones was saved by somebody since; it is
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
    """Remove the folders in which nothing is, those inside others first."""
    for folder in reversed(folders):
        with suppress(OSError):
            os.rmdir(root / folder)  # noqa: PTH106 - tests stop at this call


def _rewrite(path: Path, data: bytes) -> None:
    write_atomic(path, data, mode=path.stat().st_mode & 0o777)


def _drop(path: Path) -> None:
    os.unlink(path)  # noqa: PTH108 - tests stop at this call
    sync_folder(path.parent)


def _move(old: Path, new: Path) -> None:
    """Link the new name, then drop the old one: a rename would overwrite."""
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old, new)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS or new.exists():
            raise
        os.rename(old, new)  # noqa: PTH104 - tests stop at this call
        sync_folder(new.parent)
    else:
        sync_folder(new.parent)
        os.unlink(old)  # noqa: PTH108 - tests stop at this call
    sync_folder(old.parent)

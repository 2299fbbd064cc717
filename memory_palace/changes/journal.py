"""Change notes: several files at once, all or nothing, and undoable.

Order: the bytes that will be replaced, in files named by their digest; the journal; the texts,
the moves; the log line; the end of the journal. The log line is the commit: an interrupted change
without one is rolled back by the next command that changes anything. The caller of everything
here that writes holds the writer's lock.
"""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from memory_palace.changes.file_steps import (
    digest_of,
    do,
    drop_empty,
    take_back_move,
    take_back_write,
)
from memory_palace.changes.logged_change import (
    LoggedChange,
    Write,
    describe_writes,
    digest,
    digests_after,
    first_lines,
    join_changes,
    parse_logged_change,
)
from memory_palace.changes.operations import (
    ChangeSet,
    Create,
    Move,
    Operation,
    Remove,
    Replace,
    check_change,
    check_inside,
    has_grown,
    new_folders,
    touched_paths,
)
from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError, UsageError
from memory_palace.notes.git import uncommitted
from memory_palace.notes.manifest import return_lines
from memory_palace.storage.atomic import remove_files, sweep_temporaries, write_atomic
from memory_palace.storage.logs import append_record, parse_record, read_records

LOG = "moves.jsonl"
KEPT = "before"
"""Folder below the logs: the bytes that changes replaced. Deleting it only forbids undo."""
_JOURNAL = ".journal.json"


@dataclass(frozen=True, slots=True)
class Undo:
    """The way back from one logged change."""

    entry: LoggedChange
    change: tuple[Operation, ...]


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
        _check_committed(paths, [path for path in touched_paths(change) if path not in edited])
    identity = f"{now}-{sum(1 for _ in read_records(paths.logs / LOG)) + 1}"
    entry = LoggedChange(identity, now, command, reason, tuple(evidence), undoes=undoes)
    entry = _describe(paths, change, replace(entry, agent=agent, continues=continues))
    _keep(paths, change)
    write_atomic(paths.own / _JOURNAL, json.dumps(entry.to_record()).encode())
    try:
        for operation in sorted(change, key=lambda operation: isinstance(operation, Move)):
            do(paths.root, operation)
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
    do(paths.root, note)
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
    entry = parse_logged_change(record or {})
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
        path for path, wanted in entry.digests.items() if digest_of(paths.root / path) != wanted
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
    shown, after = paths.shown(paths.manifest), return_lines(paths, entry.new_paths)
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
    drop_empty(paths.root, entry.folders)
    return planned


def read_log(paths: PalacePaths) -> list[LoggedChange]:
    """Return every logged change, oldest first; the parts of one are joined."""
    log: list[LoggedChange] = []
    for entry in filter(None, map(parse_logged_change, read_records(paths.logs / LOG))):
        is_next = log and entry.continues == log[-1].identity
        log.append(join_changes(log.pop(), entry) if is_next else entry)
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
    return [path for path in changed if digest_of(paths.root / path) != ours.get(path)]


def _roll_back(paths: PalacePaths, entry: LoggedChange) -> None:
    # The file may have come with somebody else's palace: it must not reach outside of it.
    named = [path for move in entry.moves for path in (move.old, move.new)]
    for path in (*named, *(write.path for write in entry.writes), *entry.folders):
        check_inside(paths, path)
    before = {write.path: _kept(paths, write) for write in entry.writes}
    for move in reversed(entry.moves):
        take_back_move(paths.root, move)
    for write in reversed(entry.writes):
        take_back_write(paths.root, write, before[write.path])
    drop_empty(paths.root, entry.folders)


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
    moves = tuple(operation for operation in change if isinstance(operation, Move))
    writes = describe_writes(change)
    moved = {move.old: digest((paths.root / move.old).read_bytes()) for move in moves}
    return replace(
        entry,
        writes=writes,
        moves=moves,
        digests=digests_after(writes, moves, moved),
        folders=new_folders(paths.root, change),
    )


def _keep(paths: PalacePaths, change: ChangeSet) -> None:
    """Keep the bytes that the change replaces, each once, named by their digest.

    Of a log that only grows none are: they are its first lines.
    """
    texts = [op.before for op in change if isinstance(op, Replace | Remove) and not has_grown(op)]
    folder = paths.logs / KEPT
    if texts:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for text in texts:
        path = folder / digest(text)
        if digest_of(path) != path.name:
            write_atomic(path, text)


def _kept(paths: PalacePaths, write: Write) -> bytes | None:
    """Return kept bytes, proved by their digest; ``None`` where there was no file before."""
    if write.before is None:
        return None
    path: Path = paths.logs / KEPT / write.before
    if path.parent == paths.logs / KEPT and digest_of(path) == path.name:
        return path.read_bytes()
    file = paths.root / write.path
    before = first_lines(file.read_bytes() if file.is_file() else b"", write.before)
    if before is None:
        raise PalaceError(f"{path} is missing or damaged, so this change cannot be undone")
    return before


def _is_logged(paths: PalacePaths, entry: LoggedChange) -> bool:
    return any(record.get("id") == entry.identity for record in read_records(paths.logs / LOG))

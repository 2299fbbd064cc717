"""Change notes: several files at once, all or nothing, and undoable.

Order: the journal with every byte that will be replaced, the files, the log line, the journal
put aside for undo. The log line is the commit: an interrupted change without one is rolled back
by the next command that changes anything.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError, UsageError
from memory_palace.notes.editing import (
    ChangeSet,
    Create,
    Move,
    Operation,
    Remove,
    Replace,
    check_change,
    check_inside,
    render_diff,
    target_of,
)
from memory_palace.notes.journal_record import (
    Record,
    digests_after,
    invert,
    read_entries,
    read_record,
)
from memory_palace.storage.atomic import (
    append_line,
    remove_files,
    sweep_temporaries,
    sync_folder,
    write_atomic,
    write_new,
)

__all__ = [
    "Move",
    "apply_change",
    "apply_moves",
    "last_change",
    "read_log",
    "recover",
    "render_diff",
    "undo_last",
]

LOG = "moves.jsonl"
KEPT_RECORDS = 20
"""Older changes can no longer be undone: the bytes they replaced are forgotten."""
_PENDING = "pending.json"
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


def apply_change(
    paths: PalacePaths, change: ChangeSet, *, reason: str, now: str, undoes: str | None = None
) -> None:
    """Do every operation, or none: texts first, then moves. The caller holds the writer's lock.

    Nothing is overwritten but what the change names with its present bytes. What cannot be
    done raises a ``PalaceError`` and leaves every note as it was.
    """
    recover(paths)
    check_change(paths.root, change)
    ordered = tuple(sorted(change, key=lambda operation: isinstance(operation, Move)))
    moved = {op.old: (paths.root / op.old).read_bytes() for op in ordered if isinstance(op, Move)}
    identity = f"{now}-{len(read_log(paths)) + 1}"
    record = Record(identity, now, reason, ordered, digests_after(ordered, moved), undoes)
    folder = _folder(paths)
    folder.mkdir(exist_ok=True, mode=0o700)
    write_atomic(folder / _PENDING, record.to_bytes())
    try:
        for operation in ordered:
            _do(paths.root, operation)
        paths.logs.mkdir(parents=True, exist_ok=True)
        append_line(paths.logs / LOG, record.to_log_line())
    except OSError as error:
        recover(paths)
        if not _is_logged(paths, record):
            raise PalaceError(f"{reason}: {error}; every note is as it was") from error
        raise
    _put_aside(paths, record)


def apply_moves(
    paths: PalacePaths,
    moves: Sequence[Move],
    *,
    reason: str,
    now: str,
    undoes: str | None = None,
) -> None:
    """Move every note, or none."""
    apply_change(paths, moves, reason=reason, now=now, undoes=undoes)


def recover(paths: PalacePaths) -> bool:
    """Finish a change that has its log line, roll back one that has none; say if there was one."""
    record = read_record(_folder(paths) / _PENDING)
    if record is None:
        return False
    for operation in record.operations:
        # The file may have come with somebody else's palace: it must not reach outside of it.
        check_inside(paths.root, target_of(operation))
        if isinstance(operation, Move):
            check_inside(paths.root, operation.old)
    if _is_logged(paths, record):
        _put_aside(paths, record)
        return True
    for operation in reversed(record.operations):
        _take_back(paths.root, operation)
    sweep_temporaries(_folder(paths))
    remove_files([_folder(paths) / _PENDING])
    return True


def undo_last(paths: PalacePaths, *, now: str) -> ChangeSet:
    """Give back bytes and places as they were before the last change; return what was done.

    Raise ``UsageError`` naming every note that was changed since. The undo is logged as well.
    """
    recover(paths)
    entry = _last_entry(paths)
    kept = (_read_kept(paths, path) for path in _kept_records(paths))
    record = next((record for record in kept if record.identity == entry["id"]), None)
    if record is None:
        raise UsageError(f"the notes before {entry['id']} are no longer kept; ask your backup")
    changed = [path for path in record.digests if _digest(paths.root / path) != record.digests[path]]
    if changed:
        raise UsageError(f"changed since, so nothing was undone: {', '.join(sorted(changed))}")
    back = invert(record.operations)
    apply_change(paths, back, reason=f"undo {entry['id']}", now=now, undoes=entry["id"])
    return back

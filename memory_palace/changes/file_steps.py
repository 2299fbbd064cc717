"""One operation on the disk, and back: each step is whole, and taking back may be repeated."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from memory_palace.changes.logged_change import Write
from memory_palace.changes.operations import Create, Move, Operation, Remove, Replace
from memory_palace.errors import PalaceError
from memory_palace.storage.atomic import (
    sweep_temporaries_of,
    sync_folder,
    write_atomic,
    write_new,
)

_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


def do(root: Path, operation: Operation) -> None:
    """Carry out one operation that was checked."""
    match operation:
        case Move(old, new):
            _move(root / old, root / new)
        case Replace(path, before, after):
            _check_unchanged(root, path, before)
            _rewrite(root / path, after)
        case Create(path, data):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            write_new(root / path, data)
        case Remove(path, before):
            _check_unchanged(root, path, before)
            _drop(root / path)


def take_back_move(root: Path, move: Move) -> None:
    """Undo what was done of a move: nothing, the link, or all of it."""
    old, new = root / move.old, root / move.new
    if new.exists() and not old.exists():
        _move(new, old)
    elif new.exists() and old.samefile(new):
        _drop(new)


def take_back_write(root: Path, write: Write, before: bytes | None) -> None:
    """Give a file its old bytes again; ``before`` is ``None`` where there was none.

    A file that holds neither the old bytes nor the new ones was saved by somebody since; it is
    left as it is.
    """
    path = root / write.path
    if before is None:
        if digest_of(path) == write.after:
            _drop(path)
    elif write.after is None:
        if not path.exists():
            write_new(path, before)
    elif digest_of(path) == write.after:
        _rewrite(path, before)
    sweep_temporaries_of(path)


def drop_empty(root: Path, folders: Sequence[str]) -> None:
    """Remove the folders in which nothing is, those inside others first."""
    for folder in reversed(folders):
        with suppress(OSError):
            os.rmdir(root / folder)  # noqa: PTH106 - tests stop at this call


def digest_of(path: Path) -> str | None:
    """Return the SHA-256 of a file, hexadecimal, or ``None`` where it cannot be read."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _check_unchanged(root: Path, path: str, before: bytes) -> None:
    if (root / path).read_bytes() != before:
        raise PalaceError(f"{path} has been changed by another program; run the command again")


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

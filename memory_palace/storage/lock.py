"""One writer at a time. The kernel frees the lock when its holder dies.

``filelock`` is not used: it truncates the file before it has the lock, which would erase the
record of who holds it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_palace.errors import IndexLockedError
from memory_palace.storage.atomic import make_ignored_folder

if os.name == "nt":  # pragma: no cover - tested on Linux and macOS only
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


_POLL_SECONDS = 0.05


@contextmanager
def writer_lock(
    path: Path, *, wait_seconds: float = 0.0, what: str = "the index"
) -> Iterator[None]:
    """Hold the advisory lock at ``path``; raise ``IndexLockedError`` naming its holder.

    ``what`` is what the lock protects, for the message. The folder of the lock is made, and git
    ignores what is in it.
    """
    make_ignored_folder(path.parent, mode=0o700)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _acquire(descriptor, path, wait_seconds, what)
        record = json.dumps({"pid": os.getpid(), "since": time.time(), "command": _command()})
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, record.encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: Path, wait_seconds: float, what: str) -> None:
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            return _try_lock(descriptor)
        except OSError as error:
            if time.monotonic() >= deadline:
                raise IndexLockedError(_describe(path, what)) from error
            time.sleep(_POLL_SECONDS)


def _describe(path: Path, what: str) -> str:
    try:
        holder = json.loads(path.read_text("utf-8"))
        age = max(0.0, time.time() - float(holder["since"]))
        who = f"process {holder['pid']} ({holder['command']}) has held it for {age:.0f} s"
    except (OSError, ValueError, KeyError, TypeError):
        who = "another process has just started"
    return f"{what} is being written: {who}; try again, or wait longer with --wait SECONDS"


def _command() -> str:
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]]) if sys.argv else "python"

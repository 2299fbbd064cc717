"""One server a palace: its lock, its socket, and what is left of one that was killed."""

from __future__ import annotations

import json
import os
import socket
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from typing import Any

from memory_palace.errors import PalaceError, UsageError
from memory_palace.places import is_private, socket_path
from memory_palace.server.resident import VERSION


class ServedError(PalaceError):
    """Another process serves the palace."""


@contextmanager
def claim_socket(root: str, environ: Mapping[str, str]) -> Iterator[socket.socket]:
    """Hold the lock and the socket of a palace, and leave nothing behind.

    Nobody can connect before ``listen`` is called: who comes while a model is read runs the command
    himself, which takes no longer.

    Raise ``ServedError`` where another process does, ``UsageError`` where the folder of the socket
    is not the user's alone.
    """
    path = socket_path(root, environ)
    make_private(os.path.dirname(path))  # noqa: PTH120
    lock = _take_lock(lock_path(path))
    try:
        record = {"pid": os.getpid(), "since": time.time(), "version": VERSION, "root": root}
        os.ftruncate(lock, 0)
        os.pwrite(lock, json.dumps(record).encode(), 0)
        with suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108 - of one that was killed
        with _bind(path) as listening:
            yield listening
    finally:
        with suppress(FileNotFoundError):
            os.unlink(lock_path(path))  # noqa: PTH108
        os.close(lock)


def clear_left(path: str) -> None:
    """Remove the socket of a server that was killed, and its lock; of one that runs, nothing."""
    try:
        lock = _take_lock(lock_path(path))
    except (ServedError, OSError):
        return
    for left in (path, lock_path(path)):
        with suppress(OSError):
            os.unlink(left)  # noqa: PTH108
    os.close(lock)


@contextmanager
def _bind(path: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        before = os.umask(0o177)
        try:
            listening.bind(path)
        finally:
            os.umask(before)
        mark = mark_of(path)
        try:
            yield listening
        finally:
            if mark_of(path) == mark:
                os.unlink(path)  # noqa: PTH108


def lock_path(path: str) -> str:
    """Return the lock beside a socket; who holds it is written in it."""
    return path.removesuffix(".sock") + ".lock"


def mark_of(path: str) -> tuple[int, int] | None:
    """Return what tells a file or folder from another of its name; ``None`` where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino


def make_private(folder: str) -> None:
    """Make the folder of sockets; raise ``UsageError`` for one that others own or may enter."""
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)  # noqa: PTH102
    if not is_private(folder):
        raise UsageError(
            f"{folder} must be a folder that belongs to you and lets nobody else in; remove it, "
            "or set XDG_RUNTIME_DIR to one that does"
        )


def _take_lock(path: str) -> int:
    """Return the descriptor of the lock, held; raise ``ServedError`` naming who holds it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            holder = read_holder(path)
            who = f"process {holder['pid']}" if holder else "another process"
            raise ServedError(f"{who} serves this palace already") from error
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode) and mark_of(path) == (found.st_dev, found.st_ino):
            return descriptor
        os.close(descriptor)  # its holder ended and removed it between the two calls


def read_holder(path: str) -> dict[str, Any] | None:
    """Return who holds a lock: pid, since when, version, root. ``None`` where nobody does."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        flock(descriptor, LOCK_SH | LOCK_NB)
    except OSError:
        with suppress(ValueError):
            holder = json.loads(os.pread(descriptor, 1 << 16, 0))
            if isinstance(holder, dict) and isinstance(holder.get("pid"), int):
                return holder
    finally:
        os.close(descriptor)
    return None

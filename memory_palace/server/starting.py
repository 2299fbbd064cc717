"""One server per palace: claim lock and socket, start it, query its status, stop it."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from memory_palace.errors import PalaceError, UsageError
from memory_palace.places import Server, is_private, socket_path
from memory_palace.server.client import VERSION, decode, encode
from memory_palace.storage import write_holder
from memory_palace.system import lock_file, owns

_ANSWER_SECONDS = 2.0
_END_SECONDS = 8.0
"""Longer than a server waits for its pending answers."""
_START_SECONDS = 30.0
"""Enough for a large model on a busy machine."""
_POLL_SECONDS = 0.02


class ServedError(PalaceError):
    """Another process serves the palace."""


@contextmanager
def claim_socket(root: str, environ: Mapping[str, str]) -> Iterator[socket.socket]:
    """Hold the lock and the socket of a palace; remove both at the end.

    No client can connect before ``listen`` is called: while a model is loaded, clients run their
    commands themselves, which takes no longer.

    Raise ``ServedError`` if another process holds them, ``UsageError`` if the folder of the socket
    is not private to the user.
    """
    path = socket_path(root, environ)
    folder = os.path.dirname(path)  # noqa: PTH120
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)  # noqa: PTH102
    if not is_private(folder):
        raise UsageError(
            f"{folder} must be a folder that belongs to you and lets nobody else in; remove it, "
            "or set XDG_RUNTIME_DIR to one that does"
        )
    lock = _take_lock(path)
    try:
        write_holder(lock, version=VERSION, root=root)
        with suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108 - of one that was killed
        with socket.socket(socket.AF_UNIX) as listening:
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
    finally:
        with suppress(FileNotFoundError):
            os.unlink(_lock_path(path))  # noqa: PTH108
        os.close(lock)


def clear_left(path: str) -> None:
    """Remove the socket and the lock of a killed server, but not those of a running one."""
    try:
        lock = _take_lock(path)
    except (ServedError, OSError):
        return
    for left in (path, _lock_path(path)):
        with suppress(OSError):
            os.unlink(left)  # noqa: PTH108
    os.close(lock)


def start_server(server: Server, options: Sequence[str] = ()) -> None:
    """Start a server detached from this process, without waiting for it.

    None is started if one runs, the palace has no index, or the index belongs to another user. Of
    two started at once, the one that gets the lock stays.
    """
    try:
        is_own = owns(os.stat(server.commit))  # noqa: PTH116
    except OSError:
        return
    folder = os.path.dirname(server.address)  # noqa: PTH120
    is_shut = os.path.exists(folder) and not is_private(folder)  # noqa: PTH110
    if not is_own or is_shut or not sys.executable or _read_holder(server.address):
        return
    # -P: a module of that name in the working folder must not be run in its place.
    command = [sys.executable, "-P", "-m", "memory_palace", "-C", server.root, "serve", *options]
    environ = {name: value for name, value in os.environ.items() if name != "PALACE_ROOT"}
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    with suppress(OSError, NotImplementedError):  # optional: the question is answered
        os.posix_spawn(sys.executable, command, environ, file_actions=nowhere, setsid=True)


def wait_for_server(root: str, environ: Mapping[str, str]) -> dict[str, Any] | None:
    """Wait for a started server; return its status, or ``None`` if it does not answer in time."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if found := ask_status(root, environ):
            return found
        time.sleep(_POLL_SECONDS)
    return None


def ask_status(root: str, environ: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the status of a palace's server; ``None`` if it has none."""
    return _control(socket_path(root, environ), "status")


def stop_server(root: str, environ: Mapping[str, str]) -> bool:
    """Stop the server of a palace, busy or not, and wait; return whether there was one."""
    path = socket_path(root, environ)
    holder = _read_holder(path)
    if holder is None:
        return False
    _control(path, "stop")
    for number in (signal.SIGTERM, signal.SIGKILL, None):
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline:
            if _read_holder(path) != holder:
                return True
            time.sleep(_POLL_SECONDS)
        with suppress(ProcessLookupError):
            if number is not None:
                os.kill(holder["pid"], number)
    raise PalaceError(f"process {holder['pid']} does not end")


def _control(path: str, what: str) -> dict[str, Any] | None:
    if not is_private(os.path.dirname(path)):  # noqa: PTH120
        return None
    with socket.socket(socket.AF_UNIX) as server, suppress(OSError, ValueError):
        server.settimeout(_ANSWER_SECONDS)
        server.connect(path)
        server.sendall(encode({"v": VERSION, "do": what}))
        with server.makefile("rb") as replies:
            return decode(replies.readline())
    return None


def mark_of(path: str) -> tuple[int, int] | None:
    """Return device and inode, which identify a file or folder; ``None`` if it does not exist."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _lock_path(path: str) -> str:
    """Return the path of the lock beside a socket, which names its holder."""
    return path.removesuffix(".sock") + ".lock"


def _take_lock(path: str) -> int:
    """Acquire the lock of a socket; return its descriptor, or raise ``ServedError``."""
    while True:
        lock = os.open(_lock_path(path), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            lock_file(lock)
        except OSError as error:
            os.close(lock)
            holder = _read_holder(path)
            who = f"process {holder['pid']}" if holder else "another process"
            raise ServedError(f"{who} serves this palace already") from error
        found = os.fstat(lock)
        is_there = mark_of(_lock_path(path)) == (found.st_dev, found.st_ino)
        if is_there and stat.S_ISREG(found.st_mode):
            return lock
        os.close(lock)  # its holder ended and removed it between the two calls


def _read_holder(path: str) -> dict[str, Any] | None:
    """Return the record of a held lock (pid, since, version, root); ``None`` if it is free."""
    try:
        lock = os.open(_lock_path(path), os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        lock_file(lock, is_shared=True)
    except OSError:
        with suppress(ValueError):
            holder = json.loads(os.pread(lock, 1 << 16, 0))
            if isinstance(holder, dict) and isinstance(holder.get("pid"), int):
                return holder
    finally:
        os.close(lock)
    return None

"""What POSIX systems and Windows do differently, each in one place, with minimal imports."""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

IS_POSIX = hasattr(os, "getuid")
"""Whether files have owners, folders can be flushed, and a server has a Unix socket."""
BINARY = getattr(os, "O_BINARY", 0)
"""Flag of ``os.open`` without which Windows writes a line feed as two bytes."""
IN_USE: tuple[type[OSError], ...] = () if IS_POSIX else (PermissionError,)
"""What Windows raises for deleting or replacing a file that a process has open or mapped."""


def owns(found: os.stat_result) -> bool:
    """Whether a file belongs to this user; true on Windows."""
    return not IS_POSIX or found.st_uid == os.geteuid()


def may_block(path: Path) -> bool:
    """Whether a path is of a pipe, socket or device, whose reading may never end."""
    mode = path.stat().st_mode
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def read_file(path: Path, most_bytes: int = -1) -> bytes:
    """Return the bytes of a file; raise ``OSError`` for a pipe or device."""
    if may_block(path):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    with path.open("rb") as file:
        return file.read(most_bytes)


def lock_file(descriptor: int, *, is_shared: bool = False) -> None:
    """Take the advisory lock of an open file; raise ``OSError`` if another process has it."""
    if IS_POSIX:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_NB | (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX))
    else:
        import msvcrt

        os.lseek(descriptor, 1 << 30, os.SEEK_SET)  # nobody else may read the byte that is locked
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]


def wait_for_input(descriptor: int, seconds: float) -> bool:
    """Whether a pipe has bytes, or ends, in time; on Windows its reader waits without a limit."""
    if not IS_POSIX:
        return True
    from select import select

    return bool(select([descriptor], (), (), seconds)[0])

"""Open one note, once, and never a file outside the palace."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from memory_palace.config import PALACE
from memory_palace.errors import PalaceError
from memory_palace.models import FileStat, Problem, ProblemKind, SourceFile

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""A pipe that is named like a note must not block the run."""


class NoteUnreadable(PalaceError):  # noqa: N818 - it names a state of the note
    """A note that is left out; ``problem`` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def read_note(root: Path, file: SourceFile, *, limit_bytes: int) -> tuple[bytes, FileStat]:
    """Return a note's bytes and the stat of the very file they came from.

    Raise ``FileNotFoundError`` where it has vanished, ``NoteUnreadable`` where it may not or
    cannot be read.
    """
    path = root / file.path
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unreadable(file, "unreadable", f"cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as opened:
        found = os.fstat(descriptor)
        _check(root, path, file, found, limit_bytes)
        try:
            data = opened.read(found.st_size + 1)
            if len(data) > found.st_size:  # it grew, or its size is not known before
                data += opened.read(limit_bytes + 1 - len(data))
        except OSError as error:
            raise _unreadable(file, "unreadable", f"cannot be read: {error.strerror}") from error
    if len(data) > limit_bytes:
        raise _too_large(file, len(data), limit_bytes)
    return data, FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _check(
    root: Path, path: Path, file: SourceFile, found: os.stat_result, limit_bytes: int
) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise _unreadable(file, "unreadable", "is not a regular file")
    home, real = os.path.realpath(root / PALACE), os.path.realpath(path)
    if not real.startswith(home + os.sep):
        raise _unreadable(
            file, "link", "is a symbolic link that leaves the palace; it is not followed"
        )
    if found.st_size > limit_bytes:
        raise _too_large(file, found.st_size, limit_bytes)


def _too_large(file: SourceFile, size: int, limit_bytes: int) -> NoteUnreadable:
    return _unreadable(
        file,
        "too large",
        f"has {size:,} bytes, more than max_note_bytes ({limit_bytes:,}); it is not indexed. "
        "Split it, or raise max_note_bytes in palace.yaml",
    )


def _unreadable(file: SourceFile, kind: ProblemKind, message: str) -> NoteUnreadable:
    return NoteUnreadable(Problem(file.path, None, kind, message, is_failure=True))

"""Open one note, once, and never a file outside the palace; decode it."""

from __future__ import annotations

import codecs
import os
import re
import stat

from memory_palace.config import LONG_LINE_BYTES, PalacePaths
from memory_palace.errors import PalaceError
from memory_palace.models import FileStat, Problem, ProblemKind
from memory_palace.notes.discovery import LINKS_OUT, SourceFile

_LINE_END = re.compile(r"\r\n?")
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""A pipe that is named like a note must not block the run."""
_MOST_BYTES = 32 * 1024 * 1024  # of a file that is read to see how much of it is prose
_LONG_LINE = re.compile(rb"^[^\n]{%d,}+" % (LONG_LINE_BYTES + 1), re.MULTILINE)
_SAMPLE_BYTES, _FEW, _MANY = 64 * 1024, 0.05, 0.25
"""Bytes that tell whether a file is text; the largest shares of controls and of no UTF-8 in one."""
_CONTROLS = bytes({*range(32)} - {*b"\a\b\t\n\v\f\r\x1b"})


class NoteUnreadable(PalaceError):  # noqa: N818 - it names a state of the note
    """A note that is left out; ``problem`` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def read_note(paths: PalacePaths, file: SourceFile, *, limit_bytes: int) -> tuple[bytes, FileStat]:
    """Return a note's bytes and the stat of the very file they came from.

    Raise ``FileNotFoundError`` where it has vanished, ``NoteUnreadable`` where it may not or
    cannot be read.
    """
    path = paths.root / file.path
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unreadable(file, "unreadable", f"cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as opened:
        found = os.fstat(descriptor)
        most_bytes = max(limit_bytes, _MOST_BYTES)
        if not stat.S_ISREG(found.st_mode):
            raise _unreadable(file, "unreadable", "is not a regular file")
        home, real = os.path.realpath(paths.notes), os.path.realpath(path)
        if not real.startswith(home.rstrip(os.sep) + os.sep):
            raise _unreadable(file, "link", f"is a symbolic link that {LINKS_OUT}")
        if found.st_size > most_bytes:
            raise _too_large(file, found.st_size, limit_bytes)
        try:
            data = opened.read(found.st_size + 1)
            if len(data) > found.st_size:  # it grew, or its size is not known before
                data += opened.read(most_bytes + 1 - len(data))
        except OSError as error:
            raise _unreadable(file, "unreadable", f"cannot be read: {error.strerror}") from error
    if len(data) > limit_bytes < len(_LONG_LINE.sub(b"", data.replace(b"\r", b"\n"))):
        raise _too_large(file, len(data), limit_bytes)
    if not is_text(data):
        words = "is no text (NUL bytes, or no UTF-8); save it as UTF-8, or name it in .palaceignore"
        raise _unreadable(file, "unreadable", words)
    return data, FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def read_named(paths: PalacePaths, path: str, *, limit_bytes: int) -> bytes:
    """Return the bytes of a note of the index, which may have become a link that leads elsewhere.

    Raise what ``read_note`` does.
    """
    file = SourceFile(path, FileStat(0, 0, 0, 0), is_cold=False)
    return read_note(paths, file, limit_bytes=limit_bytes)[0]


def decode_note(data: bytes, path: str) -> tuple[str, tuple[Problem, ...]]:
    """Decode UTF-8 (with or without BOM) or UTF-16; take anything else for Windows-1252.

    NUL bytes become spaces. Lines are counted as an editor shows them: a carriage return, a line
    feed, or one after the other ends a line.
    """
    problems: list[Problem] = []
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
        problems.append(Problem(path, None, "encoding", "is UTF-16; save it as UTF-8"))
    else:
        try:
            text = data.removeprefix(codecs.BOM_UTF8).decode()
        except UnicodeDecodeError as error:
            text, line = data.decode("cp1252", "replace"), 1 + data.count(b"\n", 0, error.start)
            message = "is not UTF-8 from here on and is read as Windows-1252; save it as UTF-8"
            problems.append(Problem(path, line, "encoding", message))
    if "\0" in text:
        line = 1 + text.count("\n", 0, text.index("\0"))
        message = "contains NUL bytes; they are read as spaces"
        problems.append(Problem(path, line, "encoding", message))
        text = text.replace("\0", " ")
    return (_LINE_END.sub("\n", text) if "\r" in text else text), tuple(problems)


def decode_stored(path: str, data: bytes) -> str:
    """Return the text of a note to edit; raise ``PalaceError`` where it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PalaceError(f"{path} is not UTF-8; save it as UTF-8 first") from error


def is_text(data: bytes) -> bool:
    """Return whether bytes are text: few at their beginning are controls or no UTF-8."""
    head = data[:_SAMPLE_BYTES]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    strange = head.decode("utf-8", "replace").count("\ufffd") - head.count("\ufffd".encode())
    return controls <= _FEW * len(head) and strange <= _MANY * len(head)


def _too_large(file: SourceFile, size: int, limit_bytes: int) -> NoteUnreadable:
    return _unreadable(
        file,
        "too large",
        f"has {size:,} bytes, more than max_note_bytes ({limit_bytes:,}); it is not indexed. "
        "Split it, or raise max_note_bytes in palace.yaml",
    )


def _unreadable(file: SourceFile, kind: ProblemKind, message: str) -> NoteUnreadable:
    return NoteUnreadable(Problem(file.path, None, kind, message, is_failure=True))

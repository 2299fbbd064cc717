"""Every error the package raises on purpose, and the exit status each one becomes.

A message says what is wrong, where, and what to type next. Below stands the fence: a defect in a
reader of facts costs the one fact, and is named, since no text of a note may stop a build.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # type checkers take it for true; to import typing takes 3 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import ClassVar, TypeVar

    from memory_palace.models import Problem

    T = TypeVar("T")
    Lost = TypeVar("Lost")


class PalaceError(Exception):
    """Base class: catch this to catch everything the package raises on purpose."""

    exit_code: ClassVar[int] = 1


class UsageError(PalaceError):
    """The caller asked for something that does not exist or contradicts itself."""

    exit_code = 2


class RoomNotMappedError(UsageError):
    """What was asked for belongs into a room that no folder of the palace is."""

    def __init__(self, message: str, *, room: str) -> None:
        super().__init__(message)
        self.room = room


class ConfigError(UsageError):
    """``palace.yaml`` holds something that cannot be used."""


class NotAPalaceError(PalaceError):
    """Neither the folder nor any of its parents holds ``.palace/`` or ``palace/``."""

    exit_code = 3


class IndexMissingError(PalaceError):
    """The palace has never been indexed."""

    exit_code = 4


class WrongEmbedderError(PalaceError):
    """The index was built with another embedder or another recipe."""

    exit_code = 4


class IndexLockedError(PalaceError):
    """Another process is writing the index."""

    exit_code = 5


class IndexDamagedError(PalaceError):
    """An index file is missing, or does not match the digest that was committed for it."""

    exit_code = 6


class NotesFailedError(PalaceError):
    """Some notes could not be read; the others were indexed."""

    exit_code = 7


class CheckFailedError(PalaceError):
    """A verification found what it looks for."""

    exit_code = 8


class MissingPartError(PalaceError):
    """An optional package or a model's weights are not on this machine."""

    exit_code = 9


class StoreError(PalaceError):
    """A store in a database cannot be reached, or refuses what it is asked."""

    exit_code = 10


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "", *, most: int = 1) -> str:
    """Return "; did you mean 'x'?" for the known names that are spelt alike, else ``otherwise``."""
    from difflib import get_close_matches  # delayed: every command imports this module

    near = get_close_matches(name, list(known), n=most)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else otherwise


def _tell(problem: Problem) -> None:
    sys.stderr.write(f"palace: {problem}\n")


class Fence:
    """Calls readers of one note, or of a question, and tells what they could not read."""

    def __init__(
        self, path: str = "the question", tell: Callable[[Problem], object] | None = None
    ) -> None:
        """``tell`` is given each problem; without it they are lines on stderr."""
        self._path, self._tell = path, tell

    def read(
        self, reader: str, read: Callable[[], T], lost: Lost, line: int | None = None
    ) -> T | Lost:
        """Return what a reader returns, or ``lost`` where it raises what nobody can mend."""
        try:
            return read()
        except (PalaceError, OSError, MemoryError):
            raise
        except Exception as error:
            import traceback

            from memory_palace.models import Problem

            where = traceback.extract_tb(error.__traceback__)[-1]
            raised = f"{type(error).__name__}, {where.filename.rpartition('/')[2]}:{where.lineno}"
            message = (
                f"the reader of {reader} failed ({raised}); all else was read. This is a defect of "
                "Memory Palace: please report it"
            )
            (self._tell or _tell)(Problem(self._path, line, "defect", message, is_failure=True))
            return lost

    def read_lines(
        self, reader: str, read: Callable[[str], Iterable[T]], text: str, line: int
    ) -> list[T]:
        """Return what a reader finds in a text; where it fails, in each line that it can read."""
        told: list[Problem] = []
        found: list[T] = []
        fence = Fence(self._path, told.append)
        if (whole := fence.read(reader, lambda: [*read(text)], None, line)) is not None:
            return whole
        for at, row in enumerate(text.split("\n"), start=line):
            found += fence.read(reader, lambda: [*read(row)], [], at)  # noqa: B023 - called at once
        for problem in told[1:] or told:
            (self._tell or _tell)(problem)
        return found


ASKED = Fence()
"""Of a question, whatever it is."""

"""The fence: what a reader of facts raises costs the one fact, and is named.

No text of a note may stop a build, and none of a question an answer. So whatever reads facts is
called from here, the one place where any exception is caught: it is a defect of this program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

from memory_palace.errors import PalaceError
from memory_palace.models import Problem

_T = TypeVar("_T")
_Lost = TypeVar("_Lost")
_NO_DEFECT = (PalaceError, OSError, MemoryError)
"""What a person can mend."""


def _tell(problem: Problem) -> None:
    sys.stderr.write(f"palace: {problem}\n")


class Fence:
    """Calls readers of one note, or of a question, and tells what they could not read."""

    def __init__(
        self, path: str = "the question", tell: Callable[[Problem], None] | None = None
    ) -> None:
        """``tell`` is given each problem; without it they are lines on stderr."""
        self._path, self._tell = path, tell

    def tell(self, problem: Problem) -> None:
        """Tell what could not be read."""
        (self._tell or _tell)(problem)

    def read(
        self, reader: str, read: Callable[[], _T], lost: _Lost, line: int | None = None
    ) -> _T | _Lost:
        """Return what a reader returns, or ``lost`` where it raises anything but what it should.

        ``reader`` says in a word what it reads, ``line`` where in the note.
        """
        try:
            return read()
        except _NO_DEFECT:
            raise
        except Exception as error:
            import traceback  # delayed: questions need none

            where = traceback.extract_tb(error.__traceback__)[-1]
            raised = f"{type(error).__name__}, {where.filename.rpartition('/')[2]}:{where.lineno}"
            message = (
                f"the reader of {reader} failed ({raised}); all else was read. This is a defect of "
                "Memory Palace: please report it"
            )
            self.tell(Problem(self._path, line, "defect", message, is_failure=True))
            return lost

    def read_lines(
        self, reader: str, read: Callable[[str], Iterable[_T]], text: str, line: int
    ) -> list[_T]:
        """Return what a reader finds in a text that begins on a line.

        Where it fails on the whole, it is given one line after the other, and those are named.
        """

        def each(text: str) -> Callable[[], list[_T]]:
            return lambda: [*read(text)]

        whole: list[Problem] = []
        found = Fence(self._path, whole.append).read(reader, each(text), list[_T](), line)
        if not whole:
            return found
        lines: list[Problem] = []
        fence = Fence(self._path, lines.append)
        for number, row in enumerate(text.split("\n"), start=line):
            found += fence.read(reader, each(row), [], number)
        for problem in lines or whole:
            self.tell(problem)
        return found


ASKED = Fence()
"""Of a question, whatever it is."""

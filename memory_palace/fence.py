"""The fence: what a reader of facts fails on costs the one fact, and is named.

No text of a note may stop a build, and none of a question an answer. So readers are called from
here, the one place where any exception is caught: it is a defect of this program.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable
from typing import TypeVar

from memory_palace.errors import PalaceError
from memory_palace.models import Problem

_T = TypeVar("_T")
_Lost = TypeVar("_Lost")
_Tell = Callable[[Problem], object]


def _tell(problem: Problem) -> None:
    sys.stderr.write(f"palace: {problem}\n")


class Fence:
    """Calls readers of one note, or of a question, and tells what they could not read."""

    def __init__(self, path: str = "the question", tell: _Tell | None = None) -> None:
        """``tell`` is given each problem; without it they are lines on stderr."""
        self._path, self._tell = path, tell

    def read(
        self, reader: str, read: Callable[[], _T], lost: _Lost, line: int | None = None
    ) -> _T | _Lost:
        """Return what a reader returns, or ``lost`` where it raises what nobody can mend."""
        try:
            return read()
        except (PalaceError, OSError, MemoryError):
            raise
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            raised = f"{type(error).__name__}, {where.filename.rpartition('/')[2]}:{where.lineno}"
            message = (
                f"the reader of {reader} failed ({raised}); all else was read. This is a defect of "
                "Memory Palace: please report it"
            )
            (self._tell or _tell)(Problem(self._path, line, "defect", message, is_failure=True))
            return lost

    def read_lines(
        self, reader: str, read: Callable[[str], Iterable[_T]], text: str, line: int
    ) -> list[_T]:
        """Return what a reader finds in a text; where it fails, in each line that it can read."""
        told: list[Problem] = []
        fence, found = Fence(self._path, told.append), list[_T]()
        if (whole := fence.read(reader, lambda: [*read(text)], None, line)) is not None:
            return whole
        for at, row in enumerate(text.split("\n"), start=line):
            found += fence.read(reader, lambda: [*read(row)], [], at)  # noqa: B023 - called at once
        for problem in told[1:] or told:
            (self._tell or _tell)(problem)
        return found


ASKED = Fence()
"""Of a question, whatever it is."""

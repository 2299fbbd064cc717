"""The errors that the package raises on purpose, with the exit status of each.

A message names the problem, its place, and what to type next.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; to import typing takes 3 ms
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import ClassVar


class PalaceError(Exception):
    """Base class: catch this to catch everything the package raises on purpose."""

    exit_code: ClassVar[int] = 1


class UsageError(PalaceError):
    """The caller asked for something that does not exist or contradicts itself."""

    exit_code = 2


class RoomNotMappedError(UsageError):
    """A room is needed to which no folder of the palace is mapped."""

    def __init__(self, message: str, *, room: str) -> None:
        super().__init__(message)
        self.room = room


class ConfigError(UsageError):
    """The settings or the user's registry of palaces are invalid."""


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
    """A check found defects, or could not be carried out."""

    exit_code = 8


class MissingPartError(PalaceError):
    """An optional package or a model's weights are not on this machine."""

    exit_code = 9


class StoreError(PalaceError):
    """A store in a database cannot be reached, or rejects a request."""

    exit_code = 10


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "", *, most: int = 1) -> str:
    """Return "; did you mean 'x'?" for the known names that are spelt alike, else ``otherwise``."""
    from difflib import get_close_matches  # delayed: every command imports this module

    near = get_close_matches(name, list(known), n=most)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else otherwise

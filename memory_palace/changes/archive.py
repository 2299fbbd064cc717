"""Where a note goes when it is archived, and where it comes back to."""

from __future__ import annotations

import re

from memory_palace.changes.editing import Move
from memory_palace.changes.journal import read_log
from memory_palace.config import ARCHIVE, PALACE, PalacePaths
from memory_palace.errors import UsageError

_ARCHIVED = re.compile(rf"{PALACE}/{ARCHIVE}/(?:\d{{4}}/)?(.+)")


def plan_archive(path: str, *, year: int) -> Move:
    """Keep a note's room and folders below the year: it shows where it came from."""
    if _ARCHIVED.fullmatch(path):
        raise UsageError(f"{path} is archived already")
    return Move(path, f"{PALACE}/{ARCHIVE}/{year}/{path.removeprefix(f'{PALACE}/')}")


def plan_restore(paths: PalacePaths, path: str) -> Move:
    """Bring a note back to where the log says it was, else to where its folders say."""
    match = _ARCHIVED.fullmatch(path)
    if match is None:
        raise UsageError(f"{path} is not in the archive")
    for entry in reversed(read_log(paths)):
        for move in entry.moves:
            if move.new == path and not _ARCHIVED.fullmatch(move.old):
                return Move(path, move.old)
    if "/" not in match[1]:
        raise UsageError(f"nothing says where {path} came from; move it with your file manager")
    return Move(path, f"{PALACE}/{match[1]}")

"""Files beside the segments that the commit record names: they are derived from a whole index."""

from __future__ import annotations

from pathlib import Path

from memory_palace.errors import IndexDamagedError
from memory_palace.storage.atomic import is_named_by_content


def check_companion(folder: Path, name: str) -> Path:
    """Return the file of that name after comparing it with the SHA-256 in its name.

    Raise ``IndexDamagedError`` where it is missing or differs.
    """
    path = folder / f"{name}.npz"
    try:
        if is_named_by_content(path):
            return path
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise damaged_companion(path, "it is missing" if missing else "it cannot be read") from None
    raise damaged_companion(path, "it does not match its SHA-256")


def damaged_companion(path: Path, why: str) -> IndexDamagedError:
    """Name a file that cannot be trusted, and the command that makes it again."""
    return IndexDamagedError(
        f"{path.name} is damaged: {why}; run `palace anchors build` to make it again"
    )

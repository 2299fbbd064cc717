"""Make a folder a palace. Imports little: making one must not cost more than looking at it."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from memory_palace.config import IGNORED, ROOMS, PalacePaths, find_paths
from memory_palace.errors import UsageError
from memory_palace.notes.discovery import SUFFIXES, is_unwanted
from memory_palace.places import OWN, PALACE, is_used
from memory_palace.storage.atomic import make_ignored_folder

_MOST_ENTRIES = 10_000
"""Files and folders that are looked at to say how many notes there are."""


def make_palace(root: Path, *, here: bool = False) -> PalacePaths:
    """Make the seven rooms in ``palace/``, or with ``here`` take the folder as it stands.

    Doing it twice changes nothing. Raise ``UsageError`` where ``here`` would make a second palace
    of the notes of a classic one, or there is no such folder.
    """
    found = find_paths(root)
    if here and not root.is_dir():
        raise UsageError(f"there is no folder {root} that could be taken as it stands")
    if here and found and found.is_classic and is_used(str(root)):
        raise UsageError(
            f"{found.own} is a palace already; to take {root} as it stands, move its notes up "
            "first, as references/layouts.md says"
        )
    if here and found and found.is_classic:
        _take_back(found)
    if here or (found and not found.is_classic):
        make_ignored_folder(root / OWN, ignored="\n".join(IGNORED))
    else:
        for room in ROOMS:
            (root / PALACE / room).mkdir(parents=True, exist_ok=True)
    return find_paths(root) or PalacePaths(root)


def _take_back(paths: PalacePaths) -> None:
    """Remove what making a classic palace has made, where nothing was put into it."""
    shutil.rmtree(paths.index, ignore_errors=True)
    for folder in (*(paths.notes / room for room in ROOMS), paths.notes):
        with suppress(OSError):  # it is not empty, or was never made
            folder.rmdir()


def count_outside(root: Path) -> tuple[int, bool]:
    """Count the notes below a folder that are not in ``palace/``; say whether that is all."""
    count, seen = 0, 0
    for folder, folders, files in os.walk(root):
        kept = (name for name in folders if not name.startswith("."))
        kept = (name for name in kept if not is_unwanted(name, is_folder=True))
        folders[:] = [name for name in kept if name != PALACE or Path(folder) != root]
        seen += len(files) + len(folders)
        count += sum(not name.startswith(".") and name.lower().endswith(SUFFIXES) for name in files)
        if seen > _MOST_ENTRIES:
            return count, False
    return count, True

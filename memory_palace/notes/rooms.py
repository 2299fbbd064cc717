"""Which folder is which room, by the settings of a palace, and what that says of a note."""

from __future__ import annotations

from memory_palace.config import ROOMS, PalacePaths, Rooms

OUTSIDE = "note"
"""Type of a note that lies in none of the seven rooms."""


def default_type(rooms: Rooms, path: str) -> str:
    """Return the type of a note that neither itself nor the manifest names."""
    room = rooms.room_of(path)
    return ROOMS[room] if room else OUTSIDE


def is_cold_path(paths: PalacePaths, path: str) -> bool:
    """Whether a root-relative path is cold, links followed, whether or not it exists."""
    home = paths.notes.resolve()
    resolved = (paths.root / path).resolve()
    if not resolved.is_relative_to(home):
        return False
    return paths.rooms.is_archived(paths.prefix + resolved.relative_to(home).as_posix())


def stem_of(target: str) -> str:
    """Return the file name without ``.md`` or ``.markdown``, of a path or of what a link names."""
    name = target.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    return stem if suffix.lower() in ("md", "markdown") else name

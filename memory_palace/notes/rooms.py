"""Which room a note is in, and what that says of it."""

from __future__ import annotations

from pathlib import Path

from memory_palace.config import ARCHIVE, PALACE, ROOMS

OUTSIDE = "note"
"""Type of a note that lies in none of the seven rooms."""


def room_of(path: str) -> str | None:
    """Return the room of a root-relative path, or ``None`` outside the seven."""
    parts = path.split("/", 2)
    if len(parts) == 3 and parts[0] == PALACE and parts[1] in ROOMS:
        return parts[1]
    return None


def default_type(path: str) -> str:
    """Return the type of a note that neither itself nor the manifest names."""
    room = room_of(path)
    return ROOMS[room] if room else OUTSIDE


def is_archived(path: str) -> bool:
    """Whether ``archive_basement`` is a component of a path that has no links left to follow.

    The one rule of the cold zone. ``discover_notes`` applies it to every note it finds, links
    followed; files, documents, segments and snapshots carry what it found and do not ask again.
    """
    return ARCHIVE in path.split("/")


def is_cold_path(root: Path, path: str) -> bool:
    """Whether a root-relative path is cold, links followed, whether or not it exists."""
    home = (root / PALACE).resolve()
    resolved = (root / path).resolve()
    return resolved.is_relative_to(home) and is_archived(resolved.relative_to(home).as_posix())


def stem_of(target: str) -> str:
    """Return the file name without ``.md`` or ``.markdown``, of a path or of what a link names."""
    name = target.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    return stem if suffix.lower() in ("md", "markdown") else name

"""Which terms may trigger, which passages may be reached, and how far each source is trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import SEVEN, TRUST, AnchorSettings, Rooms
from memory_palace.features.anchors.anchor_file import Keys
from memory_palace.index.snapshot import Snapshot


def source_of(path: str, sources: Mapping[str, str], rooms: Rooms = SEVEN) -> str:
    """Return the source of a note: the longest prefix in the settings, else its room."""
    fitting = [prefix for prefix in sources if is_below(path, prefix)]
    return max(fitting, key=len) if fitting else rooms.room_of(path) or "(no room)"


def is_below(path: str, prefix: str) -> bool:
    """Say whether a path is a prefix's own or below it; prefixes end at a path component."""
    whole = prefix.rstrip("/")
    return path == whole or path.startswith(whole + "/")


def trust_per_note(paths: Sequence[str], sources: Mapping[str, str]) -> NDArray[np.float32]:
    """Return the factor of the anchor scores of each note's passages."""
    if not sources:
        return np.ones(len(paths), np.float32)
    levels = (sources.get(source_of(path, sources), "own") for path in paths)
    return np.array([TRUST[level] for level in levels], np.float32)


def row_keys(snapshot: Snapshot) -> Keys:
    """Return for each row the first eight bytes of its text digest."""
    return np.ascontiguousarray(snapshot.row_digests).view("<u8").reshape(-1, 2)[:, 0]


def open_rows(snapshot: Snapshot, settings: AnchorSettings) -> NDArray[np.int64]:
    """Return the rows that anchors may lead to: of live notes, not private, not cold, allowed."""
    is_open = ~snapshot.private & ~snapshot.cold
    if settings.allow:
        is_open &= [any(is_below(p, prefix) for prefix in settings.allow) for p in snapshot.paths]
    return np.flatnonzero(np.append(is_open, np.False_)[snapshot.row_note])

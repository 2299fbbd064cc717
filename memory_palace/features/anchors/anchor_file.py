"""The anchor file: anchors with their vectors, and a posting list of passages for each.

A passage is keyed by the first eight bytes of its text digest, not by row, so that entries stay
valid when segments are merged and notes are renamed or deleted. The rows that anchors may lead to,
and the trust in sources, are computed here too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import SEVEN, TRUST, AnchorSettings, Rooms
from memory_palace.index.commit import check_companion, damaged_companion
from memory_palace.index.segment import map_arrays
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.writing import write_arrays
from memory_palace.models import Matrix, Scores
from memory_palace.storage import write_content

Keys = NDArray[np.uint64]
"""Passage keys: the first eight bytes of text digests, as integers."""
TermKind = Literal["curated", "project", "entity", "title", "link", "name"]
"""Kinds of terms, the most reliable first."""

SCHEMA = 4
KINDS: tuple[TermKind, ...] = get_args(TermKind)
_FIGURES = ("fingerprint", "theta", "built_ns")
_ARRAYS = ("matrix", "starts", "keys", "scores", "covered")


@dataclass(frozen=True, slots=True)
class Anchor:
    """A term of the vocabulary."""

    key: str
    display: str
    kinds: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    """Other keys that match it."""

    @property
    def kind(self) -> TermKind:
        return next((kind for kind in KINDS if kind in self.kinds), "name")


@dataclass(frozen=True, slots=True)
class AnchorFile:
    """A build with all later updates; anchor ``i`` owns entries ``starts[i]:starts[i + 1]``."""

    anchors: tuple[Anchor, ...]
    matrix: Matrix
    """One unit vector per anchor, in the same order."""
    starts: NDArray[np.int64]
    keys: Keys
    scores: Scores
    covered: Keys
    """Keys of the passages compared with every anchor, ascending."""
    fingerprint: str
    theta: float
    built_ns: int

    def entries(self) -> tuple[NDArray[np.int64], Keys, Scores]:
        """Return anchor, passage and score of every entry, in parallel."""
        anchors = np.repeat(np.arange(len(self.anchors)), np.diff(self.starts))
        return anchors, np.asarray(self.keys), np.asarray(self.scores)


def write_anchors(folder: Path, file: AnchorFile) -> str:
    """Write an anchor file and return its name, which the commit record must list."""
    meta = {name: getattr(file, name) for name in _FIGURES} | {
        "schema": SCHEMA,
        "anchors": [asdict(anchor) for anchor in file.anchors],
    }
    text = json.dumps(meta, sort_keys=True, ensure_ascii=False).encode()
    members = {name: [getattr(file, name)] for name in _ARRAYS}
    members["meta"] = [np.frombuffer(text, np.uint8)]
    return write_content(folder, lambda file: write_arrays(file, members), "anchors-{}.npz").stem


def read_anchors(folder: Path, names: Sequence[str]) -> AnchorFile | None:
    """Read the anchor file that a commit names; ``None`` without one, or of another version.

    Raise ``IndexDamagedError`` for a damaged file.
    """
    if not names:
        return None
    path = check_companion(folder, names[0])
    try:
        arrays = map_arrays(path)
        meta = json.loads(arrays["meta"].tobytes())
        if meta["schema"] != SCHEMA:
            return None
        anchors = tuple(
            Anchor(r["key"], r["display"], tuple(r["kinds"]), tuple(r["aliases"]))
            for r in meta["anchors"]
        )
        kept: dict[str, Any] = {name: arrays[name] for name in _ARRAYS}
        kept |= {name: meta[name] for name in _FIGURES}
        return AnchorFile(anchors, **kept)
    except (OSError, ValueError, KeyError) as error:
        raise damaged_companion(path, str(error)) from error


def key_table(anchors: Sequence[Anchor]) -> dict[str, list[int]]:
    """Return the positions of the anchors that each key or alias matches."""
    table: dict[str, list[int]] = {}
    for place, anchor in enumerate(anchors):
        for key in dict.fromkeys((anchor.key, *anchor.aliases)):
            table.setdefault(key, []).append(place)
    return table


def source_of(path: str, sources: Mapping[str, str], rooms: Rooms = SEVEN) -> str:
    """Return the source of a note: the longest prefix in the settings, else its room."""
    fitting = [prefix for prefix in sources if is_below(path, prefix)]
    return max(fitting, key=len) if fitting else rooms.room_of(path) or "(no room)"


def is_below(path: str, prefix: str) -> bool:
    """Return whether a path equals or is below a prefix; prefixes end at a path component."""
    whole = prefix.rstrip("/")
    return path == whole or path.startswith(whole + "/")


def trust_per_note(paths: Sequence[str], sources: Mapping[str, str]) -> NDArray[np.float32]:
    """Return each note's trust factor, by which its passages' anchor scores are multiplied."""
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

"""The generation that a process holds open, from one question to the next."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from memory_palace.config import PalacePaths
from memory_palace.errors import IndexDamagedError
from memory_palace.index.commit import Commit, SegmentRef, read_commit
from memory_palace.index.fold import fold_segments
from memory_palace.index.recipes import check_recipe
from memory_palace.index.segment import Segment, open_segment
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.tokens import Languages


class OpenedIndex:
    """The committed generation, and its segments, which stay open while the next one has them."""

    def __init__(self, paths: PalacePaths, languages: Languages = ()) -> None:
        """``languages`` are those of the settings; an index for others is refused."""
        self._paths, self._languages = paths, languages
        self._snapshots: dict[bool, Snapshot] = {}
        self._segments: dict[SegmentRef, tuple[_Stamp, Segment]] = {}

    def snapshot(self, *, include_cold: bool = False) -> Snapshot:
        """Return the generation, read again only where it is another, or a file has changed."""
        held = self._snapshots.get(include_cold)
        if held is None or held.commit != read_commit(self._paths.commit) or self._has_changed():
            held = open_snapshot(self._paths, include_cold=include_cold, opener=self._open)
            check_recipe(held.commit, self._languages)
            kept = set(held.commit.segments)
            self._segments = {ref: opened for ref, opened in self._segments.items() if ref in kept}
            self._snapshots = {
                is_cold: snapshot
                for is_cold, snapshot in self._snapshots.items()
                if snapshot.commit == held.commit
            } | {include_cold: held}
        return held

    def _has_changed(self) -> bool:
        folder = self._paths.index
        return any(_stamp(folder, ref) != stamp for ref, (stamp, _) in self._segments.items())

    def _open(self, folder: Path, ref: SegmentRef) -> Segment:
        stamp = _stamp(folder, ref)
        before = self._segments.get(ref)
        if before is not None and before[0] == stamp:
            return before[1]
        self._segments.pop(ref, None)
        segment = open_segment(folder, ref)
        self._segments[ref] = stamp, segment
        return segment


_Stamp: TypeAlias = tuple[tuple[int, ...], ...]


def _stamp(folder: Path, ref: SegmentRef) -> _Stamp:
    """Return what tells that the files of a segment are those that were opened."""
    with suppress(FileNotFoundError):
        found = [os.stat(f"{folder}/{ref.name}{kind}") for kind in (".npz", ".jsonl")]  # noqa: PTH116
        return tuple((s.st_ino, s.st_size, s.st_mtime_ns) for s in found)
    return ()


def open_snapshot(
    paths: PalacePaths,
    *,
    include_cold: bool = False,
    opener: Callable[..., Segment] = open_segment,
) -> Snapshot:
    """Open the committed generation.

    A writer may commit and sweep between reading the record and opening what it names. That is
    not damage: the record is read again. The same record failing twice is.
    """
    commit = read_commit(paths.commit)
    while True:
        try:
            return _open(paths, commit, include_cold, opener)
        except IndexDamagedError:
            again = read_commit(paths.commit)
            if again == commit:
                raise
            commit = again


def _open(
    paths: PalacePaths, commit: Commit, include_cold: bool, opener: Callable[..., Segment]
) -> Snapshot:
    zones = (False, True) if include_cold else (False,)
    return Snapshot(
        commit,
        [
            fold_segments([opener(paths.index, s) for s in commit.segments if s.is_cold == is_cold])
            for is_cold in zones
        ],
        rooms=paths.rooms,
    )

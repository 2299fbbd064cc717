"""A snapshot of the notes that may answer a question, and what has to be known of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import SEVEN, Rooms
from memory_palace.index.commit import Commit
from memory_palace.index.fold import fold_segments
from memory_palace.index.recipes import Detail, read_detail
from memory_palace.index.segment import VECTORS, Segment, VectorMember
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.statistics import Origin, Statistics
from memory_palace.index.writing import NoteRow, list_members
from memory_palace.models import Matrix, Scores, Vector


class ChosenSnapshot(Snapshot):
    """Some notes of many. Who chose them has applied the filters, and left out copies."""

    def __init__(
        self, commit: Commit, zones: Sequence[Segment], origin: Origin, *, rooms: Rooms = SEVEN
    ) -> None:
        super().__init__(commit, [fold_segments([zone]) for zone in zones], rooms=rooms)
        self.origin = self._origin = origin
        self.copies = {}

    @property
    def statistics(self) -> Statistics:
        """Figures of all notes."""
        return self._origin.statistics

    def similarities(self, vector: Vector, member: VectorMember = "vectors") -> Scores:
        """Return the cosine of every row with a unit vector."""
        return self._origin.compare(vector, member).astype(np.float32)

    def cosines_of(
        self, rows: NDArray[np.int64], vector: Vector, member: VectorMember = "vectors"
    ) -> NDArray[np.float64]:
        """Return the cosines of some rows with a unit vector."""
        return self._origin.compare(vector, member)[rows]

    def rows_of(self, rows: NDArray[np.int64], member: VectorMember = "vectors") -> Matrix:
        """Return the unit vectors of some rows."""
        return self._origin.vectors(rows, member)


def gather(
    commit: Commit,
    hot: Sequence[NoteRow],
    cold: Sequence[NoteRow],
    origin: Origin,
    *,
    rooms: Rooms = SEVEN,
) -> ChosenSnapshot:
    """Return a snapshot of note records, each with all of its rows; their vectors are not read.

    Its rows are those of the hot notes in the order given, then those of the cold ones.
    """
    zones = [_hold(zone, commit, is_cold=place > 0) for place, zone in enumerate((hot, cold))]
    return ChosenSnapshot(commit, zones, origin, rooms=rooms)


def _hold(notes: Sequence[NoteRow], commit: Commit, *, is_cold: bool) -> Segment:
    """Make a segment in memory."""
    count = len(VECTORS) if read_detail(commit.fingerprint) == Detail.ENRICHED else 1
    bare = [replace(n, vectors=(np.zeros((len(n.chunks), 0), np.float32),) * count) for n in notes]
    members, lines = list_members(bare, fingerprint=commit.fingerprint, dimension=0)
    arrays = {name: np.concatenate(parts) for name, parts in members.items()}
    return Segment(Path("chosen.jsonl"), arrays, lines, is_cold=is_cold)

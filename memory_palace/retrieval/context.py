"""What a signal may look at: the question, the notes, and the candidate passages."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Query, Scores

Places = NDArray[np.int64]
"""Positions in another array: rows of a snapshot, its notes, or candidates."""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Candidates in parallel arrays. Every signal gives one score per candidate."""

    query: Query
    snapshot: Snapshot
    half_life_days: float
    rows: Places
    """Row of each candidate; -1 for a note without text, which only a listing has."""
    notes: Places
    """Note of each candidate."""
    cosines: Scores
    """Cosine of each candidate with the question; zeros in a listing."""

    @property
    def is_listing(self) -> bool:
        """Whether there is no question, so that only metadata can order the notes."""
        return not self.query.text

    def pick(self, places: Places) -> SearchContext:
        """Keep some candidates as they are."""
        return replace(
            self, rows=self.rows[places], notes=self.notes[places], cosines=self.cosines[places]
        )

    def pick_exactly(self, places: Places) -> SearchContext:
        """Keep some candidates, and compute their cosines in double precision.

        A matrix-vector product in single precision depends in its last bits on where a row
        stands. What is shown must not: an index that grew by updates answers like a fresh one.
        """
        picked = self.pick(places)
        if self.query.vector is None or self.is_listing:
            return picked
        vectors = self.snapshot.rows_of(picked.rows)
        sums = np.einsum("ij,j->i", vectors, self.query.vector, dtype=np.float64)
        return replace(picked, cosines=sums.astype(np.float32))

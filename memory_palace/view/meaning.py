"""What notes mean as wholes: the mean of the vectors of their passages, and which are alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix

NEAR = 5
"""How many notes are named as the nearest of a note."""
_NOTES_AT_ONCE = 2_000
_COMPARED_AT_ONCE = 512


def mean_vectors(snapshot: Snapshot, notes: NDArray[np.int64]) -> Matrix:
    """Return the mean vector of each note's passages, of unit length; zero for a note without any.

    Shape ``(notes, dimension)``; ``(notes, 0)`` where the index has no vectors. ``notes`` are
    places in the snapshot, ascending. Of a pair of embedders both halves count.
    """
    dimension = snapshot.commit.dimension
    means = np.zeros((len(notes), dimension), np.float32)
    if not dimension:
        return means
    owners = snapshot.row_note
    rows = np.argsort(owners, kind="stable")
    sorted_owners = owners[rows]
    for first in range(0, len(notes), _NOTES_AT_ONCE):
        chosen = notes[first : first + _NOTES_AT_ONCE]
        starts = np.searchsorted(sorted_owners, chosen)
        stops = np.searchsorted(sorted_owners, chosen, side="right")
        counts = stops - starts
        here = np.concatenate([rows[a:b] for a, b in zip(starts, stops, strict=True)])
        vectors = snapshot.rows_of(here)
        borders = np.concatenate([[0], np.cumsum(counts)])[:-1]
        full = counts > 0
        sums = np.add.reduceat(vectors, borders[full]) if full.any() else vectors[:0]
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        means[first : first + len(chosen)][full] = sums / np.maximum(lengths, 1e-12)
    return means


def find_near(vectors: Matrix) -> list[tuple[int, ...]]:
    """Return for each note the places of those nearest in meaning, the nearest first.

    None where there are no vectors. Memory grows with the notes, not with their square.
    """
    has_meaning: NDArray[np.bool_] = np.abs(vectors).sum(axis=1) > 0
    count = min(NEAR, len(vectors) - 1)
    if count < 1 or vectors.shape[1] == 0:
        return [()] * len(vectors)
    found: list[tuple[int, ...]] = []
    for first in range(0, len(vectors), _COMPARED_AT_ONCE):
        block = vectors[first : first + _COMPARED_AT_ONCE]
        likeness = block @ vectors.T
        own = np.arange(len(block))
        likeness[own, own + first] = -2.0
        likeness[:, ~has_meaning] = -2.0
        best = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
        best.sort(axis=1)
        values = np.round(np.take_along_axis(likeness, best, axis=1), 4)
        order = np.argsort(-values, axis=1, kind="stable")
        ranked = np.take_along_axis(best, order, axis=1)
        kept = np.take_along_axis(values, order, axis=1) > 0
        found += [
            tuple(row[keep].tolist()) if does_mean else ()
            for row, keep, does_mean in zip(
                ranked, kept, has_meaning[first : first + len(block)], strict=True
            )
        ]
    return found

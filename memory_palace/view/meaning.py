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
_RUN = 64


def mean_vectors(snapshot: Snapshot, notes: NDArray[np.int64]) -> Matrix:
    """Return the mean vector of each note's passages, of unit length; zero for a note without any.

    Shape ``(notes, dimension)``; ``(notes, 0)`` where the index has no vectors. ``notes`` are
    places in the snapshot, ascending.
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
    count = min(NEAR, len(vectors) - 1)
    if count < 1 or vectors.shape[1] == 0:
        return [()] * len(vectors)
    found: list[tuple[int, ...]] = []
    for first in range(0, len(vectors), _COMPARED_AT_ONCE):
        block = vectors[first : first + _COMPARED_AT_ONCE]
        likeness = np.full((len(block), -(-len(vectors) // _RUN) * _RUN), -2.0, np.float32)
        np.matmul(block, vectors.T, out=likeness[:, : len(vectors)])
        own = np.arange(len(block))
        likeness[own, own + first] = -2.0
        best = _find_best(likeness, count)
        values = np.round(np.take_along_axis(likeness, best, axis=1), 4)
        order = np.argsort(-values, axis=1, kind="stable")
        ranked = np.take_along_axis(best, order, axis=1)
        kept = np.take_along_axis(values, order, axis=1) > 0
        found += [tuple(row[keep].tolist()) for row, keep in zip(ranked, kept, strict=True)]
    return found


def _find_best(likeness: Matrix, count: int) -> NDArray[np.int64]:
    """Return the columns of the highest values of each row, ascending.

    They are in the runs of columns with the highest maxima: only those few are searched, which
    takes a tenth of the time.
    """
    rows = len(likeness)
    runs = likeness.reshape(rows, -1, _RUN)
    highest = runs.max(axis=2)
    few = min(count, highest.shape[1])
    chosen = np.argpartition(-highest, few - 1, axis=1)[:, :few]
    columns = (chosen[:, :, None] * _RUN + np.arange(_RUN)).reshape(rows, -1)
    values = np.take_along_axis(likeness, columns, axis=1)
    best = np.argpartition(-values, count - 1, axis=1)[:, :count]
    return np.sort(np.take_along_axis(columns, best, axis=1), axis=1)

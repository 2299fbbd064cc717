"""What chance gives, and how far a value stands above it: the null of cosines, and standardising.

What is surely unrelated depends on what is compared, so each who needs a null draws a sample of
its own: passages of different notes here, anchors and passages in ``anchors.build``, goals and
texts of a probe file in ``navigation.calibration``. How a sample is measured is here alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix, Scores

SAMPLE = 512
LEAST_DEVIATION = 0.02
"""Of cosines: among a few like texts, differences below this are noise."""
_QUANTUM = 10_000
"""Sums of whole numbers do not depend on their order, so that an index may grow in any."""
PRIOR = 1
"""Passages without evidence that are added to those of a palace: without one, the only passage, or
a word that all passages hold, would not stand above the mean of all."""


def calibrate(snapshot: Snapshot) -> dict[str, float]:
    """Return mean and standard deviation of cosines between chunks of different notes.

    The sample is the chunks with the smallest text digests: the same notes give the same
    sample, whatever the order in which they were indexed. Empty below two notes.
    """
    chosen = sample_rows(snapshot)
    cosines = cross_cosines(snapshot.rows_of(chosen), snapshot.row_note[chosen])
    if not len(cosines):
        return {}
    mean, deviation = find_moments(cosines)
    return {"null_mean": round(mean, 4), "null_std": round(deviation, 4)}


def cross_cosines(vectors: Matrix, owners: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the cosine of every two unit vectors of different owners."""
    different = np.triu(owners[:, None] != owners[None, :], 1)
    cosines: NDArray[np.float64] = (vectors @ vectors.T)[different].astype(np.float64)
    return cosines


def find_moments(cosines: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and standard deviation of a sample; 0 and 1 where it is empty."""
    return (float(cosines.mean()), float(cosines.std())) if len(cosines) else (0.0, 1.0)


def find_tail(cosines: NDArray[np.float64], share: float) -> tuple[float, float]:
    """Return the cosine that a share of a sample exceeds, and by how much those do on average."""
    start = float(np.quantile(cosines, 1 - share))
    beyond = cosines[cosines > start] - start
    return start, float(beyond.mean()) if len(beyond) else 0.0


def standardise(scores: NDArray[np.float64], counted: NDArray[np.bool_]) -> Scores:
    """Return how far each score is above the mean of the counted ones; zeros where all are 0."""
    whole = np.rint(scores[counted] * _QUANTUM).astype(np.int64)
    if not len(whole) or not whole.any():
        return np.zeros(len(scores), np.float32)
    count = len(whole) + PRIOR
    total, squares = int(whole.sum()), float((whole.astype(np.float64) ** 2).sum())
    mean = total / count
    deviation = max(squares / count - mean * mean, 0.0) ** 0.5
    return stand_above(scores, mean / _QUANTUM, max(deviation, 1.0) / _QUANTUM)


def stand_above(values: NDArray[np.floating], mean: float, deviation: float) -> Scores:
    """Return by how many deviations each value is above the mean, 0 for those below."""
    above: Scores = np.maximum((values - mean) / deviation, 0.0).astype(np.float32)
    return above


def sample_rows(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the live rows outside the cold zone with the smallest text digests, in their order."""
    rows = np.flatnonzero(snapshot.hot_rows)
    keys = np.ascontiguousarray(snapshot.row_digests[rows]).view(">u8")[:, 0]
    order = np.argsort(keys, kind="stable") if len(keys) <= SAMPLE else _smallest(keys)
    return rows[order[:SAMPLE]]


def _smallest(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    part = np.argpartition(keys, SAMPLE)[:SAMPLE]
    return part[np.argsort(keys[part], kind="stable")]

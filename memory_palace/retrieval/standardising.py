"""Make scores of different kinds comparable: standard deviations above the mean, and 0 below it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_palace.models import Scores

LEAST_DEVIATION = 0.02
"""Of cosines: among a few like texts, differences below this are noise."""
_QUANTUM = 10_000
"""Sums of whole numbers do not depend on their order, so that an index may grow in any."""


def standardise(scores: NDArray[np.float64], counted: NDArray[np.bool_]) -> Scores:
    """Return how far each score is above the mean of the counted ones; zeros where all are 0."""
    whole = np.rint(scores[counted] * _QUANTUM).astype(np.int64)
    if not len(whole) or not whole.any():
        return np.zeros(len(scores), np.float32)
    count = len(whole)
    total, squares = int(whole.sum()), float((whole.astype(np.float64) ** 2).sum())
    mean = total / count
    deviation = max(squares / count - mean * mean, 0.0) ** 0.5
    return stand_above(scores, mean / _QUANTUM, max(deviation, 1.0) / _QUANTUM)


def stand_above(values: NDArray[np.floating], mean: float, deviation: float) -> Scores:
    """Return by how many deviations each value is above the mean, 0 for those below."""
    above: Scores = np.maximum((values - mean) / deviation, 0.0).astype(np.float32)
    return above

"""A bonus for the passages that are nearest in meaning, whatever their words."""

from __future__ import annotations

import numpy as np

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext

SHARES = (1.0, 0.75, 0.5625, 0.421875, 0.31640625)
"""By rank: 10 % falling to 3.2 % over the first five in source document 001, which is .75 to the
power of the rank."""


def score(context: SearchContext) -> Scores:
    """Return 1 for the nearest candidate, less for the next four, 0 for the rest."""
    scores: Scores = np.zeros(len(context.rows), np.float32)
    for row, share in zip(context.nearest, SHARES, strict=False):
        scores[context.rows == row] = share
    return scores

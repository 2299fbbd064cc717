"""How close a passage is in meaning to the question."""

from __future__ import annotations

import numpy as np

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext

LISTED = np.float32(0.5)
"""What every note gets where nothing was asked (source document 002)."""


def score(context: SearchContext) -> Scores:
    """Return max(0, cosine) per candidate, in [0, 1]."""
    if context.is_listing:
        return np.full(len(context.cosines), LISTED)
    # Rounding may carry the cosine of equal texts past 1.
    scores: Scores = np.clip(context.cosines, 0, 1)
    return scores

"""How important a note's front matter or manifest line says it is."""

from __future__ import annotations

import numpy as np

from memory_palace.index.segment import PRIORITIES
from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext

IMPORTANCE = {"": 0.5, "low": 0.3, "medium": 0.6, "high": 1.0}
"""Source document 002; 0.5 where nobody said."""

_BY_CODE = np.array([IMPORTANCE[name] for name in PRIORITIES], np.float32)


def score(context: SearchContext) -> Scores:
    """Return the importance per candidate, in [0, 1]."""
    scores: Scores = _BY_CODE[context.snapshot.priorities[context.notes]]
    return scores

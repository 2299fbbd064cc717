"""How surely an anchor of the question leads to a passage."""

from __future__ import annotations

import numpy as np

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext


def score(context: SearchContext) -> Scores:
    """Return the best score of any fired anchor per candidate, in [0, 1]; 0 where none fired."""
    scores: Scores = np.zeros(len(context.rows), np.float32)
    found = context.query.anchors
    if found is None or not len(found.rows):
        return scores
    places = np.minimum(np.searchsorted(found.rows, context.rows), len(found.rows) - 1)
    is_listed = found.rows[places] == context.rows
    scores[is_listed] = found.scores[places[is_listed]]
    return scores

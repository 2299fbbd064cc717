"""Whether a passage states something, rather than only asking."""

from __future__ import annotations

import numpy as np

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext


def score(context: SearchContext) -> Scores:
    """Return 1 for a passage that does not end in a question mark, 0 for one that does.

    It is a prior: where the question found nothing, neither in meaning nor in words, it is 0.
    """
    evidence = context.evidence
    is_asked = np.zeros(len(context.snapshot.row_note), np.bool_)
    is_asked[context.facts.find("form", "question")] = True
    is_found = (evidence.dense[context.rows] > 0) | (evidence.words[context.rows] > 0)
    scores: Scores = (is_found & ~is_asked[context.rows]).astype(np.float32)
    return scores

"""How many of the question's words a passage holds. Precision: low."""

from __future__ import annotations

import numpy as np

from memory_palace.models import Scores
from memory_palace.retrieval.structure import StructuredContext, mark, silence

LEAST_SHARE = 0.2
"""Of the content words; below it the overlap is incidental (source document 001)."""
LEAST_WORDS = 2
"""The same in words ("roughly two"), where the question has as many."""


def score(context: StructuredContext) -> Scores:
    """Return the share of the question's content words per candidate, in [0, 1].

    Whole stemmed words count: "case" is not in "showcase".
    """
    words = context.analysis.words
    if not words:
        return silence(context)
    found = silence(context)
    for word in words:
        found += mark(context, context.words.rows(word))
    share = found / np.float32(len(words))
    enough = (share >= LEAST_SHARE) & (found >= min(LEAST_WORDS, len(words)))
    scores: Scores = np.where(enough, share, np.float32(0)).astype(np.float32)
    return scores

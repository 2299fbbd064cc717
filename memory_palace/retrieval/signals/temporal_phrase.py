"""What the question names, looked for only at the time it names. Precision: high.

Tells apart the passages of one day: among those in the date window of the question, the ones that
share its noun phrases (source document 001).
"""

from __future__ import annotations

import numpy as np

from memory_palace.models import Scores
from memory_palace.retrieval.matching import match_dates, match_phrases
from memory_palace.retrieval.structure import StructuredContext, silence


def score(context: StructuredContext) -> Scores:
    """Return nearness in time times the share of phrases, in [0, 1]."""
    if not (context.analysis.dates and context.analysis.phrases):
        return silence(context)
    near = match_dates(context)
    if not near.any():
        return near
    scores: Scores = np.multiply(near, match_phrases(context), dtype=np.float32)
    return scores

"""Which passages state a like, wish or plan that the question asks about. Precision: low."""

from __future__ import annotations

import numpy as np

from memory_palace.facts.fact import FactKind
from memory_palace.facts.keys import ANY, preference_key
from memory_palace.models import Scores
from memory_palace.retrieval.structure import StructuredContext, mark, silence

OF_HOLDER, OF_ANYBODY, SOME = 1.0, 0.7, 0.3
"""What a passage gets for a preference of the one that is asked about for the thing that is asked
about, for one of anybody, and for any other preference of the former (chosen, not tuned)."""
_WRITER = "i"


def score(context: StructuredContext) -> Scores:
    """Return how well a stated preference answers, in [0, 1]; silent unless one is asked for."""
    analysis = context.analysis
    scores = silence(context)
    if not analysis.asks_preference:
        return scores
    holders = analysis.names or (_WRITER,)
    for holder in holders:
        _raise(context, scores, preference_key(holder, ANY), SOME)
    for subject in analysis.words:
        _raise(context, scores, preference_key(ANY, subject), OF_ANYBODY)
        for holder in holders:
            _raise(context, scores, preference_key(holder, subject), OF_HOLDER)
    return scores


def _raise(context: StructuredContext, scores: Scores, key: str, value: float) -> None:
    rows = context.facts.find(FactKind.PREFERENCE, key)
    if len(rows):
        np.maximum(scores, np.float32(value) * mark(context, rows), out=scores)

"""Which passages state what the question asks: relations and entities. Precision: low."""

from __future__ import annotations

import numpy as np

from memory_palace.facts.fact import FactKind
from memory_palace.facts.keys import ANY
from memory_palace.models import Scores
from memory_palace.retrieval.structure import StructuredContext, mark, rarity, silence

WHOLE, OPEN, ENTITY = 1.0, 0.6, 0.3
"""What a whole relation, one with an open part, and an entity add (chosen, not tuned)."""
CROWD = 0.3
"""Where more than this share of the candidate notes has the best score, it is dampened (source
document 001, which does not say how much: here by ``CROWD / share``, so that it is continuous)."""
_TOLERANCE = 1e-6


def score(context: StructuredContext) -> Scores:
    """Return the weighted share of the question's facts per candidate, in [0, 1]."""
    return _dampen(context, score_undamped(context))


def score_undamped(context: StructuredContext) -> Scores:
    """Return the same without dampening, for the ablation that asks what dampening is worth."""
    wanted = [
        (FactKind.RELATION, k, OPEN if ANY in k else WHOLE) for k in context.analysis.relations
    ]
    wanted += [(FactKind.ENTITY, key, ENTITY) for key in context.analysis.names]
    scores, total = silence(context), 0.0
    for kind, key, weight in wanted:
        total += weight
        value = weight * rarity(context, kind, key)
        if value:
            scores += np.float32(value) * mark(context, context.facts.find(kind, key))
    if not scores.any():
        return scores
    share: Scores = np.minimum(scores / np.float32(total), np.float32(1))
    return share


def _dampen(context: StructuredContext, scores: Scores) -> Scores:
    if not scores.any():
        return scores
    is_best = scores >= scores.max() - _TOLERANCE
    notes = len(np.unique(context.notes))
    share = len(np.unique(context.notes[is_best])) / notes
    damped: Scores = scores * np.float32(CROWD / share if share > CROWD and notes > 1 else 1)
    return damped

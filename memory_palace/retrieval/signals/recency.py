"""How fresh a note is at the moment of the question."""

from __future__ import annotations

import numpy as np

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext

_DAY_SECONDS = 86_400.0


def score(context: SearchContext) -> Scores:
    """Return 0.5 ** (age / half-life) per candidate, in [0, 1].

    A note from the future is new; an evergreen note always is. A true half-life, as source
    document 002 says in words: its formula exp(-age / 30) has one of 20.8 days.
    """
    snapshot = context.snapshot
    age_days = np.maximum(context.query.as_of - snapshot.dates[context.notes], 0) / _DAY_SECONDS
    age_days[snapshot.evergreen[context.notes]] = 0
    scores: Scores = np.exp2((-age_days / context.half_life_days).astype(np.float32))
    return scores

"""What a note is, whatever was asked: its age and its importance."""

from __future__ import annotations

import numpy as np

from memory_palace.index.segment import PRIORITIES
from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext

_DAY_SECONDS = 86_400.0
IMPORTANCE = {"": 0.5, "low": 0.3, "medium": 0.6, "high": 1.0}
"""Source document 002; 0.5 where nobody said."""
_BY_CODE = np.array([IMPORTANCE[name] for name in PRIORITIES], np.float32)


def recency(context: SearchContext) -> Scores:
    """Return 0.5 ** (age / half-life) per candidate, in [0, 1].

    A note from the future is new, and an evergreen note always; one that a copy dates is a
    half-life old, as nobody knows its age. A true half-life, as source
    document 002 says in words: its formula exp(-age / 30) has one of 20.8 days.
    """
    snapshot = context.snapshot
    dates = snapshot.told_dates[context.notes]
    age_days = np.maximum(context.query.as_of - dates, 0) / _DAY_SECONDS
    age_days[dates == 0] = context.half_life_days
    age_days[snapshot.evergreen[context.notes]] = 0
    scores: Scores = np.exp2((-age_days / context.half_life_days).astype(np.float32))
    return scores


def importance(context: SearchContext) -> Scores:
    """Return the importance that front matter or manifest give each candidate, in [0, 1]."""
    scores: Scores = _BY_CODE[context.snapshot.priorities[context.notes]]
    return scores

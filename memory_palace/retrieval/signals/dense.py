"""How far a passage stands out in meaning from all other passages."""

from __future__ import annotations

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext


def score(context: SearchContext) -> Scores:
    """Return the standard deviations by which each candidate's cosine is above the mean, or 0."""
    scores: Scores = context.evidence.dense[context.rows]
    return scores

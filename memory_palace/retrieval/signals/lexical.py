"""How well the words of a passage answer those of the question."""

from __future__ import annotations

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext


def score(context: SearchContext) -> Scores:
    """Return the standard deviations by which each candidate's BM25 is above the mean, or 0."""
    scores: Scores = context.evidence.words[context.rows]
    return scores

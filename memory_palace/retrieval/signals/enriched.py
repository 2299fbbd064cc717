"""How far what describes a passage stands out in meaning from all other descriptions."""

from __future__ import annotations

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext


def score(context: SearchContext) -> Scores:
    """Return the standardised cosine of each candidate's description with the question, or 0.

    The synthetic documents of source document 001. Silent unless the index is enriched.
    """
    scores: Scores = context.evidence.described[context.rows]
    return scores

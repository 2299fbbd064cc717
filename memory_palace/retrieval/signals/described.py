"""How well the question's words answer what names or describes a passage."""

from __future__ import annotations

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext


def score(context: SearchContext) -> Scores:
    """Return the standardised BM25 of the second field per candidate, or 0.

    The field holds title, aliases, headings, tags, names, phrases and preferences: the enriched
    text of source document 001, compared by words.
    """
    scores: Scores = context.evidence.extras[context.rows]
    return scores

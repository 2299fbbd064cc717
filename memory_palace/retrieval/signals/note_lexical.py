"""How well the words of a passage's whole note answer those of the question."""

from __future__ import annotations

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext


def score(context: SearchContext) -> Scores:
    """Return the standard deviations by which BM25 of each candidate's note is above the mean."""
    scores: Scores = context.evidence.note_words[context.notes]
    return scores

"""How far the whole note of a passage stands out in meaning."""

from __future__ import annotations

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext


def score(context: SearchContext) -> Scores:
    """Return the mean dense evidence of all passages of each candidate's note.

    The mean, not the best: a long note on something else has one passage that is near to anything
    (on LoCoMo dev and the golden questions the mean did better than the best, and than the best
    three).
    """
    scores: Scores = context.evidence.note_dense[context.notes]
    return scores

"""What the passages beside a passage say about the question."""

from __future__ import annotations

import numpy as np

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext

SHARES = {-1: 0.5, 1: 0.3, -2: 0.2, 2: 0.15}
"""How much a passage borrows from the one that many places after it. What comes before sets the
topic, a question for one, and counts for more than what follows (chosen on LoCoMo dev)."""


def score(context: SearchContext) -> Scores:
    """Return the borrowed sum of dense and lexical evidence per candidate, within its note."""
    evidence = context.evidence.dense + context.evidence.words
    note_of = context.snapshot.row_note
    scores: Scores = np.zeros(len(context.rows), np.float32)
    for step, share in SHARES.items():
        rows = np.clip(context.rows + step, 0, len(note_of) - 1)
        is_same = (note_of[rows] == context.notes) & (rows != context.rows)
        scores += np.float32(share) * np.where(is_same, evidence[rows], 0)
    return scores

"""Whether a passage is from, or names, the weekday of the question. Precision: high."""

from __future__ import annotations

import numpy as np

from memory_palace.facts.fact import FactKind
from memory_palace.models import Scores
from memory_palace.retrieval.matching import note_days, weekday_of
from memory_palace.retrieval.structure import StructuredContext, mark, silence

OF_NOTE = 0.5
"""One note in seven is from any weekday: its date says less than the word (chosen, not tuned)."""


def score(context: StructuredContext) -> Scores:
    """Return 1 where the passage names the weekday, 0.5 where its note is from one, else 0."""
    scores = silence(context)
    if not context.analysis.weekdays:
        return scores
    of_notes = weekday_of(note_days(context))
    for weekday in context.analysis.weekdays:
        np.maximum(scores, np.float32(OF_NOTE) * (of_notes == weekday), out=scores)
        rows = context.facts.find(FactKind.WEEKDAY, str(weekday))
        np.maximum(scores, mark(context, rows), out=scores)
    return scores

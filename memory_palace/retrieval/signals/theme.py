"""Which passages look back on a life, where the question does. Precision: high.

Source document 001 moved this signal from the capped to the uncapped ones.
"""

from __future__ import annotations

import numpy as np

from memory_palace.facts.fact import FactKind
from memory_palace.models import Scores
from memory_palace.retrieval.structure import StructuredContext, mark, silence


def score(context: StructuredContext) -> Scores:
    """Return 1 for candidates with a theme of the question, else 0."""
    scores = silence(context)
    for theme in context.analysis.themes:
        np.maximum(scores, mark(context, context.facts.find(FactKind.THEME, theme)), out=scores)
    return scores

"""Whether a passage is said by somebody whom the question names."""

from __future__ import annotations

import numpy as np

from memory_palace.language.stopwords import STOPWORDS
from memory_palace.language.tokens import tokenize
from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext


def score(context: SearchContext) -> Scores:
    """Return 1 where a line of the passage begins with a label such as ``Anna:``, else 0.

    The label's words are compared with the question's whole words, not with their stems.
    """
    is_said = np.zeros(len(context.snapshot.row_note), np.float32)
    for word in set(tokenize(context.query.text, stems=False)) - STOPWORDS:
        is_said[context.facts.find("speaker", word)] = 1
    scores: Scores = is_said[context.rows]
    return scores

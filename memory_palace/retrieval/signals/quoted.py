"""Which passages hold what the question quotes. Precision: high."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_palace.facts.fact import FactKind
from memory_palace.language.stopwords import STOPWORDS
from memory_palace.models import Scores
from memory_palace.retrieval.structure import StructuredContext, mark, silence

_KINDS = (FactKind.QUOTE, FactKind.PHRASE, FactKind.ENTITY, FactKind.LINK, FactKind.TAG)
ALL_WORDS = 0.6
"""For a passage that holds all words of a quote of two or more, perhaps apart (chosen)."""


def score(context: StructuredContext) -> Scores:
    """Return the share of the question's quotes that each candidate holds, in [0, 1]."""
    quotes = context.analysis.quotes if context.analysis.is_english else ()
    scores = silence(context)
    for quote in quotes:
        found = silence(context)
        for kind in _KINDS:
            np.maximum(found, mark(context, context.facts.find(kind, quote)), out=found)
        np.maximum(found, np.float32(ALL_WORDS) * _holds_all(context, quote), out=found)
        scores += found
    if quotes:
        scores /= np.float32(len(quotes))
    return scores


def _holds_all(context: StructuredContext, quote: str) -> NDArray[np.bool_]:
    words = [word for word in quote.split() if word not in STOPWORDS]
    holds = np.full(len(context.rows), len(words) > 1)
    for word in words:
        holds &= mark(context, context.words.rows(word))
    return holds

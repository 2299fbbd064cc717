"""Which passages mention whom and what the question names. Precision: high."""

from __future__ import annotations

import numpy as np

from memory_palace.facts.fact import FactKind
from memory_palace.language.stemming import stem_word
from memory_palace.models import Scores
from memory_palace.retrieval.structure import StructuredContext, mark, silence

_KINDS = (FactKind.ENTITY, FactKind.LINK, FactKind.TAG)
WORDS_ALONE = 0.8
"""For all words of a name that is no entity there: written small, or first in a sentence."""


def score(context: StructuredContext) -> Scores:
    """Return the share of the question's names that each candidate holds, in [0, 1]."""
    names = context.analysis.names
    scores = silence(context)
    for name in names:
        found = silence(context)
        for kind in _KINDS:
            np.maximum(found, mark(context, context.facts.find(kind, name)), out=found)
        holds = np.ones(len(found), np.bool_)
        for word in name.split():
            holds &= mark(context, context.words.rows(stem_word(word)))
        scores += np.maximum(found, np.float32(WORDS_ALONE) * holds)
    if names:
        scores /= np.float32(len(names))
    return scores

"""Which passages speak of the things the question names. Precision: low.

The bridge of source document 001 compares phrase embeddings; its distance of 1.58 is a squared one
of its vector store and means nothing here (SPEC R8). This one compares the stems of phrases.
"""

from __future__ import annotations

from memory_palace.models import Scores
from memory_palace.retrieval.matching import match_phrases
from memory_palace.retrieval.structure import StructuredContext, silence


def score(context: StructuredContext) -> Scores:
    """Return the share of the question's noun phrases per candidate, the rarer the more."""
    if not context.analysis.phrases:
        return silence(context)
    return match_phrases(context)

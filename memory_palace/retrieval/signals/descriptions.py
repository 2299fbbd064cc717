"""What an enriched index keeps to describe passages, beside the question, by vectors."""

from __future__ import annotations

import numpy as np

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext

WHOLE_PHRASE = np.float32(4.0)
"""Standard deviations above the mean that count as a match in full: chance is 1 in 30,000."""


def enriched(context: SearchContext) -> Scores:
    """Return the standardised cosine of each candidate's description with the question, or 0.

    The synthetic documents of source document 001. Silent unless the index is enriched.
    """
    scores: Scores = context.evidence.descriptions.above[context.rows]
    return scores


def bridge(context: SearchContext) -> Scores:
    """Return how well descriptions mean what the question names, in [0, 1]. Precision: low.

    The noun-phrase bridge of source document 001 over vectors: the question's phrases, embedded
    together, against what describes a passage. Its distance of 1.58 is a squared one of its vector
    store (SPEC R8); here a description counts by how far it stands out from all others. Silent
    unless the index is enriched.
    """
    values = context.evidence.bridge.above[context.rows] / WHOLE_PHRASE
    scores: Scores = np.minimum(values, np.float32(1))
    return scores

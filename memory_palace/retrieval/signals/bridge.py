"""Which descriptions mean what the question names. Precision: low.

The noun-phrase bridge of source document 001 over vectors: the question's phrases, embedded
together, against what describes a passage. Its distance of 1.58 is a squared one of its vector
store (SPEC R8); here a description counts by how far it stands out from all others.
"""

from __future__ import annotations

import numpy as np

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext

WHOLE = 4.0
"""Standard deviations above the mean that count as a match in full: chance is 1 in 30,000."""


def score(context: SearchContext) -> Scores:
    """Return a share in [0, 1] per candidate. Silent unless the index is enriched."""
    values = context.evidence.bridge[context.rows] / np.float32(WHOLE)
    scores: Scores = np.minimum(values, np.float32(1))
    return scores

"""How telling a word is by how few texts have it: the two weights, and when to use which.

``bm25_idf`` falls to almost nothing for a word that most texts have: right where texts are ranked
and common words must not decide. ``share_idf`` stays above ln 2: right where the words of a
question share out a whole among themselves and each that is known must keep a part.
"""

from __future__ import annotations

import math


def bm25_idf(having: int, texts: int) -> float:
    """Return ``ln(1 + (N - df + .5) / (df + .5))`` (Robertson and Spärck Jones 1976, as Lucene)."""
    return math.log1p((texts - having + 0.5) / (having + 0.5))


def share_idf(having: int, texts: int) -> float:
    """Return ``ln(1 + N / df)``, at least ln 2 for a word of any text; ``having`` is above 0."""
    return math.log1p(texts / having)

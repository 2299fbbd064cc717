"""``Palace.redqueen``: rounds of questions."""

from __future__ import annotations

from memory_palace.feature import Feature, Verb
from memory_palace.features.redqueen.rounds import run


class RedQueen(Feature):
    """Rounds of questions about the memories of a palace."""

    run = Verb(run)

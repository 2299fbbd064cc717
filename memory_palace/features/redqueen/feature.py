"""``Palace.redqueen``: rounds of questions."""

from __future__ import annotations

from memory_palace.features.redqueen.rounds import run
from memory_palace.palace import Feature, Verb


class RedQueen(Feature):
    """Rounds of questions about the memories of a palace."""

    run = Verb(run)

"""The Red Queen: report what is not found as people ask for it, and propose what helps."""

from __future__ import annotations

from memory_palace.feature import Feature, Verb
from memory_palace.features.redqueen.history import read_history
from memory_palace.features.redqueen.rounds import run


class RedQueen(Feature):
    """Rounds of questions about the memories of a palace."""

    run = Verb(run)
    history = Verb(read_history)

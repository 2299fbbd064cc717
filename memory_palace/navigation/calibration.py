"""How alike unrelated texts are under an embedder, and what that makes a match worth.

The source document promotes from a score of 0.3 on: its unrelated nodes pass that 41 times in
100, and the best of ten passes it 995 times in 1,000.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from memory_palace.embedding.base import Embedder
from memory_palace.index.calibration import find_tail

CHANCE = 0.005
"""How often the best of unrelated texts may pass, by the fit. At most two in a hundred did on the
development half of our goals: kinds that are unrelated hold places that are half related."""
TAIL = 0.01
"""The share of unrelated cosines that the tail is fitted to."""


@dataclass(frozen=True, slots=True)
class Null:
    """Cosines of unrelated goals and texts: where their tail starts and how fast it falls."""

    start: float
    """The cosine that ``TAIL`` of them exceed."""
    excess: float
    """By how much those exceed it on average."""

    def cosine_threshold(self, count: int, *, chance: float = CHANCE) -> float:
        """Return the cosine that the best of ``count`` unrelated texts reaches with ``chance``.

        Peaks over a threshold with an exponential tail (Pickands 1975; Coles 2001, section 4),
        the chance shared out among the texts (Bonferroni).
        """
        found = self.start + self.excess * math.log(max(count, 1) * TAIL / chance)
        return min(max(found, 0.0), 1.0)


def calibrate(embedder: Embedder) -> Null:
    """Embed goals and texts of 64 subjects and measure those that have nothing to do together."""
    goals, texts = read_probes()
    cosines = embedder.embed_queries(goals) @ embedder.embed_passages(texts).T
    unrelated = cosines[~np.eye(len(goals), dtype=bool)].astype(np.float64)
    start, excess = find_tail(unrelated, TAIL)
    return Null(round(start, 4), round(max(excess, 1e-4), 4))


@cache
def read_probes() -> tuple[list[str], list[str]]:
    """Return the goals, and for each of them in the same place the one text that is related."""
    lines = files(__package__).joinpath("probes.txt").read_text("utf-8").splitlines()
    pairs = [line.partition(" | ") for line in lines]
    return [goal for goal, _, _ in pairs], [text for _, _, text in pairs]

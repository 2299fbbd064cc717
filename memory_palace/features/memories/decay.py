"""How memories fade: a rate by score, which is an assumption."""

from __future__ import annotations

import math

from memory_palace.features.memories.memory_values import MOST_FACTORS

DECAY_PER_DAY = (0.2, 0.18, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.025, 0.02, 0.015)
"""By SMASHIN SCOPE 0 to 12 (source document 000): half-lives from 3.5 to 46 days. The document has
two more tables that contradict this one, and measured none of them."""


def decay_per_day(score: float) -> float:
    """Return the rate of a score, interpolated between whole scores and held inside 0 to 12."""
    held = min(float(MOST_FACTORS), max(0.0, score))
    low = min(MOST_FACTORS - 1, math.floor(held))
    share = held - low
    return DECAY_PER_DAY[low] * (1 - share) + DECAY_PER_DAY[low + 1] * share


def half_life_days(score: float) -> float:
    """Return the days after which confidence is halved."""
    return math.log(2) / decay_per_day(score)


def fade(confidence: float, days: float, score: float) -> float:
    """Return a confidence after some days: ``C0 · e^(-λt)``. Days before the review count as 0."""
    return confidence * math.exp(-decay_per_day(score) * max(0.0, days))

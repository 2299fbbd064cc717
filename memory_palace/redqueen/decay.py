"""How fast a memory fades, by its SMASHIN SCOPE: a table that is an assumption, not a finding."""

from __future__ import annotations

import math

DECAY_PER_DAY = (
    0.20, 0.18, 0.15, 0.12, 0.10, 0.08, 0.06, 0.05, 0.04, 0.03, 0.025, 0.02, 0.015,
)  # fmt: skip
"""By score 0 to 12 (source document 000): half-lives from 3.5 to 46 days."""


def decay_per_day(smashin: float) -> float:
    """Return the rate of a score, interpolated between whole ones and held inside 0 to 12."""
    score = min(12.0, max(0.0, smashin))
    low = min(11, math.floor(score))
    share = score - low
    return DECAY_PER_DAY[low] * (1 - share) + DECAY_PER_DAY[low + 1] * share


def half_life_days(smashin: float) -> float:
    """Return the days after which confidence is halved."""
    return math.log(2) / decay_per_day(smashin)

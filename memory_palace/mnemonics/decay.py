"""How memories fade: a rate by score, which is an assumption until a person's reviews fit it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memory_palace.mnemonics.memory_values import MOST_FACTORS

DECAY_PER_DAY = (0.2, 0.18, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.025, 0.02, 0.015)
"""By SMASHIN SCOPE 0 to 12 (source document 000): half-lives from 3.5 to 46 days. The document has
two more tables that contradict this one, and measured none of them."""
LEAST_TRIALS = 20
"""Reviews below which no rate is fitted."""
_MOST = math.log(16)
_STEPS = 401
_HALF_WIDTH = 1.92
"""Drop of the log-likelihood at the ends of a 95 % interval: half of chi squared, one degree."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One review: how long a memory lay untouched, and whether it came back."""

    days: float
    smashin: int
    is_recalled: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """How much faster than the table a person forgets: a factor on every rate."""

    factor: float
    low: float
    high: float
    """Ends of the 95 % interval, held inside 1/16 to 16."""
    trials: int


def decay_per_day(score: float) -> float:
    """Return the rate of a score, interpolated between whole scores and held inside 0 to 12."""
    held = min(float(MOST_FACTORS), max(0.0, score))
    low = min(MOST_FACTORS - 1, math.floor(held))
    share = held - low
    return DECAY_PER_DAY[low] * (1 - share) + DECAY_PER_DAY[low + 1] * share


def half_life_days(score: float, *, factor: float = 1.0) -> float:
    """Return the days after which confidence is halved."""
    return math.log(2) / (decay_per_day(score) * factor)


def fade(confidence: float, days: float, score: float, *, factor: float = 1.0) -> float:
    """Return a confidence after some days: ``C0 · e^(-λt)``. Days before the review count as 0."""
    return confidence * math.exp(-decay_per_day(score) * factor * max(0.0, days))


def fit_decay(trials: Sequence[Trial]) -> Fit | None:
    """Return the factor under which the reviews are likeliest; ``None`` below 20 of them.

    A memory that was reviewed ``t`` days ago comes back with probability ``e^(-λt)``. Trials of
    one sort, all recalled or all forgotten, put the factor at an end of its range.
    """
    usable = [trial for trial in trials if trial.days > 0]
    if len(usable) < LEAST_TRIALS:
        return None
    grid = [-_MOST + 2 * _MOST * step / (_STEPS - 1) for step in range(_STEPS)]
    likely = [_log_likelihood(usable, math.exp(at)) for at in grid]
    best = max(range(_STEPS), key=likely.__getitem__)
    inside = [
        at for at, value in zip(grid, likely, strict=True) if likely[best] - value <= _HALF_WIDTH
    ]
    return Fit(math.exp(grid[best]), math.exp(inside[0]), math.exp(inside[-1]), len(usable))


def _log_likelihood(trials: Sequence[Trial], factor: float) -> float:
    total = 0.0
    for trial in trials:
        exponent = decay_per_day(trial.smashin) * factor * trial.days
        total += -exponent if trial.is_recalled else math.log(-math.expm1(-exponent))
    return total

"""Choose among configurations without looking at what is judged: leave one group out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Values = Mapping[str, Sequence[float]]
"""One value per question, by group."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What leaving one group out at a time says."""

    held_out: dict[str, float]
    """Mean of each group under the configuration chosen on all the others."""
    chosen: dict[str, str]
    """That configuration."""
    refitted: str
    """The configuration that is best on all groups."""
    mean: float
    """Over all questions, each judged while its group was left out."""
    spread: float
    """Standard deviation of the groups' means."""


def leave_one_out(configurations: Mapping[str, Values]) -> Choice:
    """Choose for each group the configuration with the best mean over the other groups.

    Ties go to the first configuration. Every configuration has the same groups and questions.
    """
    groups = list(next(iter(configurations.values())))
    chosen = {group: _best(configurations, [g for g in groups if g != group]) for group in groups}
    judged = {group: list(configurations[chosen[group]][group]) for group in groups}
    means = {group: float(np.mean(values)) for group, values in judged.items()}
    every = [value for values in judged.values() for value in values]
    return Choice(
        means,
        chosen,
        _best(configurations, groups),
        float(np.mean(every)),
        float(np.std(list(means.values()))),
    )


def _best(configurations: Mapping[str, Values], groups: Sequence[str]) -> str:
    def mean(name: str) -> float:
        values = [value for group in groups for value in configurations[name][group]]
        return float(np.mean(values)) if values else 0.0

    return max(configurations, key=mean)

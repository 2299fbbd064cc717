"""Weights of the shipped profile, varied: how much hangs on them.

This is no held-out figure, though one group is left out of each choice: the weights that are varied
had been chosen on all groups. ``weighing`` fits from nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.tuning import Choice, leave_one_out
from memory_palace.bench.weighing import Ask
from memory_palace.retrieval.profiles import PROFILES, Profile

_WIDTH = 0.35
"""Standard deviation of the logarithm by which each weight is varied."""


def variations(count: int, *, seed: int = 1) -> Iterator[Profile]:
    """Yield the shipped profile, and ``count`` with every weight multiplied by a random factor."""
    shipped = PROFILES["hybrid"]
    yield replace(shipped, name="shipped")
    rng = np.random.default_rng(seed)
    for number in range(count):
        factors = np.exp(rng.normal(0, _WIDTH, len(shipped.weights)))
        weights = {
            signal: round(weight * float(factor), 3)
            for (signal, weight), factor in zip(shipped.weights.items(), factors, strict=True)
        }
        yield replace(shipped, name=f"varied-{number:03d}", weights=weights)


def judge(
    profiles: Sequence[Profile],
    collections: Sequence[Collection],
    ask: Ask,
    *,
    measure: str = "any@5",
) -> Choice:
    """Ask every question with every profile, and choose by leaving one group out."""
    values: dict[str, dict[str, list[float]]] = {}
    for profile in profiles:
        groups: dict[str, list[float]] = {}
        for answer in ask(collections, profile):
            groups.setdefault(answer.group, []).append(answer.scores[measure])
        values[profile.name] = groups
    return leave_one_out(values)

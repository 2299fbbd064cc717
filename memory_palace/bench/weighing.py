"""Weights fitted from nothing, so that what was left out is judged by those who never saw it.

The weights that ship are of no use for that: they were chosen on all groups. The fit begins with
the same weight for every signal, and only looks at the groups it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.metrics import interval
from memory_palace.bench.runs import Answer
from memory_palace.bench.signal_tables import SignalTable
from memory_palace.errors import UsageError
from memory_palace.models import Scores
from memory_palace.retrieval.profiles import Profile
from memory_palace.retrieval.signals.table import SIGNALS

Ask: TypeAlias = Callable[[Sequence[Collection], Profile], Sequence[Answer]]
"""Asks all questions of some collections with a profile."""

_NOT_EVIDENCE = frozenset(
    {"semantic", "recency", "importance", "anchor", "anchoring", "logic_undamped"}
)
"""Metadata, a guard, other forms of what is there already, and what other profiles are made of."""
EVIDENCE = tuple(signal for signal in SIGNALS if signal not in _NOT_EVIDENCE)
"""Signals that are fitted: whether they ship or not."""

_FACTORS = (0.0, 0.25, 0.5, 0.7, 0.85, 1.2, 1.4, 2.0, 4.0)
_RETURNS = (0.25, 0.5, 1.0)
"""Weights that a signal is tried with again once it has none."""
_RECIPROCAL_SHARE = 0.1
"""What the mean reciprocal rank counts beside recall_any@5, which is flat between its steps."""
_CUT = 5
_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class HeldOut:
    """recall_any@5, each question judged by a profile that was fitted without its group."""

    mean: float
    low: float
    high: float
    """95 % bootstrap interval of the mean over questions."""
    spread: float
    """Standard deviation of the groups' means."""
    groups: dict[str, float]


def fit_weights(
    sets: Sequence[Sequence[SignalTable]], signals: Sequence[str] = EVIDENCE
) -> dict[str, float]:
    """Climb from equal weights, one signal at a time, until none can be bettered.

    Every set counts the same, and every question of a set: one profile is to serve all. Signals
    that end without weight are left out.
    """
    weights = np.ones(len(signals), np.float32)
    tables = [table for part in sets for table in part]
    for place in range(len(signals)):
        if not any(table.values[place].any() for table in tables):
            weights[place] = 0  # the second of two embedders, where there is one
    totals = [weights @ table.values for table in tables]
    best = _value(sets, totals)
    for _ in range(_ROUNDS):
        before = best
        for place in range(len(signals)):
            own = float(weights[place])
            for weight in [own * factor for factor in _FACTORS] if own else _RETURNS:
                step = np.float32(weight - weights[place])
                moved = [
                    total + step * table.values[place]
                    for total, table in zip(totals, tables, strict=True)
                ]
                value = _value(sets, moved)
                if value > best:
                    best, totals = value, moved
                    weights[place] = weight
        if best <= before:
            break
    return {
        signal: round(float(weight), 4)
        for signal, weight in zip(signals, weights, strict=True)
        if weight > 0
    }


def hold_out_each(sets: Sequence[Mapping[str, SignalTable]]) -> Iterator[tuple[str, Profile]]:
    """Yield each group, and the profile that was fitted to all the others in every set.

    Raise ``UsageError`` where there is nothing to leave out.
    """
    if len(sets[0]) < 2:
        raise UsageError(f"leaving one conversation out takes two or more, not {len(sets[0])}")
    for group in sets[0]:
        others = [[table for name, table in part.items() if name != group] for part in sets]
        yield group, Profile(f"fitted-without-{group}", fit_weights(others))


def judge_held_out(
    collections: Sequence[Collection], profiles: Mapping[str, Profile], ask: Ask
) -> HeldOut:
    """Ask each group's questions with the profile fitted without it, by the product's search."""
    values = {
        group: [
            answer.scores["any@5"]
            for answer in ask([c for c in collections if c.group == group], profile)
            if answer.scores
        ]
        for group, profile in profiles.items()
    }
    every = [value for group in values.values() for value in group]
    means = {group: float(np.mean(group_values)) for group, group_values in values.items()}
    low, high = interval(every)
    return HeldOut(float(np.mean(every)), low, high, float(np.std(list(means.values()))), means)


def _value(sets: Sequence[Sequence[SignalTable]], totals: Sequence[Scores]) -> float:
    left = iter(totals)
    values = []
    for part in sets:
        ranks = np.concatenate([table.ranks(next(left)) for table in part])
        values.append((ranks <= _CUT).mean() + _RECIPROCAL_SHARE * (1 / ranks).mean())
    return float(np.mean(values))

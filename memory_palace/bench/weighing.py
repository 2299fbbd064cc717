"""Weights fitted from nothing, so that what was left out is judged by those who never saw it.

The weights that ship are of no use for that: they were chosen on all groups. The fit begins with
the same weight for every signal, and only looks at the groups it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.metrics import interval
from memory_palace.bench.runs import Answer
from memory_palace.bench.signal_tables import SignalTable
from memory_palace.errors import UsageError
from memory_palace.ranking import SIGNALS
from memory_palace.retrieval.profiles import Profile

Exact: TypeAlias = NDArray[np.float64]
Ask: TypeAlias = Callable[[Sequence[Collection], Profile], Sequence[Answer]]
"""Asks all questions of some collections with a profile."""

_NOT_EVIDENCE = frozenset(
    {"semantic", "recency", "importance", "anchor", "anchoring", "logic_undamped"}
)
"""Metadata, a guard, other forms of what is there already, and what other profiles are made of."""
EVIDENCE = tuple(signal for signal in SIGNALS if signal not in _NOT_EVIDENCE)
"""Signals that are fitted: whether they ship or not."""

_TINY = 1e-9
_STEPS = 120
_RATE, _LAST_RATE = 0.1, 0.02
"""How far a weight moves in a step, in what its signal usually is; less in the last third."""
_MEMORY, _SQUARES = 0.9, 0.99
"""How much of the gradient, and of its square, is that of the steps before (Kingma and Ba 2015)."""
_KEPT = 60
"""Units of a question that weights are fitted to, besides gold: those that rank first before."""
_TRUSTED = 0.5
"""Share of a weight that is fitted beside others. Of .25, .5, .75 and 1 it ranked best on what was
not judged, in three of five folds: likelihood rewards being surer, which moves no rank."""
_LEAST = 0.01
"""Weights below it are none, in what a signal usually is."""


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
    """Make gold likely: the first of all units, if one is drawn by the exponential of its score.

    Softmax over lists (Cao et al. 2007, "Learning to Rank: From Pairwise to Listwise"), climbed by
    gradient with no weight below 0. recall_any@5 itself is flat between its steps: weights that
    climbed it had .812 on LoCoMo dev turns they had not seen where these had .817. Every set counts
    the same, and every question of a set: one profile is to serve all. Signals that end without
    weight are left out.
    """
    usual = np.sqrt(np.mean([_mean_squares(part) for part in sets], axis=0)) + _TINY
    weights = np.ones(len(signals))
    for _ in range(2):
        short = [[_shorten(table, weights) for table in part] for part in sets]
        weights = _climb(short, weights * usual, usual) / usual
    return {
        signal: round(float(weight), 4)
        for signal, weight, size in zip(signals, weights, usual, strict=True)
        if weight * size > _LEAST
    }


def fit_beside(
    base: Profile, sets: Sequence[Sequence[SignalTable]], signals: Sequence[str]
) -> dict[str, float]:
    """Fit the weights of signals that a profile is without beside its own, which stay as they are.

    ``signals`` are the rows of the tables. What is fitted is taken by ``_TRUSTED``.
    """
    own = np.array([base.weights.get(signal, 0) for signal in signals], np.float32)
    added = [place for place, weight in enumerate(own) if not weight]
    joined = [
        [
            replace(table, values=np.vstack([own @ table.values, table.values[added]]))
            for table in part
        ]
        for part in sets
    ]
    fitted = fit_weights(joined, [base.name, *(signals[place] for place in added)])
    scale = _TRUSTED / fitted.pop(base.name)
    return {signal: round(weight * scale, 4) for signal, weight in fitted.items()}


def _climb(sets: Sequence[Sequence[SignalTable]], start: Exact, usual: Exact) -> Exact:
    """Return the weights of signals that are divided by what they usually are."""
    weights, mean, square = start.copy(), np.zeros(len(start)), np.zeros(len(start))
    for step in range(1, _STEPS + 1):
        slope = np.mean([_slope(part, weights / usual) for part in sets], axis=0) / usual
        mean = _MEMORY * mean + (1 - _MEMORY) * slope
        square = _SQUARES * square + (1 - _SQUARES) * slope**2
        steady = mean / (1 - _MEMORY**step) / (np.sqrt(square / (1 - _SQUARES**step)) + _TINY)
        rate = _RATE if step < _STEPS * 2 / 3 else _LAST_RATE
        weights = np.maximum(weights + rate * steady, 0)
    return weights


def _mean_squares(part: Sequence[SignalTable]) -> Exact:
    squares = [np.square(table.values, dtype=np.float64).sum(axis=1) for table in part]
    total: Exact = np.sum(squares, axis=0) / sum(table.values.shape[1] for table in part)
    return total


def _slope(part: Sequence[SignalTable], weights: Exact) -> Exact:
    """Return the gradient of the mean log likelihood of gold over the questions of a set."""
    total = np.zeros(len(weights))
    for table in part:
        tops = table.tops(weights.astype(np.float32) @ table.values)
        values, asked = table.values[:, tops], table.question_of
        scores = weights @ values
        odds = np.exp(scores - np.maximum.reduceat(scores, table.question_starts)[asked])
        gold = odds * table.is_gold
        among_all = np.add.reduceat(odds, table.question_starts)[asked]
        among_gold = np.add.reduceat(gold, table.question_starts)[asked]
        pull = gold / np.maximum(among_gold, _TINY) - odds / among_all
        total += values @ np.where(among_gold > 0, pull, 0)
    slope: Exact = total / sum(len(table.question_starts) for table in part)
    return slope


def _shorten(table: SignalTable, weights: Exact) -> SignalTable:
    """Keep gold and the ``_KEPT`` best units of each question."""
    scores = weights.astype(np.float32) @ table.values
    units = scores[table.tops(scores)]
    order = np.lexsort((-units, table.question_of))
    places = np.empty(len(units), np.int64)
    places[order] = np.arange(len(units)) - table.question_starts[table.question_of[order]]
    return table.pick((places < _KEPT) | table.is_gold)


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

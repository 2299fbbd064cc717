"""Measures of ranked lists, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import comb, log2
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = Sequence[float] | NDArray[np.float64] | NDArray[np.int64]

CUTS = (1, 3, 5, 10)
SEED = 7
DRAWS = 2_000

MEASURES = ("any@1", "any@3", "any@5", "any@10", "all@5", "recall@5", "ndcg@10", "mrr")
"""recall_any@k: some gold is among the first k. recall_all@5: all of it is. recall@5: the share of
it. nDCG@10 with linear gains (Järvelin and Kekäläinen 2002). MRR of the first gold."""


def score_ranking(
    ranked: Sequence[str], gold: Collection[str], gains: Mapping[str, int] | None = None
) -> dict[str, float]:
    """Score one ranked list against its gold, which is not empty. All values are in [0, 1]."""
    gains = gains or dict.fromkeys(gold, 1)
    hits = [unit in gold for unit in ranked]
    scores = {f"any@{k}": float(any(hits[:k])) for k in CUTS}
    found = len(set(ranked[:5]) & set(gold))
    scores["all@5"] = float(found == len(gold))
    scores["recall@5"] = found / len(gold)
    gained = sum(gains.get(unit, 0) / log2(i + 2) for i, unit in enumerate(ranked[:10]))
    ideal = sorted(gains.values(), reverse=True)[:10]
    scores["ndcg@10"] = gained / sum(gain / log2(i + 2) for i, gain in enumerate(ideal))
    scores["mrr"] = next((1 / (i + 1) for i, hit in enumerate(hits) if hit), 0.0)
    return scores


def interval(values: Floats) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the mean (Efron 1979)."""
    found = np.asarray(values, np.float64)
    drawn = np.random.default_rng(SEED).integers(0, len(found), (DRAWS, len(found)))
    low, high = np.percentile(found[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def paired_interval(first: Floats, second: Floats) -> tuple[float, float, float]:
    """Return mean and 95 % interval of ``second - first`` over the same questions."""
    differences = np.asarray(second, np.float64) - np.asarray(first, np.float64)
    return float(differences.mean()), *interval(differences)


def wilson_interval(values: Floats) -> tuple[float, float]:
    """Return the 95 % interval of a share of yes (1) and no (0) (Wilson 1927).

    Unlike the bootstrap it has a width where all values are the same.
    """
    return share_interval(float(np.mean(values)), len(values))


def share_interval(share: float, count: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of ``count`` answers, which may be an effective one.

    Of no answers it is all there is: 0 to 1.
    """
    if not count:
        return 0.0, 1.0
    z = 1.959964
    middle, size = share + z * z / (2 * count), 1 + z * z / count
    width = z * (share * (1 - share) / count + (z / (2 * count)) ** 2) ** 0.5
    return max(0.0, (middle - width) / size), min(1.0, (middle + width) / size)


def mcnemar(first: Sequence[float], second: Sequence[float]) -> tuple[int, int, float]:
    """Return how many questions only the first and only the second got, and the exact p.

    McNemar 1947, in the exact binomial form, two-sided.
    """
    only_first = sum(a > b for a, b in zip(first, second, strict=True))
    only_second = sum(b > a for a, b in zip(first, second, strict=True))
    count, least = only_first + only_second, min(only_first, only_second)
    tail = sum(comb(count, k) for k in range(least + 1))
    return only_first, only_second, min(1.0, 2 * tail / 2**count)

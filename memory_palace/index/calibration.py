"""The null of cosines, which chance gives, and values standardised against it.

What is surely unrelated depends on what is compared, so each who needs a null draws a sample of
its own: passages of different notes here, anchors and passages in ``anchors.build``, goals and
texts of a probe file in ``seek.node_ranking``. How a sample is measured is here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory_palace.models import Matrix, Scores

Averages = TypeVar("Averages", float, NDArray[np.float64])
SAMPLE = 512
LEAST_DEVIATION = 0.02
"""Of cosines: among a few like texts, differences below this are noise."""
_QUANTUM = 10_000
"""Sums of whole numbers do not depend on their order, so that an index may grow in any."""
PRIOR = 4
"""Passages that have nothing to do with any question and are thought to stand beside those of a
palace: without them the only passage, equal passages, or a word that all passages hold would not
stand above the mean. On LoCoMo dev and SciFact 1 to 8 rank alike."""
LEAST = 1e-3
"""Standard deviations that the best passage with a word of the question stands above the mean, the
others by their share: a word is never silent, though every passage may hold it."""
NULL = (0.05, 0.1)
"""Mean and standard deviation of cosines of unrelated texts, where nothing is known of them."""
UNRELATED = (
    "The train to the coast leaves at seven and stops at every village.",
    "Knead the dough for ten minutes, then let it rise under a cloth.",
    "The court decided that the contract was void from the beginning.",
    "Our goalkeeper saved two penalties in the second half.",
    "Mitochondria turn sugar and oxygen into energy for the cell.",
    "The sonata is in three movements, the last of them a rondo.",
    "Interest rates rose by a quarter of a percent in March.",
    "She pruned the apple trees before the first frost.",
    "The function returns an empty list when no file matches.",
    "Glaciers carve valleys into the shape of the letter U.",
    "The novel is told by a sailor who does not trust his captain.",
    "Children under twelve need a ticket but pay half the price.",
)
"""Texts of which no two have anything in common: what an embedder makes of chance."""


def measure_null(embed: Callable[[Sequence[str]], Matrix]) -> tuple[float, float]:
    """Return mean and standard deviation of an embedder's cosines of ``UNRELATED`` texts."""
    return find_moments(cross_cosines(embed(UNRELATED), np.arange(len(UNRELATED))))


def read_null(calibration: Mapping[str, float]) -> tuple[float, float]:
    """Return mean and standard deviation as ``calibrate`` found them, else those of ``NULL``."""
    return calibration.get("null_mean", NULL[0]), calibration.get("null_std", NULL[1])


def cross_cosines(vectors: Matrix, owners: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the cosine of every two unit vectors of different owners."""
    different = np.triu(owners[:, None] != owners[None, :], 1)
    cosines: NDArray[np.float64] = (vectors @ vectors.T)[different].astype(np.float64)
    return cosines


def find_moments(cosines: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and standard deviation of a sample; 0 and 1 where it is empty."""
    return (float(cosines.mean()), float(cosines.std())) if len(cosines) else (0.0, 1.0)


def expect(cosines: NDArray[np.float64], null: tuple[float, float]) -> tuple[float, float]:
    """Return mean and standard deviation of a question's cosines with whatever does not answer it.

    ``PRIOR`` passages of the mean and deviation ``null`` count beside the sample; the deviation is
    at least ``LEAST_DEVIATION``.
    """
    mean, deviation = find_moments(cosines) if len(cosines) else null
    share = PRIOR / (len(cosines) + PRIOR)
    between = share * (1 - share) * (mean - null[0]) ** 2
    variance = (1 - share) * deviation**2 + share * null[1] ** 2 + between
    return (1 - share) * mean + share * null[0], max(float(variance**0.5), LEAST_DEVIATION)


def expect_mean(mean: Averages, count: int, level: float) -> Averages:
    """Return the mean of ``count`` cosines with ``PRIOR`` of the value ``level`` beside them."""
    return (count * mean + PRIOR * level) / (count + PRIOR)


def find_tail(cosines: NDArray[np.float64], share: float) -> tuple[float, float]:
    """Return the cosine that a share of a sample exceeds, and by how much those do on average."""
    start = float(np.quantile(cosines, 1 - share))
    beyond = cosines[cosines > start] - start
    return start, float(beyond.mean()) if len(beyond) else 0.0


class Spread(NamedTuple):
    """Mean and deviation of the scores of a collection."""

    mean: float
    deviation: float
    best: float
    """The highest of all, of what is not counted too."""


def find_spread(scores: NDArray[np.float64], *, count: int, best: float) -> Spread | None:
    """Return how ``count`` scores and ``PRIOR`` zeros are spread; ``None`` where all are 0.

    Scores that are 0 may be left out: sums are of whole numbers.
    """
    whole = np.rint(scores * _QUANTUM).astype(np.int64)
    if not whole.any():
        return None
    count += PRIOR
    total, squares = int(whole.sum()), float((whole.astype(np.float64) ** 2).sum())
    mean = total / count
    deviation = max(squares / count - mean * mean, 0.0) ** 0.5
    return Spread(mean / _QUANTUM, max(deviation, 1.0) / _QUANTUM, best)


def standardise(scores: NDArray[np.float64], counted: NDArray[np.bool_]) -> Scores:
    """Return each score in deviations above the mean of the counted ones and ``PRIOR`` zeros."""
    found = scores[counted]
    best = float(scores.max(initial=0.0))
    return stand_out(scores, find_spread(found, count=len(found), best=best))


def stand_out(scores: NDArray[np.float64], spread: Spread | None) -> Scores:
    """Return each score in deviations above the mean; a score above 0 stays above 0."""
    if spread is None:
        return np.zeros(len(scores), np.float32)
    above = stand_above(scores, spread.mean, spread.deviation)
    floor: Scores = (scores * (LEAST / spread.best)).astype(np.float32)
    return np.maximum(above, floor, out=above)


def stand_above(values: NDArray[np.floating], mean: float, deviation: float) -> Scores:
    """Return by how many deviations each value is above the mean, 0 for those below."""
    above: Scores = np.maximum((values - mean) / deviation, 0.0).astype(np.float32)
    return above

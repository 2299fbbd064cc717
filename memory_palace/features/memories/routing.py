"""Which domains a question is about: votes of its words, mean vectors of domains.

One keyword alone must not decide, and neither may the order of words (source document 000 takes
the first that it knows). Where the votes are spread, nothing is left out: all domains are asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_palace.language.word_lists import share_idf
from memory_palace.models import Matrix, Vector

MOST_DOMAINS = 3
ENOUGH = 0.8
"""Share of all votes at which no further domain is taken."""
SURE = 0.25
"""Share above chance that the domains taken must have; below, all are asked. 0 is what as many
domains have where votes are even, 1 is all votes."""
CENTROID_PART = 0.2
SHARPNESS = 20.0
"""Of the softmax over the cosines with mean vectors. These five were chosen on made memories of
seed 1; the measurement uses others."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a question goes."""

    domains: tuple[str, ...]
    """Best first, ties by name; all of them where the question is asked everywhere."""
    share: float
    """Of all votes, for the domains that were taken."""
    is_sure: bool


class Router:
    """Counts which domains use which words."""

    def __init__(
        self,
        domains: Sequence[str],
        words: Sequence[Sequence[str]],
        vectors: Matrix | None = None,
    ) -> None:
        """Take the domain, the stems and perhaps the vector of each item, in parallel.

        ``vectors`` has the shape ``(items, dimension)``. Raise ``ValueError`` where they differ.
        """
        if len(domains) != len(words) or (vectors is not None and len(vectors) != len(domains)):
            raise ValueError(f"{len(domains)} domains, {len(words)} lists of words")
        self.names = tuple(sorted(set(domains)))
        self._count = len(domains)
        place = {name: at for at, name in enumerate(self.names)}
        self._homes = np.array([place[name] for name in domains], np.int64)
        self._holding: dict[str, Counter[int]] = {}
        for home, stems in zip(self._homes.tolist(), words, strict=True):
            for stem in set(stems):
                self._holding.setdefault(stem, Counter())[home] += 1
        self._centroids = None if vectors is None else self._find_centroids(vectors)

    def keywords(self) -> Mapping[str, list[str]]:
        """Return the words of each domain, the most telling first: often here, seldom elsewhere."""
        found: dict[str, list[tuple[float, str]]] = {name: [] for name in self.names}
        for stem, holding in self._holding.items():
            total = holding.total()
            for home, count in holding.items():
                found[self.names[home]].append((-count * count / total, stem))
        return {name: [stem for _, stem in sorted(ranked)] for name, ranked in found.items()}

    def route(self, stems: Sequence[str], vector: Vector | None = None) -> Route:
        """Return the domains that have most votes, all of them where too few votes are theirs.

        The order of the words does not matter. With ``vector`` the cosines of the domains' mean
        vectors vote beside the words.
        """
        votes = self._count_votes(stems)
        if vector is not None and self._centroids is not None and self.names:
            part = CENTROID_PART if votes.any() else 1.0
            votes = (1 - part) * votes + part * _sharpen(self._centroids @ vector)
        names = self.names
        order = sorted(range(len(names)), key=lambda at: (-round(float(votes[at]), 9), names[at]))
        taken: list[int] = []
        share = 0.0
        for at in order[:MOST_DOMAINS]:
            if share >= ENOUGH:
                break
            taken.append(at)
            share += float(votes[at])
        chance = len(taken) / len(names) if names else 1.0
        is_sure = chance < 1 and (share - chance) / (1 - chance) >= SURE
        return Route(tuple(names[at] for at in (taken if is_sure else order)), share, is_sure)

    def _count_votes(self, stems: Sequence[str]) -> NDArray[np.float64]:
        """Return a share for each domain; they add up to 1, or are all 0 where no word is known.

        A word is split among the domains that use it, and weighs its idf squared.
        """
        votes = np.zeros(len(self.names))
        for stem in sorted(set(stems) & self._holding.keys()):
            holding = self._holding[stem]
            total = holding.total()
            weight = share_idf(total, self._count) ** 2 / total
            votes[list(holding)] += weight * np.array(list(holding.values()), np.float64)
        whole = votes.sum()
        return votes / whole if whole else votes

    def _find_centroids(self, vectors: Matrix) -> NDArray[np.float64]:
        sums = np.zeros((len(self.names), vectors.shape[1]))
        np.add.at(sums, self._homes, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centroids: NDArray[np.float64] = sums / np.where(lengths > 0, lengths, 1.0)
        return centroids


def _sharpen(cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the softmax of cosines: shares that add up to 1."""
    raised = np.exp(SHARPNESS * (cosines - cosines.max()))
    shares: NDArray[np.float64] = raised / raised.sum()
    return shares

"""Two telling words in a row lead further than both apart: each pair is an anchor of its own.

A phrase of two common words is in nobody's vocabulary, and either word alone leads everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.terms import SHORTEST, is_dull
from memory_palace.index.postings import hash_key

Keys = NDArray[np.uint64]

LEAST = 2
"""Passages that hold a pair which a nightly build keeps: one passage repeats no phrase."""
MOST = 50
"""A pair in more passages than this says little; it also bounds the cost of a lookup."""


@dataclass(frozen=True, slots=True)
class PairLists:
    """Where pairs lead: for pair ``i`` the passages ``starts[i]`` to ``starts[i + 1]``."""

    pairs: Keys
    """Digests of the pairs, ascending."""
    starts: NDArray[np.int64]
    passages: Keys
    """First eight bytes of text digests."""

    def find(self, pair: str) -> Keys:
        """Return the passages that hold a pair."""
        key = np.uint64(hash_key(pair))
        place = int(self.pairs.searchsorted(key))
        if place == len(self.pairs) or self.pairs[place] != key:
            return self.passages[:0]
        return self.passages[int(self.starts[place]) : int(self.starts[place + 1])]

    def entries(self) -> tuple[Keys, Keys]:
        """Return pair and passage of every entry."""
        return np.repeat(self.pairs, np.diff(self.starts)), np.asarray(self.passages)


NO_PAIRS = PairLists(np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.uint64))


def pairs_of(words: Sequence[str]) -> Iterator[str]:
    """Yield each two words of ``words_of`` that follow each other but for stop words."""
    telling = [w for w in words if len(w) >= SHORTEST and not w.isdigit() and not is_dull(w)]
    for first, second in pairwise(telling):
        yield f"{first} {second}"


def collect_pairs(passages: Iterable[tuple[int, Sequence[str]]]) -> tuple[Keys, Keys]:
    """Return pair and passage of every entry, in no order; passages are given by their key."""
    pairs: list[int] = []
    held: list[int] = []
    for key, words in passages:
        found = {hash_key(pair) for pair in pairs_of(words)}
        pairs += found
        held += [key] * len(found)
    return np.array(pairs, np.uint64), np.array(held, np.uint64)


def list_pairs(pairs: Keys, passages: Keys, *, least: int = 1) -> PairLists:
    """Sort entries by pair; pairs of fewer than ``least`` or more than ``MOST`` passages go."""
    order = np.lexsort((passages, pairs))
    pairs, passages = pairs[order], passages[order]
    is_first = np.ones(len(pairs), np.bool_)
    is_first[1:] = pairs[1:] != pairs[:-1]
    firsts = np.flatnonzero(is_first)
    counts = np.diff(np.append(firsts, len(pairs)))
    is_kept = (counts >= least) & (counts <= MOST)
    starts = np.append(0, np.cumsum(counts[is_kept])).astype(np.int64)
    return PairLists(pairs[firsts[is_kept]], starts, passages[np.repeat(is_kept, counts)])

"""Every telling word of a palace is an anchor too: its list is the segment's posting list.

Pairs of them are listed by ``pairs``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.pairs import pairs_of
from memory_palace.anchors.terms import words_of
from memory_palace.index.lookup import PostingLookup
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.rarity import share_idf
from memory_palace.language.stopwords import STOP_STEMS
from memory_palace.language.tokens import tokenize
from memory_palace.models import Scores

COMMON = 500
"""A word in more passages than this leads nowhere, which also bounds the cost of a lookup: 1000
finds no more on CORF dev, 300 less (.710, .710, .687)."""
_NO_ROWS: NDArray[np.int64] = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a question's telling words each of some passages holds."""

    rows: NDArray[np.int64]
    """Ascending, each once."""
    shares: Scores
    """Of the summed idf of the question's telling words, in (0, 1]."""
    words: tuple[tuple[str, float], ...]
    """The telling words, each with its share."""
    idf: dict[str, float]
    """Of every word and pair of the question that stands anywhere, squared: telling ones count
    more."""
    lists: tuple[tuple[str, NDArray[np.int64]], ...] = ()
    """The rows of each of ``words``, ascending."""

    def weight(self, key: str) -> float:
        """Return the share of an anchor's words in what the question's words tell."""
        total = sum(self.idf.values())
        words = set(key.split())
        own = sum(idf for term, idf in self.idf.items() if words.issuperset(term.split()))
        return min(own / total, 1.0) if total else 1.0

    def beyond(self, rows: NDArray[np.int64], key: str) -> Scores:
        """Return what each of some rows holds besides the words of an anchor, in summed idf."""
        words = set(key.split())
        gains: Scores = np.zeros(len(rows), np.float32)
        for term, held in self.lists:
            if not words.issuperset(term.split()):
                gains += np.float32(self.idf[term]) * np.isin(rows, held)
        return gains

    def of(self, rows: NDArray[np.int64]) -> Scores:
        """Return the share of each of some rows, 0 where a row holds none of the words."""
        shares: Scores = np.zeros(len(rows), np.float32)
        if len(self.rows):
            places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            is_known = self.rows[places] == rows
            shares[is_known] = self.shares[places[is_known]]
        return shares


def cover(
    snapshot: Snapshot,
    postings: PostingLookup,
    text: str,
    *,
    find_pair: Callable[[str], NDArray[np.int64]],
    is_denied: Callable[[str, str], bool] | None = None,
) -> Coverage:
    """Look the words of a question up in the posting lists of the segments.

    Words of more than ``COMMON`` passages lead nowhere, words of none do not count. The cost
    depends on the lengths of the other lists, not on how many passages or words there are.
    ``find_pair`` gives the rows of two words in a row; such a pair counts like a word. What
    ``is_denied``, given as it is written and as a key, does not count at all.
    """
    shown = dict(zip(tokenize(text), tokenize(text, stems=False), strict=True)) if is_denied else {}

    def is_shut(term: str) -> bool:
        written = " ".join(shown.get(word, word) for word in term.split())
        return is_denied is not None and is_denied(written, term)

    total = len(snapshot.row_note)
    found: list[tuple[str, NDArray[np.int64], float]] = []
    idf: dict[str, float] = {}
    for term in dict.fromkeys(tokenize(text)):
        if term not in STOP_STEMS and not is_shut(term):
            count, rows = postings.find_rows(term, most=COMMON)
            if count:
                idf[term] = share_idf(count, total) ** 2
            if len(rows):
                found.append((term, rows, idf[term]))
    for pair in dict.fromkeys(pairs_of(words_of(text))):
        rows = find_pair(pair) if not is_shut(pair) else _NO_ROWS
        if len(rows):
            idf[pair] = share_idf(len(rows), total) ** 2
            found.append((pair, rows, idf[pair]))
    weight = sum(idf.values())
    rows = np.concatenate([np.zeros(0, np.int64), *(rows for _, rows, _ in found)])
    gains = np.concatenate([np.zeros(0), *(np.full(len(rows), gain) for _, rows, gain in found)])
    distinct, places = np.unique(rows, return_inverse=True)
    sums = np.bincount(places, weights=gains, minlength=len(distinct))
    shares: Scores = (sums / (weight or 1.0)).astype(np.float32)
    words = tuple((term, gain / weight) for term, _, gain in found)
    lists = tuple((term, rows) for term, rows, _ in found)
    return Coverage(distinct, shares, words, idf, lists)

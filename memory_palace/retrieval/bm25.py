"""BM25 over passages and over whole notes, from the same postings.

Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework", with the idf of Lucene, which
is never negative: ``ln(1 + (N - df + .5) / (df + .5))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.lookup import PostingLookup, Rows
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.rarity import bm25_idf

Exact = NDArray[np.float64]

K1 = 1.2
PASSAGE_B = 0.3
"""Passages are cut to like length, so length says little of them (on LoCoMo dev .3 beats .75)."""
NOTE_B = 0.75


class BM25:
    """Scores a question's terms. Frequencies count live rows outside the cold zone."""

    def __init__(self, snapshot: Snapshot, field: str = "words") -> None:
        self._snapshot = snapshot
        self._lists = PostingLookup(snapshot, field)
        self._found: dict[str, tuple[Rows, Exact]] = {}

    def passages(self, terms: Sequence[str]) -> Exact:
        """Return one score per row, 0 for rows without any of the distinct terms."""
        lengths = self._lists.lengths
        scores = np.zeros(len(lengths))
        hot = self._snapshot.hot_rows
        if not hot.any():
            return scores
        norm = K1 * (1 - PASSAGE_B + PASSAGE_B * lengths / max(float(lengths[hot].mean()), 1.0))
        for term in dict.fromkeys(terms):
            rows, counts = self._find(term)
            weight = bm25_idf(int(np.count_nonzero(hot[rows])), self._count_rows)
            scores[rows] += weight * counts * (K1 + 1) / (counts + norm[rows])
        return scores

    def notes(self, terms: Sequence[str]) -> Exact:
        """Return one score per note, from the terms of all its passages."""
        note_of = self._snapshot.row_note
        size = len(self._snapshot.paths)
        scores = np.zeros(size)
        hot = self._hot_notes
        if not hot.any():
            return scores
        lengths = self._note_lengths
        norm = K1 * (1 - NOTE_B + NOTE_B * lengths / max(float(lengths[hot].mean()), 1.0))
        for term in dict.fromkeys(terms):
            rows, counts = self._find(term)
            totals = np.bincount(note_of[rows], weights=counts, minlength=size)
            weight = bm25_idf(int(np.count_nonzero(totals[hot])), int(np.count_nonzero(hot)))
            scores += weight * totals * (K1 + 1) / (totals + norm)
        return scores

    def _find(self, term: str) -> tuple[Rows, Exact]:
        if term not in self._found:
            self._found[term] = self._lists.find(term)
        return self._found[term]

    @cached_property
    def _count_rows(self) -> int:
        return int(np.count_nonzero(self._snapshot.hot_rows))

    @cached_property
    def _hot_notes(self) -> NDArray[np.bool_]:
        """Notes outside the cold zone that have text."""
        return ~self._snapshot.cold & (self._note_lengths > 0)

    @cached_property
    def _note_lengths(self) -> Exact:
        live = self._snapshot.row_note >= 0
        return np.bincount(
            self._snapshot.row_note[live],
            weights=self._lists.lengths[live],
            minlength=len(self._snapshot.paths),
        ).astype(np.float64)

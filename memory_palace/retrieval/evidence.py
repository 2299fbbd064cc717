"""What a question finds in every row of a snapshot, before anything is chosen.

Values of different kinds are made comparable by standardising: how many standard deviations above
the mean of all rows a row lies, and 0 below it. Means and deviations do not depend on the order in
which an index grew: cosines are sampled by text digest, and sums of BM25 are sums of whole numbers.
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.calibration import find_moments, sample_rows
from memory_palace.index.lookup import PostingLookup
from memory_palace.index.recipes import Detail
from memory_palace.index.snapshot import Member, Snapshot
from memory_palace.language.stopwords import drop_stop_stems
from memory_palace.language.tokens import tokenize
from memory_palace.models import Query, Scores, Vector
from memory_palace.retrieval.bm25 import BM25, Exact
from memory_palace.retrieval.standardising import (
    LEAST_DEVIATION,
    stand_above,
    standardise,
)
from memory_palace.retrieval.tables import FactRows, WordRows

if TYPE_CHECKING:
    from memory_palace.retrieval.analysis import Analysis

Places = NDArray[np.int64]
"""Positions in another array: rows of a snapshot, its notes, or candidates."""

_NEAR = 4
"""Times as many are compared in double precision as are asked for."""
_DECIMALS = 6


class Evidence:
    """Dense and lexical evidence of one question, computed when a signal first asks for it."""

    def __init__(self, query: Query, snapshot: Snapshot) -> None:
        self._query = query
        self._snapshot = snapshot
        self._is_enriched = snapshot.detail == Detail.ENRICHED

    @cached_property
    def cosines(self) -> Scores:
        """Cosine of each row with the question, shape ``(rows,)``; zeros without vectors."""
        if self._query.vector is None or not self._query.text:
            return np.zeros(len(self._snapshot.row_note), np.float32)
        return self._snapshot.similarities(self._query.vector)

    @cached_property
    def described_cosines(self) -> Scores:
        """The same with what describes each row; zeros where the index is not enriched."""
        return self._described(self._query.vector)

    @cached_property
    def phrase_cosines(self) -> Scores:
        """Cosine of the question's noun phrases with what describes each row, or zeros."""
        return self._described(self._query.phrases)

    def exactly(self, notes: Places) -> Evidence:
        """Return the same with cosines in double precision in all rows of some notes.

        A matrix-vector product in single precision depends in its last bits on where a row
        stands. What is shown must not: an index that grew by updates answers like a fresh one.
        """
        if self._query.vector is None or not self._query.text:
            return self
        is_wanted = np.zeros(len(self._snapshot.paths) + 1, np.bool_)  # the last is for dead rows
        is_wanted[notes] = True
        wanted = np.flatnonzero(is_wanted[self._snapshot.row_note])
        exact = copy.copy(self)
        for name in ("dense", "note_dense", "described", "bridge"):
            exact.__dict__.pop(name, None)
        exact.cosines = self.cosines.copy()
        exact.cosines[wanted] = self.exact_cosines(wanted)
        if self._is_enriched:
            exact._refine_described(self, wanted)
        return exact

    def _refine_described(self, rough: Evidence, wanted: Places) -> None:
        """Do the same for descriptions, as far as a signal has asked for them."""
        asked = {"described_cosines": self._query.vector, "phrase_cosines": self._query.phrases}
        for name, vector in asked.items():
            if vector is not None and name in rough.__dict__:
                cosines = rough.__dict__[name].copy()
                cosines[wanted] = self._multiply(wanted, vector, member="described")
                self.__dict__[name] = cosines

    def nearest(self, rows: Places, *, limit: int) -> Places:
        """Return the rows of highest cosine among some, nearest first; ties by row."""
        if self._query.vector is None or not self._query.text or not len(rows):
            return np.zeros(0, np.int64)
        cosines = self.cosines[rows]
        near = rows
        if len(rows) > _NEAR * limit:
            near = rows[np.argpartition(-cosines, _NEAR * limit)[: _NEAR * limit]]
        order = np.lexsort((near, -np.round(self.exact_cosines(near), _DECIMALS)))
        nearest: Places = near[order[:limit]]
        return nearest

    @cached_property
    def dense(self) -> Scores:
        """Standardised cosine of each row."""
        mean, deviation = self._cosine_moments
        return stand_above(self.cosines, mean, max(deviation, LEAST_DEVIATION))

    @cached_property
    def described(self) -> Scores:
        """Standardised cosine of the question with what describes each row, or zeros."""
        return self._standing_out(self.described_cosines, self._query.vector)

    @cached_property
    def bridge(self) -> Scores:
        """The same for the question's noun phrases."""
        return self._standing_out(self.phrase_cosines, self._query.phrases)

    @cached_property
    def note_dense(self) -> Scores:
        """Mean of ``dense`` over the rows of each note: what it is about as a whole."""
        note_of, size = self._snapshot.row_note, len(self._snapshot.paths)
        live = note_of >= 0
        sums = np.bincount(note_of[live], weights=self.dense[live], minlength=size)
        counts = np.bincount(note_of[live], minlength=size)
        means: Scores = (sums / np.maximum(counts, 1)).astype(np.float32)
        return means

    @cached_property
    def words(self) -> Scores:
        """Standardised BM25 of each row, over all words of the question."""
        return standardise(self._bm25.passages(self.terms), self._snapshot.row_note >= 0)

    @cached_property
    def extras(self) -> Scores:
        """Standardised BM25 of each row over what describes it, for words that carry meaning."""
        bm25 = BM25(self._snapshot, "extras")
        return standardise(bm25.passages(self.content_terms), self._snapshot.row_note >= 0)

    @cached_property
    def note_words(self) -> Scores:
        """Standardised BM25 of each note, over the words that carry meaning."""
        scores = self._bm25.notes(self.content_terms)
        return standardise(scores, np.ones(len(scores), np.bool_))

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The distinct tokens of the question, in order."""
        return tuple(dict.fromkeys(tokenize(self._query.text)))

    @cached_property
    def content_terms(self) -> tuple[str, ...]:
        """Those that are no stop words; all of them where nothing else is left."""
        return drop_stop_stems(self.terms)

    @cached_property
    def facts(self) -> FactRows:
        """Rows by what was extracted from them."""
        return FactRows(self._snapshot)

    @cached_property
    def word_rows(self) -> WordRows:
        """Rows by the words in them."""
        return WordRows(PostingLookup(self._snapshot, "words"))

    @cached_property
    def analysis(self) -> Analysis:
        """What the question asks for."""
        from memory_palace.retrieval.analysis import analyse  # delayed: only some signals ask

        query = self._query
        return analyse(query.text, as_of=query.as_of, known_entities=self.facts)

    @cached_property
    def _bm25(self) -> BM25:
        return BM25(self._snapshot)

    @cached_property
    def _cosine_moments(self) -> tuple[float, float]:
        return find_moments(self.exact_cosines(sample_rows(self._snapshot)))

    def _described(self, vector: Vector | None) -> Scores:
        if vector is None or not self._query.text or not self._is_enriched:
            return np.zeros(len(self._snapshot.row_note), np.float32)
        return self._snapshot.similarities(vector, member="described")

    def _standing_out(self, cosines: Scores, vector: Vector | None) -> Scores:
        if vector is None or not self._is_enriched:
            return np.zeros(len(cosines), np.float32)
        sample = self._multiply(sample_rows(self._snapshot), vector, member="described")
        mean, deviation = find_moments(sample)
        return stand_above(cosines, mean, max(deviation, LEAST_DEVIATION))

    def exact_cosines(self, rows: Places) -> Exact:
        """Return the cosine of some rows with the question in double precision."""
        if self._query.vector is None or not self._query.text:
            return np.zeros(len(rows))
        return self._multiply(rows, self._query.vector)

    def _multiply(self, rows: Places, vector: Vector, *, member: Member = "vectors") -> Exact:
        """Return cosines in double precision."""
        vectors = self._snapshot.rows_of(rows, member=member)
        cosines: Exact = np.einsum("ij,j->i", vectors, vector, dtype=np.float64)
        return cosines

"""What a question finds in every row of a snapshot, before anything is chosen.

Values of different kinds are made comparable by standardising: how many standard deviations above
the mean of all rows a row lies, and 0 below it. Means and deviations do not depend on the order in
which an index grew: cosines are sampled by text digest, and sums of BM25 are sums of whole numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.calibration import (
    LEAST,
    expect,
    read_null,
    stand_above,
    stand_out,
)
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import BM25, PostingLookup
from memory_palace.language.word_lists import expect_idf
from memory_palace.models import ParsedQuery, Scores, Vector
from memory_palace.retrieval.question import ParsedQuestion, match_names

Exact = NDArray[np.float64]

Places = NDArray[np.int64]
"""Positions in another array: rows of a snapshot, its notes, or candidates."""

_FOREIGN, _OWN = 0.06, 0.12
"""Share of the passages that hold a word of the question, on average over its words. In the
language of the notes 19 questions of 20 reach .11 on LoCoMo and QMSum, .05 on Russian pages and
more on others; of 20 English ones over pages in German, Japanese or Russian one reaches .07."""
_HELD, _STEEPNESS = 0.8, 6
"""Share of the question's words, rare ones counting more, that some note holds, which is enough
whatever the language: a list of rare words is in no language. In that of the notes it is .75 to 1
in the median of a set, in another one .38."""
_FEW_ROWS = 20
"""Passages that are too few to say so: in a small palace most words are missing by chance."""

_BEST = 3
_NEAR = 4
"""Times as many are compared in double precision as are asked for."""
_DECIMALS = 6


class VectorEvidence:
    """Cosines of one vector with a vector of every row, in single precision but where exact.

    A matrix-vector product in single precision depends in its last bits on where a row stands.
    What is shown must not: an index that grew by updates answers like a fresh one. So the rows
    that may be shown are multiplied again in double precision, see ``exactly``.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        vector: Vector | None,
        words: Callable[[], Scores] | None = None,
    ) -> None:
        """Compare nothing, and find nothing, where ``vector`` is ``None``.

        A row without a vector is given the cosine that rows with as many ``words`` have.
        """
        self._snapshot, self._vector = snapshot, vector
        self._words = words
        self._rough: VectorEvidence | None = None
        self._exact_rows: Places = np.zeros(0, np.int64)

    def exactly(self, rows: Places) -> VectorEvidence:
        """Return the same with cosines in double precision in some rows."""
        if self._vector is None:
            return self
        exact = VectorEvidence(self._snapshot, self._vector, self._words)
        exact._rough, exact._exact_rows = self, rows
        return exact

    @cached_property
    def cosines(self) -> Scores:
        """Cosine of each row, shape ``(rows,)``; zeros without a vector."""
        if self._vector is None:
            return np.zeros(len(self._snapshot.row_note), np.float32)
        if self._rough is None:
            found = self._snapshot.similarities(self._vector)
            lacking = self._snapshot.lacking
            return found if lacking is None else self._expect_cosines(found, lacking)
        cosines = self._rough.cosines.copy()
        cosines[self._exact_rows] = self.multiply(self._exact_rows)
        return cosines

    @property
    def found(self) -> NDArray[np.bool_]:
        """Whether each row is nearer than the mean."""
        return self.above > 0

    @cached_property
    def above(self) -> Scores:
        """Standardised cosine of each row."""
        if self._vector is None:
            return self.cosines
        mean, deviation = self._moments
        return stand_above(self.cosines, mean, deviation)

    @cached_property
    def notes_above(self) -> Scores:
        """Mean of ``above`` over the ``_BEST`` passages of each note with most of it."""
        note_of, size = self._snapshot.row_note, len(self._snapshot.paths)
        rows = np.flatnonzero((note_of >= 0) & (self.above > 0))
        sums = np.zeros(size)
        for _ in range(_BEST):
            if not len(rows):
                break
            best = np.zeros(size, np.float32)
            np.maximum.at(best, note_of[rows], self.above[rows])
            sums += best
            left = np.flatnonzero(self.above[rows] == best[note_of[rows]])
            firsts = left[np.unique(note_of[rows[left]], return_index=True)[1]]
            rows = np.delete(rows, firsts)
        counts = np.bincount(note_of[note_of >= 0], minlength=size)
        means: Scores = (sums / np.clip(counts, 1, _BEST)).astype(np.float32)
        return means

    def nearest(self, rows: Places, *, limit: int) -> Places:
        """Return the rows of highest cosine among some, nearest first; ties by row."""
        if self._vector is None or not len(rows):
            return np.zeros(0, np.int64)
        near = rows
        if len(rows) > _NEAR * limit:
            far = _NEAR * limit
            near = rows[np.argpartition(-self.cosines[rows], far)[:far]]
        order = np.lexsort((near, -np.round(self.multiply(near), _DECIMALS)))
        nearest: Places = near[order[:limit]]
        return nearest

    def multiply(self, rows: Places) -> Exact:
        """Return the cosines of some rows in double precision."""
        if self._vector is None:
            return np.zeros(len(rows))
        found = self._snapshot.cosines_of(rows, self._vector)
        lacking = self._snapshot.lacking
        if lacking is not None:
            rough = self if self._rough is None else self._rough
            found[lacking[rows]] = rough.cosines[rows[lacking[rows]]]
        return found

    def _expect_cosines(self, found: Scores, lacking: NDArray[np.bool_]) -> Scores:
        """Return the cosines, those of rows without a vector as the words make them likely."""
        words = self._words() if self._words else np.zeros(len(found), np.float32)
        known = ~lacking & (self._snapshot.row_note >= 0)
        if known.any():
            mean, spread = float(words[known].mean()), float(words[known].var())
            level = float(found[known].mean())
            both = float(((words[known] - mean) * (found[known] - level)).mean())
            found[lacking] = level + (words[lacking] - mean) * (both / spread if spread else 0.0)
        return found

    @cached_property
    def _moments(self) -> tuple[float, float]:
        if self._rough is not None:
            return self._rough._moments
        return expect(self.sample, read_null(self._snapshot.commit.calibration))

    @cached_property
    def sample(self) -> Exact:
        """Cosines of the rows that stand for all, see ``Snapshot.sample``."""
        if self._rough is not None:
            return self._rough.sample
        if self._vector is None:
            return np.zeros(0)
        return self._snapshot.statistics.sample(self._vector)


class Evidence:
    """Dense and lexical evidence of one question, computed when a signal first asks for it."""

    def __init__(self, query: ParsedQuery, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._all = snapshot.statistics
        vector = query.vector if query.text else None
        self._has_meaning = vector is not None
        self.meaning = VectorEvidence(snapshot, vector, words=lambda: self.words)
        """The question beside each passage."""
        self.facts = PostingLookup(snapshot, "facts")
        self.word_rows = PostingLookup(snapshot, "words")
        self._names = PostingLookup(snapshot, "names")
        self.question = ParsedQuestion(
            query.text, as_of=query.as_of, languages=snapshot.languages, locale=query.locale
        )

    def exactly(self, notes: Places) -> Evidence:
        """Return the same with exact cosines in all rows of some notes.

        Words are shared: they are whole numbers, and exact from the start.
        """
        is_wanted = np.zeros(len(self._snapshot.paths) + 1, np.bool_)  # the last is for dead rows
        is_wanted[notes] = True
        rows = np.flatnonzero(is_wanted[self._snapshot.row_owner])
        exact = copy.copy(self)
        exact.meaning = self.meaning.exactly(rows)
        return exact

    @cached_property
    def words(self) -> Scores:
        """Standardised BM25 of each row, over all words of the question."""
        scores = self._bm25.passages(self.question.terms)
        # Where no passage does, only a question that a note answers holds any of them.
        counted = self._snapshot.row_note >= 0, self._snapshot.row_owner >= 0
        return self.bearing * stand_out(scores, self._all.spread("words", scores, *counted))

    @cached_property
    def note_words(self) -> Scores:
        """Standardised BM25 of each note, over the words that carry meaning."""
        scores = self._bm25.notes(self.question.content_terms)
        counted = ~self._snapshot.private  # what is never found changes no score
        return self.bearing * stand_out(scores, self._all.spread("note_words", scores, counted))

    @cached_property
    def bearing(self) -> np.float32:
        """How much words count beside meaning, in [0, 1]: little in another language.

        There a question finds names and numbers by chance, which stand out all the more because
        nothing else is found.
        """
        if not self._has_meaning:
            return np.float32(1)
        common, held = self._bm25.familiarity(self.question.terms)
        own = min(max(common - _FOREIGN, 0.0) / (_OWN - _FOREIGN), 1.0)
        share = max(own, min(held / _HELD, 1.0) ** _STEEPNESS)
        rows = self._all.rows
        return np.float32(1 - (1 - share) * rows / (rows + _FEW_ROWS))

    @cached_property
    def questions(self) -> Scores:
        """By how much the nearest question of each note exceeds its nearest passage, in meaning."""
        return self._exceed(self.meaning.above)

    @cached_property
    def question_words(self) -> Scores:
        """The same in words."""
        return self._exceed(self.words)

    def _exceed(self, found: Scores) -> Scores:
        """Return by how much the best question of each note is above its best passage, or 0."""
        snapshot = self._snapshot
        best = np.zeros((2, len(snapshot.paths)), np.float32)
        asked = snapshot.question_rows
        if len(asked):
            rows = np.flatnonzero(snapshot.row_note >= 0)
            np.maximum.at(best[0], snapshot.row_owner[asked], found[asked])
            np.maximum.at(best[1], snapshot.row_note[rows], found[rows])
        exceeding: Scores = np.maximum(best[0] - best[1], np.float32(0))
        return exceeding

    @cached_property
    def called(self) -> Scores:
        """How surely the question is the name of each note, in [0, 1]."""
        fields = (self.word_rows, self._names)
        is_known = all(any(f.is_held(term) for f in fields) for term in self.question.terms)
        return match_names(self.question.text, self._snapshot, is_known=is_known)

    @cached_property
    def in_names(self) -> Scores:
        """The share of the question's words that each note's names hold, the rarer the more."""
        whole = 0.0
        share = np.zeros(len(self._snapshot.paths))
        rows = self._all.rows
        for term in self.question.content_terms:
            weight = expect_idf(term, self.word_rows.document_frequency(term), rows)
            whole += weight
            share[self._snapshot.row_note[self._names.rows(term)]] += weight
        return (share / max(whole, LEAST)).astype(np.float32)

    @cached_property
    def _bm25(self) -> BM25:
        return BM25(self.word_rows)

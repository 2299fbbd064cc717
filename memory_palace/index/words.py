"""Posting look-up, BM25 scores, and the standardisation of scores and cosines."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.segment import Segment, hash_key
from memory_palace.index.snapshot import PRIOR, Snapshot, Spread, Statistics
from memory_palace.language.words import expect_idf
from memory_palace.models import Scores

Rows = NDArray[np.int64]
Counts = NDArray[np.float64]
Averages = TypeVar("Averages", float, Counts)
NO_ROWS: Rows = np.zeros(0, np.int64)
NO_COUNTS: Counts = np.zeros(0)

K1, NOTE_B = 1.2, 0.75
PASSAGE_B = 0.3
"""Passages are cut to like length, so length says little of them (on LoCoMo dev .3 beats .75)."""
UNSEEN = 0.5
"""Document frequency that an unknown word is counted with."""


class PostingLookup:
    """Live passages by term in one field, cold ones too, which document frequencies leave out."""

    def __init__(self, snapshot: Snapshot, field: str) -> None:
        self.snapshot, self._field = snapshot, field
        self._found: dict[tuple[str, ...], tuple[Rows, Counts]] = {}
        self._frequencies: dict[tuple[str, ...], int] = {}

    def find(self, *parts: str) -> tuple[Rows, Counts]:
        """Return the live passages that hold a term, ascending, and its frequency in each.

        A fact is given by its kind and its key. Results are cached for other signals.
        """
        rows, counts = self.find_all(*parts)
        if not len(self.snapshot.question_rows):
            return rows, counts
        is_passage = self.snapshot.row_note[rows] >= 0
        return rows[is_passage], counts[is_passage]

    def find_all(self, *parts: str) -> tuple[Rows, Counts]:
        """Return the live rows, stored questions too, that hold a term, and their counts."""
        if parts not in self._found:
            self._found[parts] = self._look_up(*parts)
        return self._found[parts]

    def look_up(self, terms: Collection[str]) -> None:
        """Cache what is known of many terms at once: empty posting lists, and frequencies."""
        snapshot = self.snapshot
        if not all(isinstance(segment, Segment) for segment in snapshot.segments):
            return  # a store's lists are looked up as they are asked for
        keys = np.fromiter(map(hash_key, terms), np.uint64, len(terms))
        sizes = np.zeros(len(terms), np.int64)
        for segment in snapshot.segments:
            if len(known := segment.arrays[f"{self._field}_keys"]):
                places = np.minimum(known.searchsorted(keys), len(known) - 1)
                sizes += segment.arrays[f"{self._field}_sizes"][places] * (known[places] == keys)
        is_own = type(snapshot.statistics) is Statistics
        is_exact = is_own and bool(snapshot.hot_rows.all())
        for term, size in zip(terms, sizes.tolist(), strict=True):
            if not size:
                self._found[term,] = NO_ROWS, NO_COUNTS
            if is_exact or (is_own and not size):
                self._frequencies[term,] = size

    def _look_up(self, *parts: str) -> tuple[Rows, Counts]:
        key = hash_key(*parts)
        rows, counts = list[Rows](), list[Counts]()
        snapshot = self.snapshot
        for segment, start in zip(snapshot.segments, snapshot.row_starts.tolist(), strict=False):
            found, often = segment.find(self._field, key)
            if len(found):
                rows.append(found.astype(np.int64) + start)
                counts.append(often.astype(np.float64))
        if not rows:
            return NO_ROWS, NO_COUNTS
        all_rows, all_counts = np.concatenate(rows), np.concatenate(counts)
        is_live = snapshot.row_owner[all_rows] >= 0
        return all_rows[is_live], all_counts[is_live]

    def rows(self, *parts: str) -> Rows:
        """Return the live passages that hold a term, ascending."""
        return self.find(*parts)[0]

    def document_frequency(self, *parts: str) -> int:
        """Return the number of live passages of all notes that hold a term, cold ones aside."""
        if parts not in self._frequencies:
            rows = self.rows(*parts)
            self._frequencies[parts] = self.snapshot.statistics.frequency(self._field, parts, rows)
        return self._frequencies[parts]

    def is_held(self, *parts: str) -> bool:
        """Whether any live passage of all notes holds a term."""
        return self.snapshot.statistics.holds(self._field, parts, self.rows(*parts))

    def mean_length(self) -> float:
        """Return the mean number of terms of a passage outside the cold zone, over all notes."""
        hot = self.lengths[self.snapshot.hot_rows]
        return self.snapshot.statistics.figure("words_length", float(hot.sum()) / max(len(hot), 1))

    @cached_property
    def lengths(self) -> Counts:
        """Number of terms of each row, repeated ones included."""
        columns = [segment.arrays[f"{self._field}_lengths"] for segment in self.snapshot.segments]
        return np.concatenate([np.zeros(0), *columns]).astype(np.float64)

    @property
    def norms(self) -> Counts:
        """The length norm of BM25 for each row."""
        return K1 * (1 - PASSAGE_B + PASSAGE_B * self.lengths / max(self.mean_length(), 1.0))

    @cached_property
    def hot_notes(self) -> NDArray[np.bool_]:
        """Notes outside the cold zone that have text."""
        return ~self.snapshot.cold & (self.note_lengths > 0)

    @cached_property
    def note_lengths(self) -> Counts:
        """Number of terms in the passages of each note, repeated ones included."""
        live = self.snapshot.row_note >= 0
        owners, size = self.snapshot.row_note[live], len(self.snapshot.paths)
        return np.bincount(owners, weights=self.lengths[live], minlength=size).astype(np.float64)


class BM25:
    """BM25 scores of passages and of whole notes, from the same posting lists.

    Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework". Document frequencies count
    live passages outside the cold zone.
    """

    def __init__(self, lists: PostingLookup) -> None:
        self._lists, self._snapshot, self._all = lists, lists.snapshot, lists.snapshot.statistics

    def passages(self, terms: Sequence[str]) -> Counts:
        """Return one score per row, questions too, 0 for rows without any of the distinct terms."""
        norm = self._lists.norms
        scores = np.zeros(len(norm))
        if not self._snapshot.passages:
            return scores
        for term in dict.fromkeys(terms):
            rows, counts = self._lists.find_all(term)
            if not len(rows):
                continue
            having = self._lists.document_frequency(term)
            scores[rows] += _weigh(term, having, self._snapshot.passages, counts, norm[rows])
        return scores

    def notes(self, terms: Sequence[str]) -> Counts:
        """Return one score per note, from the terms of all its passages."""
        note_of, size = self._snapshot.row_note, len(self._snapshot.paths)
        scores = np.zeros(size)
        hot = self._lists.hot_notes
        if not (notes := int(self._all.figure("notes", int(np.count_nonzero(hot))))):
            return scores
        lengths = self._lists.note_lengths
        mean = self._all.figure("note_length", float(lengths[hot].sum()) / max(hot.sum(), 1))
        norm = K1 * (1 - NOTE_B + NOTE_B * lengths / mean)
        for term in dict.fromkeys(terms):
            rows, counts = self._lists.find(term)
            if not len(rows):
                continue
            totals: Counts = np.bincount(note_of[rows], counts, size).astype(np.float64)
            having = self._all.note_frequency(term, int(np.count_nonzero(totals[hot])))
            scores += _weigh(term, having, notes, totals, norm)
        return scores

    def familiarity(self, terms: Sequence[str]) -> tuple[float, float]:
        """Return the terms' mean share of passages, and largest idf-weighted share in a note."""
        note_of, hot = self._snapshot.row_note, self._snapshot.hot_rows
        whole, common, held = 0.0, 0.0, np.zeros(len(self._snapshot.paths))
        for term in (distinct := dict.fromkeys(terms)):
            rows = self._lists.rows(term)
            rows = rows[hot[rows]]
            having = self._lists.document_frequency(term)
            common += having / max(self._snapshot.passages, 1)
            weight = math.log1p(self._snapshot.passages / max(having, UNSEEN))
            whole += weight
            if not len(rows):
                continue
            held[np.bincount(note_of[rows], minlength=len(held)) > 0] += weight  # np.unique sorts
        most = self._all.figure("most_held", float(held.max(initial=0.0)) / (whole or 1.0))
        return common / max(len(distinct), 1), most


def _weigh(term: str, having: int, texts: int, counts: Counts, norm: Counts) -> Counts:
    """Return the part of BM25 that one term adds, by its frequency in each text and their norms."""
    return expect_idf(term, having, texts) * counts * (K1 + 1) / (counts + norm)


LEAST = 1e-3
"""Least standardised score of the best passage with a word of the question, in proportion for the
others: a word is never without effect, though every passage may hold it."""
LEAST_DEVIATION = 0.02
"""Least deviation of cosines: among a few similar texts smaller differences are noise."""


def stand_out(scores: NDArray[np.float64], spread: Spread | None) -> Scores:
    """Return each score in deviations above the mean; a score above 0 stays above 0."""
    if spread is None:
        return np.zeros(len(scores), np.float32)
    above = stand_above(scores, spread.mean, spread.deviation)
    floor: Scores = (scores * (LEAST / spread.best)).astype(np.float32)
    return np.maximum(above, floor, out=above)


def stand_above(values: NDArray[np.floating], mean: float, deviation: float) -> Scores:
    """Return each value in deviations above the mean, 0 for values below it."""
    above: Scores = np.maximum((values - mean) / deviation, 0.0).astype(np.float32)
    return above


def expect(cosines: NDArray[np.float64], null: tuple[float, float]) -> tuple[float, float]:
    """Return mean and standard deviation of a question's cosines with unrelated passages.

    The sample is pooled with ``PRIOR`` pseudo-passages of the mean and deviation ``null``; the
    deviation is at least ``LEAST_DEVIATION``.
    """
    mean, deviation = find_moments(cosines) if len(cosines) else null
    share = PRIOR / (len(cosines) + PRIOR)
    between = share * (1 - share) * (mean - null[0]) ** 2
    variance = (1 - share) * deviation**2 + share * null[1] ** 2 + between
    return (1 - share) * mean + share * null[0], max(float(variance**0.5), LEAST_DEVIATION)


def find_moments(cosines: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and standard deviation of a sample; 0 and 1 where it is empty."""
    return (float(cosines.mean()), float(cosines.std())) if len(cosines) else (0.0, 1.0)


def expect_mean(mean: Averages, count: int, level: float) -> Averages:
    """Return the mean of ``count`` cosines and ``PRIOR`` pseudo-values of ``level``."""
    return (count * mean + PRIOR * level) / (count + PRIOR)

"""All notes of a palace in a store as a snapshot whose rows are whole notes.

Filters, and signals that look at whole notes, work on it as on files. So the engine itself chooses
the notes that are read, and then ranks these by all of their passages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.features.store.generation import Generation, damaged, read_sample
from memory_palace.features.store.lists import Lists, Posted
from memory_palace.features.store.notes import read_figures
from memory_palace.features.store.statements import Statements
from memory_palace.index.arrays import Array, fact_term
from memory_palace.index.calibration import PRIOR, Spread, find_spread
from memory_palace.index.snapshot import Figure, Snapshot, Statistics
from memory_palace.index.words import BM25, K1, PASSAGE_B, PostingLookup
from memory_palace.language.word_lists import expect_idf
from memory_palace.models import Scores, Vector
from memory_palace.retrieval.question import AskedWords

_Rows = NDArray[np.int64]
_Mask = NDArray[np.bool_]
_LEAST = 1e-4
"""The least deviation of scores, see ``calibration.find_spread``."""


class Outline(Snapshot):
    """All notes of one generation, with or without the archive."""

    def __init__(
        self, statements: Statements, generation: Generation, *, include_cold: bool
    ) -> None:
        super().__init__(generation.commit, [], rooms=generation.rooms)
        self._statements = statements
        ((data, paths),) = statements.ask(
            "SELECT coalesce(string_agg(figures, '' ORDER BY id), ''), array_agg(path ORDER BY id)"
            " FROM note WHERE palace = %(palace)s"
        )
        figures = read_figures(data)
        if len(figures) != len(paths or ()):
            raise damaged("the figures of the notes")
        self._is_kept = np.flatnonzero(~figures["is_cold"] | include_cold)
        self.figures = kept = figures[self._is_kept]
        self.is_whole = len(self.figures) == len(figures)
        """Whether no note is left out for being cold."""
        self.last_note = int(figures["id"].max(initial=0))
        self.paths = [paths[place] for place in self._is_kept.tolist()]
        self._read: dict[str, list[str]] = {}
        self.sample_vectors = read_sample(statements, generation.commit.dimension)
        self.cosines: Scores = np.zeros(0, np.float32)
        # What a snapshot of files reads from its segments.
        size, self.cold, self.dates = len(kept), kept["is_cold"], kept["date"]
        self.row_note = np.where(kept["passages"] > 0, np.arange(size), -1).astype(np.int32)
        self.row_owner, self.row_starts = self.row_note, np.array([0, size])
        self.question_rows = np.zeros(0, np.int64)
        self.lacking, self.copies, self.speakers = None, {}, frozenset()

    def ask(self) -> Outline:
        """Return the same for another question, with posting lists of its own."""
        asked = copy(self)
        asked.lists = Lists(self._statements, self.figures)
        asked.segments = [asked.lists]
        return asked

    lists: Lists
    segments: list[Any]

    @property
    def statistics(self) -> Statistics:
        """Figures of all notes by passages, though rows are notes."""
        return _OutlineStatistics(self)

    def similarities(self, vector: Vector) -> Scores:
        """Return what was found of the passage of each note that is nearest to the question."""
        return self.cosines

    def cosines_of(self, rows: _Rows, vector: Vector) -> NDArray[np.float64]:
        """Return the same of some notes."""
        return self.cosines[rows].astype(np.float64)

    def _column(self, name: str) -> Array:
        column: Array = self.figures[name]
        return column

    def _texts(self, name: str) -> list[str]:
        if name not in self._read:
            column = {"types": "type", "tags": "tags"}[name]
            ((texts,),) = self._statements.ask(
                f"SELECT array_agg({column} ORDER BY id) FROM note WHERE palace = %(palace)s"
            )
            self._read[name] = [texts[place] for place in self._is_kept.tolist()]
        return self._read[name]


class _OutlineStatistics(Statistics):
    """Figures of an outline, whose posting lists know how many passages of a note hold a term."""

    def __init__(self, outline: Outline) -> None:
        super().__init__(outline)
        self._outline = outline

    @property
    def rows(self) -> int:
        """How many passages are outside the cold zone."""
        return int(self._outline.figures["passages"][~self._outline.cold].sum())

    def figure(self, name: Figure, found: float) -> float:
        """Return what was found, but for the length of passages."""
        if name != "words_length":
            return found
        return float(self._outline.figures["words"][~self._outline.cold].sum()) / max(self.rows, 1)

    def frequency(self, field: str, parts: tuple[str, ...], rows: _Rows) -> int:
        """Return how many passages outside the cold zone hold a term."""
        found = self._outline.lists.get(field, _term(parts))
        return int(found.passages[~self._outline.cold[found.places]].sum())

    def sample(self, vector: Vector) -> NDArray[np.float64]:
        """Return the cosines of a vector with those of the passages that stand for all."""
        sample = self._outline.sample_vectors
        cosines: NDArray[np.float64] = np.einsum("ij,j->i", sample, vector, dtype=np.float64)
        return cosines


class ToldStatistics(Statistics):
    """Figures of all notes of a palace for one question, told to who ranks some of them.

    All are exact but one: how the scores of passages are spread is reckoned from whole notes, but
    for the passages of the notes at hand.
    """

    def __init__(self, outline: Outline, question: AskedWords) -> None:
        super().__init__(outline)
        self._outline, self._question = outline, question
        self._own = _OutlineStatistics(outline)
        self._words = PostingLookup(outline, "words")
        self._bm25 = BM25(self._words)
        self.at_hand: _Mask = np.zeros(len(outline.paths), np.bool_)
        """Which notes are ranked."""

    @property
    def rows(self) -> int:
        """How many passages are live and outside the cold zone."""
        return self._own.rows

    def figure(self, name: Figure, found: float) -> float:
        """Return a figure of all notes."""
        return self._figures[name]

    @cached_property
    def _figures(self) -> Mapping[str, float]:
        lengths = self._words.note_lengths[self._words.hot_notes]
        return {
            "words_length": self._own.figure("words_length", 0.0),
            "notes": len(lengths),
            "note_length": float(lengths.mean()) if len(lengths) else 0.0,
            "most_held": self._bm25.familiarity(self._question.terms)[1],
        }

    def frequency(self, field: str, parts: tuple[str, ...], rows: _Rows) -> int:
        """Return how many passages outside the cold zone hold a term, or a fact by its parts."""
        return self._own.frequency(field, parts, rows)

    def note_frequency(self, term: str, found: int) -> int:
        """Return how many notes outside the cold zone have a word in a passage."""
        held = self._outline.lists.get("words", term)
        return int(np.count_nonzero(~self._outline.cold[held.places] & (held.passages > 0)))

    def holds(self, field: str, parts: tuple[str, ...], rows: _Rows) -> bool:
        """Say whether any passage holds a term."""
        return bool(self._outline.lists.get(field, _term(parts)).passages.any())

    def sample(self, vector: Vector) -> NDArray[np.float64]:
        """Return the cosines of a vector with those of the rows that stand for all."""
        return self._own.sample(vector)

    def spread(self, name: str, scores: NDArray[np.float64], *counted: _Mask) -> Spread | None:
        """Return how scores are spread over all notes or passages."""
        if name == "note_words":
            return self._note_spread
        best = float(scores.max(initial=0.0))
        if not best:
            return None
        rest, squares = self._reckon_rest()
        found = scores[counted[0]]
        total = float(found.sum()) + rest
        if not total:
            held = scores[counted[-1]]
            return find_spread(held, count=len(held), best=best)
        count = int(self._outline.figures["passages"].sum()) + PRIOR
        mean = total / count
        variance = (float((found * found).sum()) + squares) / count - mean * mean
        return Spread(mean, max(math.sqrt(max(variance, 0.0)), _LEAST), best)

    @cached_property
    def _note_spread(self) -> Spread | None:
        scores = self._bm25.notes(self._question.content_terms)
        return find_spread(scores, count=len(scores), best=float(scores.max(initial=0.0)))

    def _reckon_rest(self) -> tuple[float, float]:
        """Return the sum of BM25 of all passages that are not at hand, and that of its squares.

        A passage of a note with ``n`` of them holds a term with the chance that any of them does,
        as often as those that hold it do on average; two terms meet by chance.
        """
        figures = self._outline.figures
        passages = np.maximum(figures["passages"], 1).astype(np.float64)
        mean = max(self._own.figure("words_length", 0.0), 1.0)
        norm = K1 * (1 - PASSAGE_B + PASSAGE_B * figures["words"] / passages / mean)
        first, square, meeting = np.zeros((3, len(passages)))
        for term in self._question.terms:
            weight = expect_idf(term, self.frequency("words", (term,), _NO_ROWS), self.rows)
            held: Posted = self._outline.lists.get("words", term)
            count = held.counts / np.maximum(held.passages, 1)
            score = weight * count * (K1 + 1) / (count + norm[held.places])
            first[held.places] += held.passages * score
            square[held.places] += held.passages * score**2
            meeting[held.places] += (held.passages * score) ** 2
        square += (first**2 - meeting) / passages
        rest = ~self.at_hand
        return float(first[rest].sum()), float(square[rest].sum())


_NO_ROWS: _Rows = np.zeros(0, np.int64)


def _term(parts: tuple[str, ...]) -> str:
    return parts[0] if len(parts) == 1 else fact_term(*parts)

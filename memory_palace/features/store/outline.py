"""All notes of a palace in a store as a snapshot whose rows are whole notes.

Filters, and signals that look at whole notes, work on it as on files. So the engine itself chooses
the notes that are read, and then ranks these by all of their passages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.features.store.connecting import Statements
from memory_palace.features.store.lists import Lists
from memory_palace.features.store.rows import Generation, damaged, read_figures, read_matrix
from memory_palace.index.segment import Array
from memory_palace.index.snapshot import PRIOR, Figure, Snapshot, Spread, Statistics, find_spread
from memory_palace.index.words import BM25, K1, PASSAGE_B, PostingLookup, Rows
from memory_palace.language.words import expect_idf
from memory_palace.models import Scores, Vector
from memory_palace.retrieval.question import AskedWords

_Mask = NDArray[np.bool_]


class Outline(Snapshot):
    """All notes of one generation, with or without the archive."""

    def __init__(
        self, statements: Statements, generation: Generation, *, include_cold: bool
    ) -> None:
        super().__init__(generation.commit, [], rooms=generation.rooms)
        self.disputes = generation.disputes
        self._statements = statements
        ((data, *texts),) = statements.ask(
            "SELECT coalesce(string_agg(figures, ''), ''), coalesce(array_agg(path), '{}'),"
            " coalesce(array_agg(type), '{}'), coalesce(array_agg(tags), '{}')"
            " FROM (SELECT * FROM note WHERE palace = %(palace)s ORDER BY id) AS note"
        )
        figures = read_figures(data)
        if len(figures) != len(texts[0]):
            raise damaged("the figures of the notes")
        places = np.flatnonzero(~figures["is_cold"] | include_cold).tolist()
        self.paths, *others = ([every[place] for place in places] for every in texts)
        self._read = dict(zip(("types", "tags"), others, strict=True))
        self.figures = kept = figures[places]
        self.is_whole = len(kept) == len(figures)
        self.places = np.full(int(figures["id"].max(initial=0)) + 1, -1, np.int64)
        self.places[kept["id"]] = np.arange(len(kept))
        ((data,),) = statements.ask("SELECT sample FROM generation WHERE palace = %(palace)s")
        self.sample_vectors = read_matrix(data, self.commit.dimension, "the sample of vectors")
        self.cosines: Scores = np.zeros(0, np.float32)
        # What a snapshot of files reads from its segments.
        size, self.cold, self.dates = len(kept), kept["is_cold"], kept["date"]
        self.row_note = np.where(kept["passages"] > 0, np.arange(size), -1).astype(np.int32)
        self.row_owner, self.row_starts = self.row_note, np.array([0, size])
        self.question_rows = np.zeros(0, np.int64)
        self.lacking, self.copies, self.speakers = None, {}, frozenset()
        self.passages = int(kept["passages"][~self.cold].sum())
        self.words_length = float(kept["words"][~self.cold].sum()) / max(self.passages, 1)

    def ask(self) -> Outline:
        """Return the same for another question, with posting lists of its own."""
        asked = copy(self)
        asked.lists = Lists(self._statements, self.figures["words"], self.places)
        asked.segments = [asked.lists]
        return asked

    lists: Lists
    segments: list[Any]

    @property
    def statistics(self) -> ToldStatistics:
        """Figures of all notes by passages, though rows are notes."""
        return ToldStatistics(self)

    def similarities(self, vector: Vector) -> Scores:
        """Return what was found of the passage of each note that is nearest to the question."""
        return self.cosines

    def cosines_of(self, rows: Rows, vector: Vector) -> NDArray[np.float64]:
        """Return the same of some notes."""
        return self.cosines[rows].astype(np.float64)

    def _column(self, name: str) -> Array:
        column: Array = self.figures[name]
        return column

    def _texts(self, name: str) -> list[str]:
        return self._read[name]


class ToldStatistics(Statistics):
    """Figures of all notes of a palace, told to who ranks some of them for a question.

    All are exact but one: how the scores of passages are spread is reckoned from whole notes, but
    for the passages of the notes at hand. Without a question they are those of the outline itself.
    """

    def __init__(self, outline: Outline, question: AskedWords | None = None) -> None:
        super().__init__(outline)
        self._outline, self._question = outline, question
        self.at_hand: _Mask = np.zeros(len(outline.paths), np.bool_)
        """Which notes are ranked."""

    def figure(self, name: Figure, found: float) -> float:
        """Return a figure of all notes."""
        if name == "words_length":
            return self._outline.words_length
        return self._figures[name] if self._question else found

    @cached_property
    def _bm25(self) -> BM25:
        return BM25(PostingLookup(self._outline, "words"))

    @cached_property
    def _figures(self) -> Mapping[str, float]:
        words = PostingLookup(self._outline, "words")
        lengths = words.note_lengths[words.hot_notes]
        terms = self._question.terms if self._question else ()
        return {
            "notes": len(lengths),
            "note_length": float(lengths.mean()) if len(lengths) else 0.0,
            "most_held": self._bm25.familiarity(terms)[1],
        }

    def frequency(self, field: str, parts: tuple[str, ...], rows: Rows) -> int:
        """Return how many passages outside the cold zone hold a term, or a fact by its parts."""
        found = self._outline.lists.get(field, *parts)
        return int(found.passages[~self._outline.cold[found.places]].sum())

    def note_frequency(self, term: str, found: int) -> int:
        """Return how many notes outside the cold zone have a word in a passage."""
        held = self._outline.lists.get("words", term)
        return int(np.count_nonzero(~self._outline.cold[held.places] & (held.passages > 0)))

    def holds(self, field: str, parts: tuple[str, ...], rows: Rows) -> bool:
        """Say whether any passage holds a term."""
        return bool(self._outline.lists.get(field, *parts).passages.any())

    def sample(self, vector: Vector) -> NDArray[np.float64]:
        """Return the cosines of a vector with those of the passages that stand for all."""
        sample = self._outline.sample_vectors
        cosines: NDArray[np.float64] = np.einsum("ij,j->i", sample, vector, dtype=np.float64)
        return cosines

    def spread(self, name: str, scores: NDArray[np.float64], *counted: _Mask) -> Spread | None:
        """Return how scores are spread over all notes or passages."""
        if self._question is None:
            return super().spread(name, scores, *counted)
        best = float(scores.max(initial=0.0))
        if name == "note_words":
            notes = self._bm25.notes(self._question.content_terms)
            return find_spread(notes, count=len(notes), best=float(notes.max(initial=0.0)))
        if not best:
            return None
        rest, squares = self._reckon_rest(self._question.terms)
        found = scores[counted[0]]
        total = float(found.sum()) + rest
        if not total:
            held = scores[counted[-1]]
            return find_spread(held, count=len(held), best=best)
        count = int(self._outline.figures["passages"].sum()) + PRIOR
        mean = total / count
        variance = (float((found * found).sum()) + squares) / count - mean * mean
        return Spread(mean, max(math.sqrt(max(variance, 0.0)), 1e-4), best)

    def _reckon_rest(self, terms: Iterable[str]) -> tuple[float, float]:
        """Return the sum of BM25 of all passages that are not at hand, and that of its squares.

        A passage of a note with ``n`` of them holds a term with the chance that any of them does,
        as often as those that hold it do on average; two terms meet by chance.
        """
        figures = self._outline.figures
        passages = np.maximum(figures["passages"], 1).astype(np.float64)
        mean = max(self._outline.words_length, 1.0)
        norm = K1 * (1 - PASSAGE_B + PASSAGE_B * figures["words"] / passages / mean)
        first, square, meeting = np.zeros((3, len(passages)))
        for term in terms:
            held = self._outline.lists.get("words", term)
            weight = expect_idf(
                term, self.frequency("words", (term,), held.places), self._outline.passages
            )
            count = held.counts / np.maximum(held.passages, 1)
            score = weight * count * (K1 + 1) / (count + norm[held.places])
            first[held.places] += held.passages * score
            square[held.places] += held.passages * score**2
            meeting[held.places] += (held.passages * score) ** 2
        square += (first**2 - meeting) / passages
        rest = ~self.at_hand
        return float(first[rest].sum()), float(square[rest].sum())

"""Figures of a whole palace for one question, from its posting lists.

The lists stand for a snapshot without texts, and what counts is counted by the code that counts in
the files: a figure is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import UsageError
from memory_palace.features.store.posted import PostedSnapshot, fetch
from memory_palace.features.store.statements import Statements
from memory_palace.index.calibration import Spread, find_spread
from memory_palace.index.snapshot import Figure, Statistics
from memory_palace.index.words import BM25, Counts, Rows
from memory_palace.language.word_lists import expect_idf
from memory_palace.models import Vector
from memory_palace.retrieval.question import ParsedQuestion


class PostedStatistics(Statistics):
    """What one question needs of all notes of a palace; see ``index.snapshot``."""

    def __init__(
        self,
        statements: Statements,
        snapshot: PostedSnapshot,
        question: ParsedQuestion,
        *,
        notes: int,
        sample: Any,
        also: Iterable[tuple[str, tuple[str, ...]]] = (),
    ) -> None:
        """Take how many ``notes`` there are, without words too; ``sample`` compares those rows.

        Lists that will be asked for ``also`` are read with those of the question.
        """
        self._own: Statistics = snapshot.statistics
        self.snapshot, self.question, self._sample = snapshot, question, sample
        self._notes = notes
        self.lists = snapshot.lists
        for lists in self.lists.values():
            lists.begin()
        asked = ("words", "names", "extras")
        terms = [(field, (term,)) for field in asked for term in question.terms]
        wanted = ((self.lists[field], parts) for field, parts in chain(terms, also))
        fetch(statements, wanted, snapshot.posted.blocks)
        self._bm25 = BM25(self.lists["words"])

    @cached_property
    def rows(self) -> int:
        """How many passages are live and outside the cold zone."""
        return self.snapshot.count_hot

    def figure(self, name: Figure, found: float) -> float:
        """Return a figure of all notes."""
        return self._figures[name]

    @cached_property
    def _figures(self) -> Mapping[str, float]:
        words, hot = self.lists["words"], self.lists["words"].hot_notes
        of_notes = words.note_lengths[hot]
        return {
            "words_length": words.mean_length(),
            "extras_length": self.lists["extras"].mean_length(),
            "notes": len(of_notes),
            "note_length": float(of_notes.mean()) if len(of_notes) else 0.0,
            "most_held": self._bm25.familiarity(self.question.terms)[1],
        }

    def frequency(self, field: str, parts: tuple[str, ...], rows: Rows) -> int:
        """Return how many passages outside the cold zone hold a term, or a fact by its parts."""
        return self._own.frequency(field, parts, self.lists[field].rows(*parts))

    def note_frequency(self, term: str, found: int) -> int:
        """Return how many notes outside the cold zone have a word in a passage."""
        rows = self.lists["words"].rows(term)
        rows = rows[self.snapshot.hot_rows[rows]]
        return int(np.count_nonzero(np.bincount(self.snapshot.row_note[rows])))  # np.unique sorts

    def holds(self, field: str, parts: tuple[str, ...], rows: Rows) -> bool:
        """Say whether any live passage holds a term."""
        return len(self.lists[field].rows(*parts)) > 0

    def spread(
        self, name: str, scores: NDArray[np.float64], *counted: NDArray[np.bool_]
    ) -> Spread | None:
        """Return how scores are spread over all notes or passages."""
        if name not in self._spreads:
            raise UsageError(f"a store cannot be asked by the signal {name}; leave it out")
        return self._spreads[name]

    @cached_property
    def _spreads(self) -> Mapping[str, Spread | None]:
        extras = BM25(self.lists["extras"]).passages(self.question.content_terms)
        words = self._spread(self.row_scores, is_passage=True)
        return {
            "words": words or self._spread(self.row_scores, is_passage=False),
            "extras": self._spread(extras, is_passage=True),
            "note_words": find_spread(
                self.note_scores[self.note_scores > 0],
                count=self._notes,
                best=float(self.note_scores.max(initial=0.0)),
            ),
        }

    def _spread(self, scores: Counts, *, is_passage: bool) -> Spread | None:
        """Return how the scores of live rows are spread, questions left out or not."""
        rows = np.flatnonzero(scores)
        owners = self.snapshot.row_note if is_passage else self.snapshot.row_owner
        count = self.snapshot.count_passages if is_passage else self.snapshot.count_live
        best = float(scores.max(initial=0.0))
        return find_spread(scores[rows[owners[rows] >= 0]], count=count, best=best)

    def weigh(self, term: str) -> float:
        """Return what a word of the question counts: the rarer the more."""
        return expect_idf(term, self.lists["words"].document_frequency(term), self.rows)

    @cached_property
    def row_scores(self) -> Counts:
        """BM25 of every row."""
        return self._bm25.passages(self.question.terms)

    @cached_property
    def note_scores(self) -> Counts:
        """BM25 of every note that has rows."""
        return self._bm25.notes(self.question.content_terms)

    def sample(self, vector: Vector) -> NDArray[np.float64]:
        """Return the cosines of a vector with those of the rows that stand for all."""
        found: NDArray[np.float64] = self._sample(vector)
        return found

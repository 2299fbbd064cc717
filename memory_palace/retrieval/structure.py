"""What the signals of structure look at: the question as read, and the facts of all passages."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_palace.models import Scores
from memory_palace.retrieval.analysis import Analysis

Rows = NDArray[np.int64]
"""Rows of a snapshot, ascending, each once."""


class FactTable(Protocol):
    """Finds passages by fact."""

    def find(self, kind: str, key: str, /) -> Rows:
        """Return the rows that hold a fact."""
        ...

    def document_frequency(self, kind: str, key: str, /) -> int:
        """Return how many rows hold a fact, those in the cold zone aside."""
        ...


class WordTable(Protocol):
    """Finds passages by word."""

    def rows(self, word: str, /) -> Rows:
        """Return the rows whose passage holds a word, as ``language.tokens`` spells it."""
        ...


class NoteDates(Protocol):
    """The notes of a snapshot."""

    @property
    def dates(self) -> NDArray[np.float64]:
        """Time of each note, seconds since the epoch."""
        ...


class StructuredContext(Protocol):
    """Candidates in parallel arrays, and what is known of the question and of all passages."""

    @property
    def analysis(self) -> Analysis:
        """The question as read."""
        ...

    @property
    def facts(self) -> FactTable:
        """The facts of all passages."""
        ...

    @property
    def words(self) -> WordTable:
        """The words of all passages."""
        ...

    @property
    def snapshot(self) -> NoteDates:
        """The notes."""
        ...

    @property
    def rows(self) -> Rows:
        """Row of each candidate."""
        ...

    @property
    def notes(self) -> Rows:
        """Note of each candidate."""
        ...

    def spread(self, rows: Rows, values: NDArray[np.float32], /) -> Scores:
        """Return the sum of the values of each candidate's row, shape ``(candidates,)``."""
        ...


def silence(context: StructuredContext) -> Scores:
    """Return zeros, one per candidate."""
    scores: Scores = np.zeros(len(context.rows), np.float32)
    return scores


def mark(context: StructuredContext, rows: Rows) -> NDArray[np.bool_]:
    """Say for each candidate whether its row is among ``rows``."""
    marked: NDArray[np.bool_] = context.spread(rows, np.ones(len(rows), np.float32)) > 0
    return marked


def rarity(context: StructuredContext, kind: str, key: str) -> float:
    """Return how telling a fact is, in (0, 1]: ``1 / (1 + ln(frequency))``; 0 if nothing has it.

    Unlike an idf it needs no count of passages, so that adding notes without the fact changes
    nothing.
    """
    frequency = context.facts.document_frequency(kind, key)
    return 1 / (1 + float(np.log(frequency))) if frequency else 0.0

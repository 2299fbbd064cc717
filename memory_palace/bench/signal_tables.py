"""What every signal says of every unit, so that weights can be tried without asking again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_palace.bench.corpora import Corpus, open_corpus
from memory_palace.bench.datasets.items import Collection, EvalQuestion
from memory_palace.bench.vectors import RememberingEmbedder
from memory_palace.embedding.base import Embedder
from memory_palace.models import Filters, Query, Scores, Vector
from memory_palace.retrieval.context import find_candidates
from memory_palace.retrieval.profiles import Profile
from memory_palace.retrieval.signals.table import measure

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SignalTable:
    """Passages of all questions of one group, one after the other.

    A unit is a run of passages: one passage, or all of a note. Only its best passage counts.
    """

    values: NDArray[np.float32]
    """Shape ``(signals, passages)``."""
    unit_starts: Places
    """Where each unit begins among the passages."""
    question_starts: Places
    """Where each question begins among the units."""
    is_gold: NDArray[np.bool_]
    """Per unit."""

    def ranks(self, scores: Scores) -> Places:
        """Return the rank of the best gold of each question, from 1.

        Of equal scores the gold comes last, so that silence is no success.
        """
        units = np.maximum.reduceat(scores, self.unit_starts)
        counts = np.diff(np.append(self.question_starts, len(units)))
        best = np.maximum.reduceat(
            np.where(self.is_gold, units, -np.inf).astype(np.float32), self.question_starts
        )
        ahead = (units >= np.repeat(best, counts)) & ~self.is_gold
        ranks: Places = np.add.reduceat(ahead.astype(np.int64), self.question_starts) + 1
        return ranks

    @property
    def question_of(self) -> Places:
        """The question of each unit."""
        counts = np.diff(np.append(self.question_starts, len(self.is_gold)))
        return np.repeat(np.arange(len(counts)), counts)

    def tops(self, scores: Scores) -> Places:
        """Return the best passage of each unit, the first of equal ones."""
        counts = np.diff(np.append(self.unit_starts, len(scores)))
        best = np.repeat(np.maximum.reduceat(scores, self.unit_starts), counts)
        (places,) = np.nonzero(scores >= best)
        return places[np.searchsorted(places, self.unit_starts)]

    def pick(self, kept: NDArray[np.bool_]) -> SignalTable:
        """Keep some units, one or more of each question."""
        counts = np.diff(np.append(self.unit_starts, self.values.shape[1]))
        asked = self.question_of[kept]
        return SignalTable(
            self.values[:, np.repeat(kept, counts)],
            np.append(0, np.cumsum(counts[kept]))[:-1],
            np.flatnonzero(np.diff(asked, prepend=-1)),
            self.is_gold[kept],
        )


def measure_collections(
    collections: Sequence[Collection], signals: Sequence[str], *, embedder: Embedder, cache: Path
) -> dict[str, SignalTable]:
    """Return a table per group of what ``signals`` say; the product measures them."""
    remembering = RememberingEmbedder(embedder, cache)
    parts: dict[str, list[SignalTable]] = {}
    needs = Profile("", dict.fromkeys(signals, 1.0)).needs
    for collection in collections:
        corpus = open_corpus(collection, cache, remembering, detail=needs)
        asked = [question for question in collection.questions if question.gold]
        matrix = remembering.embed_queries([question.text for question in asked])
        for question, vector in zip(asked, matrix, strict=True):
            table = _measure(question, vector, collection, corpus, signals)
            parts.setdefault(collection.group, []).append(table)
    remembering.save()
    return {group: _join(tables) for group, tables in parts.items()}


def _measure(
    question: EvalQuestion,
    vector: Vector,
    collection: Collection,
    corpus: Corpus,
    signals: Sequence[str],
) -> SignalTable:
    query = Query(" ".join(question.text.split()), question.as_of, Filters(), vector)
    found = find_candidates(query, corpus.snapshot, half_life_days=30.0)
    lines = corpus.snapshot.row_lines[found.rows, 0]
    context = found.pick_exactly(np.lexsort((lines, found.notes)))
    values = np.stack([measure(signal, context) for signal in signals])
    notes, lines = context.notes, corpus.snapshot.row_lines[context.rows, 0]
    if collection.ranks_passages:
        starts = np.arange(len(notes))
    else:
        starts = np.flatnonzero(np.diff(notes, prepend=-1))
    units = [
        corpus.unit(corpus.snapshot.paths[note], line, is_passage=collection.ranks_passages)
        for note, line in zip(notes[starts].tolist(), lines[starts].tolist(), strict=True)
    ]
    is_gold = np.array([unit in question.gold for unit in units], np.bool_)
    return SignalTable(values.astype(np.float32), starts, np.zeros(1, np.int64), is_gold)


def _join(parts: Sequence[SignalTable]) -> SignalTable:
    passages = np.cumsum([0, *(part.values.shape[1] for part in parts)])
    units = np.cumsum([0, *(len(part.is_gold) for part in parts)])
    return SignalTable(
        np.concatenate([part.values for part in parts], axis=1),
        np.concatenate(
            [part.unit_starts + at for part, at in zip(parts, passages.tolist(), strict=False)]
        ),
        units[:-1],
        np.concatenate([part.is_gold for part in parts]),
    )

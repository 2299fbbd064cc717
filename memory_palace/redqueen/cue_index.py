"""Recall from cues alone: an index of subjects, anchors and images, and of nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.base import Embedder
from memory_palace.index.calibration import NULL, measure_null
from memory_palace.models import Matrix
from memory_palace.redqueen.round_values import Cue, LearnerAnswer, cue_text
from memory_palace.retrieval.collection import TextCollection

_MOST_BACKGROUND = 1_000
"""Texts that cues are measured by at most, evenly taken: enough for a mean and a deviation."""
_LEAST_CROWD = 8
"""With fewer memories there is no background to compare with."""
RECALLED = 5
"""How many memories an answer may think of."""
_CERTAINTY = ((1.5, 5), (0.8, 4), (0.4, 3), (0.15, 2))
"""Confidence by how far the first memory is ahead of the second, in standard deviations."""

CueScores = NDArray[np.float64]
"""One score per question and cue, shape ``(questions, cues)``."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Cues that answer a question at all, best first, and how clear the first is."""

    places: tuple[int, ...]
    lead: float
    """Of the first before the second, in standard deviations of all scores."""


class CueIndex:
    """Scores cues: meaning, where there is an embedder, and words.

    A memory with many anchors is near to any question by chance. So each score is measured by
    the same memory's scores for the subjects and anchors of all others: a *z* score, as in the
    correction of hubs in nearest-neighbour search (Radovanović and others 2010). Without it a
    round takes from the memories it leaves alone what it gives to the others; with subjects alone
    it still took a point of 400 SciFact abstracts.
    """

    def __init__(self, cues: Sequence[Cue], embedder: Embedder | None = None) -> None:
        self._ids = [cue.memory_id for cue in cues]
        null = measure_null(embedder.embed_passages) if embedder else NULL
        self._texts = TextCollection([cue_text(cue) for cue in cues], null=null)
        self._embedder = embedder
        pieces = [_pieces(cue) for cue in cues]
        self._starts = np.cumsum([0, *(len(some) for some in pieces)])[:-1]
        self._vectors: Matrix | None = None
        self._centres: Matrix | None = None
        if embedder is not None:
            self._vectors = embedder.embed_passages([piece for some in pieces for piece in some])
            self._centres = _find_centres(self._vectors, self._starts)
        self._mean, self._spread = self._background(_texts_of_all(cues))

    def score(self, questions: Sequence[str]) -> CueScores:
        """Return how far each cue answers each question better than it answers any text."""
        raw = self._score(questions)
        scores: CueScores = np.where(raw > 0, (raw - self._mean) / self._spread, -np.inf)
        return scores

    def rank(self, scores: NDArray[np.float64]) -> Ranking:
        """Order the cues by their scores for one question; ties by id."""
        known = [place for place, score in enumerate(scores.tolist()) if score > -np.inf]
        rounded = {place: round(float(scores[place]), 6) for place in known}
        order = sorted(known, key=lambda place: (-rounded[place], self._ids[place]))
        if len(order) < 2:
            return Ranking(tuple(order), float(len(order)))
        spread = float(np.std(scores[order])) or 1.0
        return Ranking(tuple(order), (rounded[order[0]] - rounded[order[1]]) / spread)

    def _background(self, texts: Sequence[tuple[int, str]]) -> tuple[CueScores, CueScores]:
        """Return mean and standard deviation of each cue's scores for the texts of the others."""
        count = len(self._ids)
        if count < _LEAST_CROWD:
            return np.zeros(count), np.ones(count)
        raw = self._score([text for _, text in texts])
        raw[np.arange(len(texts)), [place for place, _ in texts]] = np.nan
        spread = np.nanstd(raw, axis=0)
        return np.nanmean(raw, axis=0), np.where(spread > 0, spread, 1.0)

    def _score(self, questions: Sequence[str]) -> CueScores:
        if self._embedder is None or self._vectors is None or self._centres is None:
            return np.array([self._texts.score(question) for question in questions], np.float64)
        asked = self._embedder.embed_queries(questions)
        best = np.maximum.reduceat(asked @ self._vectors.T, self._starts, axis=1)
        cosines = (best + asked @ self._centres.T) / 2
        scores = map(self._texts.score, questions, cosines)
        return np.array(list(scores), np.float64)


class CueLearner:
    """Ranks memories by what their cues say; never holds a memory's content."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[LearnerAnswer]:
        """Return one answer per question."""
        if not cues or not questions:
            return [LearnerAnswer((), "", 1) for _ in questions]
        index = CueIndex(cues, self._embedder)
        return [_answer(index.rank(scores), cues) for scores in index.score(questions)]


def _answer(ranking: Ranking, cues: Sequence[Cue]) -> LearnerAnswer:
    order = ranking.places[:RECALLED]
    if not order:
        return LearnerAnswer((), "", 1)
    confidence = next((level for least, level in _CERTAINTY if ranking.lead >= least), 1)
    return LearnerAnswer(
        tuple(cues[place].memory_id for place in order), cue_text(cues[order[0]]), confidence
    )


def _texts_of_all(cues: Sequence[Cue]) -> list[tuple[int, str]]:
    """Return subjects and anchors, each with the place of its cue, in the order of ids."""
    order = sorted(range(len(cues)), key=lambda place: cues[place].memory_id)
    texts = [
        (place, text) for place in order for text in (cues[place].subject, *cues[place].anchors)
    ]
    return texts[:: max(1, -(-len(texts) // _MOST_BACKGROUND))]


def _pieces(cue: Cue) -> list[str]:
    """Return what gets a vector of its own: a question rarely is about all of a memory."""
    return [part for part in (cue.subject, *cue.anchors, cue.image) if part] or [cue.memory_id]


def _find_centres(vectors: Matrix, starts: NDArray[np.int64]) -> Matrix:
    """Return one unit vector per cue: half its subject, half the mean of the rest."""
    stops = [*starts[1:].tolist(), len(vectors)]
    centres = []
    for start, stop in zip(starts.tolist(), stops, strict=True):
        rest = vectors[start + 1 : stop]
        centre = vectors[start] + (rest.mean(axis=0) if len(rest) else 0)
        centres.append(centre / max(float(np.linalg.norm(centre)), 1e-9))
    found: Matrix = np.asarray(centres, np.float32)
    return found

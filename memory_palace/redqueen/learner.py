"""Recall from cues alone: an index of subjects, anchors and images, and of nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.base import Embedder
from memory_palace.language.tokens import tokenize
from memory_palace.models import Matrix
from memory_palace.redqueen.passages import Rarity, content_words
from memory_palace.redqueen.values import Answer, Cue

RECALLED = 5
"""How many memories an answer may think of."""
_CERTAINTY = ((0.25, 5), (0.12, 4), (0.05, 3), (0.02, 2))
"""Confidence by how far the first memory is ahead of the second, as a share of its score."""


class CueLearner:
    """Ranks memories by what their cues say; never holds a memory's content.

    The score of a memory is the best cosine between question and one of its cues, where there is
    an embedder, plus the share of the question's words, weighed by rarity, that its cues hold.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[Answer]:
        """Return one answer per question."""
        if not cues or not questions:
            return [Answer((), "", 1) for _ in questions]
        index = CueIndex(cues, self._embedder)
        return [_answer(scores, cues) for scores in index.score(questions)]


class CueIndex:
    """Everything that is searched: the words and the vectors of cues."""

    def __init__(self, cues: Sequence[Cue], embedder: Embedder | None = None) -> None:
        texts = [cue_text(cue) for cue in cues]
        self._rarity = Rarity.of(texts)
        self._stems = [frozenset(tokenize(text)) for text in texts]
        self._embedder = embedder
        pieces = [_pieces(cue) for cue in cues]
        self._starts = np.cumsum([0, *(len(some) for some in pieces)])[:-1]
        self._vectors: Matrix | None = None
        if embedder is not None:
            self._vectors = embedder.embed_passages([piece for some in pieces for piece in some])

    def score(self, questions: Sequence[str]) -> NDArray[np.float64]:
        """Return one score per question and cue, shape ``(questions, cues)``."""
        scores = np.array([self._coverage(question) for question in questions], np.float64)
        if self._embedder is not None and self._vectors is not None:
            cosines = self._embedder.embed_queries(questions) @ self._vectors.T
            best = np.maximum.reduceat(cosines, self._starts, axis=1)
            scores += np.maximum(0.0, best)
        return scores

    def _coverage(self, question: str) -> list[float]:
        words = {stem for word in content_words(question) for stem in tokenize(word)}
        weights = {stem: self._rarity.idf(stem) for stem in words}
        whole = sum(weights.values())
        if not whole:
            return [0.0] * len(self._stems)
        return [
            sum(weight for stem, weight in weights.items() if stem in stems) / whole
            for stems in self._stems
        ]


def cue_text(cue: Cue) -> str:
    """Return everything a cue says."""
    return "\n".join(part for part in (cue.subject, *cue.anchors, cue.image) if part)


def _pieces(cue: Cue) -> list[str]:
    """Return what gets a vector of its own: a question rarely is about all of a memory."""
    return [part for part in (cue.subject, *cue.anchors, cue.image) if part] or [cue.memory_id]


def _answer(scores: NDArray[np.float64], cues: Sequence[Cue]) -> Answer:
    rounded = [round(float(score), 6) for score in scores]
    order = sorted(range(len(cues)), key=lambda i: (-rounded[i], cues[i].memory_id))[:RECALLED]
    order = [i for i in order if rounded[i] > 0]
    if not order:
        return Answer((), "", 1)
    first = rounded[order[0]]
    lead = (first - (rounded[order[1]] if len(order) > 1 else 0.0)) / first
    confidence = next((level for least, level in _CERTAINTY if lead >= least), 1)
    return Answer(
        tuple(cues[i].memory_id for i in order), cue_text(cues[order[0]]), confidence
    )

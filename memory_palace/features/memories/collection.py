"""Rank a few thousand texts without an index, by BM25 and cosine as in the profile ``hybrid``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.snapshot import NULL, find_spread
from memory_palace.index.words import K1, NOTE_B, expect, stand_above, stand_out
from memory_palace.language.words import drop_stop_stems, expect_idf, tokenize
from memory_palace.models import Scores

WORDS_WEIGHT, MEANING_WEIGHT = 1.75, 2.0
"""Weights of BM25 and cosine. A text is passage and note at once: each weight is the sum of both
signals' weights in ``hybrid`` before it got signals of question coverage, which are absent here."""


class TextCollection:
    """Texts in a fixed order, each scored like a note with one passage."""

    def __init__(self, texts: Sequence[str], *, null: tuple[float, float] = NULL) -> None:
        """Build postings; ``null`` is mean and deviation of the cosine of unrelated texts."""
        self._null = null
        counts = [Counter(tokenize(text)) for text in texts]
        lengths = np.array([count.total() for count in counts], np.float64)
        self._size = len(counts)
        mean = float(lengths.mean()) if self._size else 0.0
        self._norms = K1 * (1 - NOTE_B + NOTE_B * lengths / max(mean, 1.0))
        found: dict[str, list[tuple[int, int]]] = {}
        for place, stems in enumerate(counts):
            for stem, count in stems.items():
                found.setdefault(stem, []).append((place, count))
        self._postings = {stem: np.array(held, np.int64).T for stem, held in found.items()}

    def score(self, question: str, cosines: NDArray[np.floating] | None = None) -> Scores:
        """Return a score of at least 0 per text, shape ``(texts,)``.

        ``cosines`` are those of the question with each text, of the same shape; they are optional.
        """
        found = self._bm25(question)
        spread = find_spread(found, count=self._size, best=float(found.max(initial=0.0)))
        scores: Scores = np.float32(WORDS_WEIGHT) * stand_out(found, spread)
        if cosines is not None and self._size:
            mean, deviation = expect(cosines.astype(np.float64), self._null)
            meaning = stand_above(cosines, mean, deviation)
            scores += np.float32(MEANING_WEIGHT) * meaning
        return scores

    def _bm25(self, question: str) -> NDArray[np.float64]:
        scores = np.zeros(self._size)
        for stem in drop_stop_stems(tokenize(question)):
            if stem in self._postings:
                places, counts = self._postings[stem]
                gain = counts * (K1 + 1) / (counts + self._norms[places])
                scores[places] += expect_idf(stem, len(places), self._size) * gain
        return scores

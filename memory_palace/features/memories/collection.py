"""Rank a few thousand texts that are in no index, as the profile ``hybrid`` ranks notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.snapshot import find_spread
from memory_palace.index.words import K1, NOTE_B, NULL, expect, stand_above, stand_out
from memory_palace.language.words import drop_stop_stems, expect_idf, tokenize
from memory_palace.models import Scores

WORDS_WEIGHT, MEANING_WEIGHT = 1.75, 2.0
"""A text of a collection is a passage and a note at once: what the signals for both weighed in
``hybrid`` before it had signals of how much of a question is there, which a collection has not."""


class TextCollection:
    """Texts in a fixed order, each scored as a note of one passage is."""

    def __init__(self, texts: Sequence[str], *, null: tuple[float, float] = NULL) -> None:
        """Read the words of texts; ``null`` is what their embedder makes of unrelated ones."""
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
        """Return one score per text, never negative, shape ``(texts,)``.

        ``cosines`` of the question with each text, of the same shape, count beside the words.
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

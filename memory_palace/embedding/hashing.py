"""Signed feature hashing of words and letters: a lexical index that needs no model.

It finds notes that share words with a question, not notes that mean the same. It is there for
tests, and for measuring everything but quality.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from memory_palace.models import Matrix, Vector

DIMENSION = 384
WORD_FEATURES = 3
"""A whole word weighs three times a part of it, in three columns, so that few collide fully."""
CACHED_WORDS = 20_000

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]{{1,16}}")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")


def load(model: str, environ: Mapping[str, str]) -> HashingEmbedder:
    """Return the embedder; it needs nothing."""
    return HashingEmbedder()


class HashingEmbedder:
    """Signed feature hashing of words, weighted by the root of their count.

    The signs cancel colliding features on average (Weinberger et al., 2009).
    """

    name = "hashing"
    dimension = DIMENSION
    token_limit = 254
    """A text is hashed whole; the limit only gives passages the size that minilm's have."""
    fingerprint = f"hashing:blake2b:{DIMENSION}:1"

    def count_tokens(self, text: str) -> int:
        """Count words; a long one counts once per 16 letters, an ideograph by itself."""
        return len(_TOKEN.findall(text))

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question."""
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per passage, the zero vector for one without a word."""
        vectors: Matrix = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._embed(text)
        return vectors

    def _embed(self, text: str) -> Vector:
        counts = Counter(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
        if not counts:
            return np.zeros(DIMENSION, dtype=np.float32)
        features = [_features_of(word) for word in counts]
        weights = np.sqrt(np.fromiter(counts.values(), dtype=np.float64, count=len(counts)))
        weights = np.repeat(weights, [len(f) for f in features])
        codes = np.concatenate(features)
        weights[codes < 0] *= -1
        sums = np.bincount(np.abs(codes) - 1, weights, minlength=DIMENSION)
        # Square roots and fsum are rounded exactly, so every machine gets the same bytes.
        length = math.sqrt(math.fsum(sums * sums))
        return (sums / length if length else sums).astype(np.float32)


@lru_cache(maxsize=CACHED_WORDS)
def _features_of(word: str) -> NDArray[np.int16]:
    """Return column + 1 of each feature of a word, negated if the feature's sign is negative."""
    return np.fromiter((_hash(part) for part in _parts(word)), dtype=np.int16)


def _parts(word: str) -> Iterator[str]:
    """Yield the word itself, and runs of three and four letters (one and two of ideographs)."""
    for number in range(WORD_FEATURES):
        yield f"{number} {word}"
    is_unspaced = _IS_UNSPACED.search(word) is not None
    padded = word if is_unspaced else f"<{word}>"
    for length in (1, 2) if is_unspaced else (3, 4):
        for start in range(len(padded) - length + 1):
            yield padded[start : start + length]


def _hash(feature: str) -> int:
    value = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "little")
    column = value % DIMENSION + 1
    return column if value >> 63 else -column

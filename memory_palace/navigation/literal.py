"""Source document 004's own formula and embedder, in double precision, to compare with its log.

Not for use: the formula promotes nodes that have nothing to do with the goal (see ``calibration``),
a word said twice lowers the score, and its guard puts the least alike node above more alike ones.
The embedder makes random vectors, the same for the same text: unrelated texts get cosines around
0 with a deviation of 1/8, and so do related ones. Two texts in some 65,000 share a seed by
accident, since it has 32 bits.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from hashlib import md5

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.base import Embedder
from memory_palace.models import Matrix
from memory_palace.navigation.nodes import MemoryNode, check_dimension

LITERAL_THRESHOLD = 0.3
"""From which on the document promotes."""
_GUARD_WIDTH = 0.05
_DIMENSION = 64
_MARKS = re.compile(r"[^\w\s]")


def score_literally(
    goal_text: str, nodes: Sequence[MemoryNode], embedder: Embedder, *, guard: bool
) -> NDArray[np.float64]:
    """Return one score per node, not rounded; ``guard`` halves what is near one half by chance."""
    for node in nodes:
        check_dimension(node, embedder.dimension)
    goal = np.array(_embed(goal_text, embedder))
    vectors = np.array([node.embedding or _embed(node.text, embedder) for node in nodes])
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(goal)
    cosines = np.divide(vectors @ goal, lengths, out=np.zeros(len(nodes)), where=lengths > 0)
    alike = (cosines + 1.0) / 2.0
    tokens = literal_words(goal_text)
    shared = [len(set(tokens) & set(literal_words(node.text))) for node in nodes]
    words = np.array(shared) / max(len(tokens), 1)
    scores = 0.8 * alike + 0.2 * words
    if guard:
        scores[(words == 0) & (np.abs(alike - 0.5) < _GUARD_WIDTH)] *= 0.5
    clipped: NDArray[np.float64] = np.clip(scores, 0.0, 1.0)
    return clipped


def literal_words(text: str) -> list[str]:
    """Return words as source document 004 does: marks are deleted, so ``a-b`` becomes ``ab``."""
    return _MARKS.sub("", text.lower().strip()).split()


class StubEmbedder:
    """The first 32 bits of a text's MD5 seed 64 numbers of a normal distribution."""

    name = "stub"
    dimension = _DIMENSION
    token_limit = 254
    fingerprint = f"stub:md5:{_DIMENSION}:1"

    def count_tokens(self, text: str) -> int:
        """Count words."""
        return len(text.split())

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per text."""
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per text; a blank text is the zero vector."""
        vectors: Matrix = np.zeros((len(texts), _DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            if text.strip():
                vectors[row] = self.embed_exactly(text)
        return vectors

    def embed_exactly(self, text: str) -> list[float]:
        """Return the vector in double precision, as the literal mode needs it."""
        return seeded_vector(seed_of(text))


def seed_of(text: str) -> int:
    """Return the seed of a text: eight hexadecimal digits of its MD5."""
    digest = md5(text.lower().strip().encode(), usedforsecurity=False)
    return int(digest.hexdigest()[:8], 16)


def seeded_vector(seed: int) -> list[float]:
    """Return the unit vector of a seed; ``fsum`` gives every version of Python the same one."""
    source = random.Random(seed)
    numbers = [source.gauss(0.0, 1.0) for _ in range(_DIMENSION)]
    length = math.sqrt(math.fsum(number * number for number in numbers))
    return [number / length for number in numbers]


def _embed(text: str, embedder: Embedder) -> list[float]:
    if isinstance(embedder, StubEmbedder):
        return embedder.embed_exactly(text)
    vector: list[float] = embedder.embed_passages([text])[0].tolist()
    return vector

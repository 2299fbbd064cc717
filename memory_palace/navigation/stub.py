"""The source document's embedder: vectors of chance, the same for the same text. For tests only.

Unrelated texts get cosines around 0 with a deviation of 1/8, and so do related ones. Two texts in
some 65,000 share a seed by accident, since it has 32 bits.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from hashlib import md5

import numpy as np

from memory_palace.models import Matrix

DIMENSION = 64


class StubEmbedder:
    """The first 32 bits of a text's MD5 seed 64 numbers of a normal distribution."""

    name = "stub"
    dimension = DIMENSION
    token_limit = 254
    fingerprint = f"stub:md5:{DIMENSION}:1"

    def count_tokens(self, text: str) -> int:
        """Count words."""
        return len(text.split())

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per text."""
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per text; a blank text is the zero vector."""
        vectors: Matrix = np.zeros((len(texts), DIMENSION), dtype=np.float32)
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
    numbers = [source.gauss(0.0, 1.0) for _ in range(DIMENSION)]
    length = math.sqrt(math.fsum(number * number for number in numbers))
    return [number / length for number in numbers]

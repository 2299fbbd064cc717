"""No vectors at all: the index answers by words and facts, and says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memory_palace.models import Matrix


def load(model: str, environ: Mapping[str, str]) -> NoEmbedder:
    """Return the embedder; it needs nothing."""
    return NoEmbedder()


class NoEmbedder:
    """Embeds nothing. Chunks are cut as for a model of 256 tokens, counted by words."""

    name = "none"
    dimension = 0
    token_limit = 256
    fingerprint = "none"

    def count_tokens(self, text: str) -> int:
        """Count words, four to three as WordPiece has it, and long runs by their length."""
        return max(len(text.split()) * 4 // 3, len(text) // 5)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one vector without components per question."""
        return np.zeros((len(texts), 0), np.float32)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one vector without components per passage."""
        return np.zeros((len(texts), 0), np.float32)

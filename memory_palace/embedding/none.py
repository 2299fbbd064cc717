"""An embedder without vectors: the index then answers by words and facts alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memory_palace.models import Matrix


def load(model: str, environ: Mapping[str, str]) -> NoEmbedder:
    """Return the embedder; it needs nothing."""
    return NoEmbedder()


class NoEmbedder:
    """An embedder of dimension 0. Chunks are cut for 256 tokens, estimated from words."""

    name = "none"
    dimension = 0
    token_limit = 256
    fingerprint = "none"

    def count_tokens(self, text: str) -> int:
        """Estimate tokens: 4/3 of the words, as in WordPiece, or a fifth of the characters."""
        return max(len(text.split()) * 4 // 3, len(text) // 5)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one empty vector per text, shape ``(len(texts), 0)``."""
        return np.zeros((len(texts), 0), np.float32)

    embed_passages = embed_queries

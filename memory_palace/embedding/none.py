"""No vectors at all: the index answers by words and facts, and says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from memory_palace.models import Matrix

_LIMIT = 256


class NoEmbedder:
    """Embeds nothing. Chunks are cut as for a model of 256 tokens, counted by words."""

    name = "none"
    dimension = 0
    token_limit = _LIMIT
    fingerprint = "none"

    def count_tokens(self, text: str) -> int:
        """Count words, four to three as WordPiece has it, and long runs by their length."""
        return max(len(text.split()) * 4 // 3, len(text) // 5)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one vector without components per question."""
        return np.zeros((len(texts), 0), np.float32)

    def embed_passages(
        self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None
    ) -> Matrix:
        """Return one vector without components per passage."""
        if progress is not None:
            progress(len(texts))
        return np.zeros((len(texts), 0), np.float32)

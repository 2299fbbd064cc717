"""all-MiniLM-L6-v2: 384 dimensions, English, 0.2 s from a cold process to a query's vector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import numpy as np

from memory_palace.embedding.minilm_forward import DIMENSION, MiniLM, TensorFile
from memory_palace.embedding.weights import (
    MODEL,
    cache_folder,
    find_minilm,
    is_minilm_present,
    minilm_folder,
    read_vocabulary,
)
from memory_palace.embedding.wordpiece import WordPiece
from memory_palace.models import Matrix

TOKEN_LIMIT = 254
"""The model was made for 256 tokens; start and end take two of them."""
BATCH_TOKENS = 512
"""Of 1024 the activations take 22 MB more, for 3 % of the time; larger ones are slower too."""
WORKERS = 2
"""Two threads with one BLAS thread each beat one with two (25 to 20 chunks a second)."""


def load(model: str, environ: Mapping[str, str]) -> MiniLMEmbedder:
    """Return the embedder over the weights in the cache, which are read with the first text."""
    return MiniLMEmbedder(cache_folder(environ))


def is_available(environ: Mapping[str, str]) -> bool:
    """Whether the weights are here."""
    return is_minilm_present(cache_folder(environ))


def find_weights(environ: Mapping[str, str]) -> Path:
    """Return the folder in which the weights are, or would be."""
    return minilm_folder(cache_folder(environ))


class MiniLMEmbedder:
    """Embeds with the weights in ``cache``; they are mapped when the first text comes."""

    name = "minilm"
    dimension = DIMENSION
    token_limit = TOKEN_LIMIT
    fingerprint = f"minilm:{MODEL.sha256[:16]}:mean:{TOKEN_LIMIT}:fp32"

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    def count_tokens(self, text: str) -> int:
        """Count tokens without special ones and without a limit."""
        return self._tokenizer.count(text)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question; MiniLM uses no query prefix."""
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per passage, the zero vector for one without a token.

        Texts of like length are embedded together, in threads that change no result.
        """
        sequences = [self._tokenizer.encode(text)[:TOKEN_LIMIT] for text in texts]
        vectors: Matrix = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        start, end = self._tokenizer.start, self._tokenizer.end
        model = self._model

        def embed_batch(rows: list[int]) -> None:
            vectors[rows] = model.embed([[start, *sequences[row], end] for row in rows])

        batches = list(_batch_by_length(sequences))
        if len(batches) == 1:
            embed_batch(batches[0])
            return vectors
        with ThreadPoolExecutor(WORKERS) as pool:
            for _ in pool.map(embed_batch, batches):
                pass
        return vectors

    def embed_tokens(self, text: str) -> tuple[list[str], Matrix]:
        """Return the pieces of a text and one unit vector for each, as the text around makes it."""
        ids = self._tokenizer.encode(text)[:TOKEN_LIMIT]
        states = self._model.embed_tokens([self._tokenizer.start, *ids, self._tokenizer.end])
        return self._tokenizer.spell(ids), states[1:-1]

    @cached_property
    def _folder(self) -> Path:
        return find_minilm(self._cache)

    @cached_property
    def _tokenizer(self) -> WordPiece:
        return WordPiece(read_vocabulary(self._folder))

    @cached_property
    def _model(self) -> MiniLM:
        return MiniLM(TensorFile(self._folder / MODEL.name))


def _batch_by_length(sequences: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield rows of non-empty sequences, longest first, about ``BATCH_TOKENS`` at a time."""
    rows = sorted(
        (row for row, ids in enumerate(sequences) if ids), key=lambda r: -len(sequences[r])
    )
    batch: list[int] = []
    tokens = 0
    for row in rows:
        if batch and tokens + len(sequences[row]) > BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(row)
        tokens += len(sequences[row])
    if batch:
        yield batch

"""all-MiniLM-L6-v2: 384 dimensions, English, 0.2 s from a cold process to a query's vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import numpy as np

from memory_palace.embedding.minilm_forward import DIMENSION, MiniLM
from memory_palace.embedding.minilm_onnx import OnnxMiniLM, is_onnx_installed
from memory_palace.embedding.tensor_file import TensorFile
from memory_palace.embedding.weights import MODEL, find_minilm, read_vocabulary
from memory_palace.embedding.wordpiece import WordPiece
from memory_palace.models import Matrix

NAME = "minilm"
TOKEN_LIMIT = 254
"""The model was made for 256 tokens; start and end take two of them."""
BATCH_TOKENS = 512
"""Of 1024 the activations take 22 MB more, for 3 % of the time; larger ones are slower too."""
WORKERS = 2
"""Two threads with one BLAS thread each beat one with two (25 to 20 chunks a second)."""


BULK_TEXTS = 64
"""Fewer are embedded by numpy before onnxruntime has started."""


class MiniLMEmbedder:
    """Embeds with the weights in ``cache``; they are mapped when the first text comes."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    @property
    def name(self) -> str:
        """The name it is chosen by."""
        return NAME

    @property
    def dimension(self) -> int:
        """Length of its vectors."""
        return DIMENSION

    @property
    def token_limit(self) -> int:
        """Tokens of a passage it sees."""
        return TOKEN_LIMIT

    @property
    def fingerprint(self) -> str:
        """Model, pinned digest of the weights, pooling, limit."""
        return f"{NAME}:{MODEL.sha256[:16]}:mean:{TOKEN_LIMIT}:fp32"

    def count_tokens(self, text: str) -> int:
        """Count tokens without special ones and without a limit."""
        return self._tokenizer.count(text)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question; MiniLM uses no query prefix."""
        return self._embed(texts, self._model.embed, None)

    def embed_passages(
        self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None
    ) -> Matrix:
        """Return one unit vector per passage, the zero vector for one without a token."""
        is_bulk = len(texts) >= BULK_TEXTS and is_onnx_installed()
        model = self._bulk_model if is_bulk else self._model
        return self._embed(texts, model.embed, progress)

    def embed_tokens(self, text: str) -> tuple[list[str], Matrix]:
        """Return the pieces of a text and one unit vector for each, as the text around makes it."""
        ids = self._tokenizer.encode(text)[:TOKEN_LIMIT]
        states = self._model.embed_tokens([self._tokenizer.start, *ids, self._tokenizer.end])
        return self._tokenizer.spell(ids), states[1:-1]

    def _embed(
        self,
        texts: Sequence[str],
        embed: Callable[[Sequence[Sequence[int]]], Matrix],
        progress: Callable[[int], None] | None,
    ) -> Matrix:
        """Embed batches of texts of like length in threads; the threads change no result."""
        sequences = [self._tokenizer.encode(text)[:TOKEN_LIMIT] for text in texts]
        vectors: Matrix = np.zeros((len(texts), DIMENSION), dtype=np.float32)

        def embed_batch(rows: list[int]) -> int:
            start, end = self._tokenizer.start, self._tokenizer.end
            vectors[rows] = embed([[start, *sequences[row], end] for row in rows])
            return len(rows)

        batches = list(_batch_by_length(sequences))
        if progress is not None and (empty := sequences.count([])):
            progress(empty)
        if len(batches) == 1:
            embed_batch(batches[0])
            if progress is not None:
                progress(len(batches[0]))
            return vectors
        with ThreadPoolExecutor(WORKERS) as pool:
            for done in pool.map(embed_batch, batches):
                if progress is not None:
                    progress(done)
        return vectors

    @cached_property
    def _folder(self) -> Path:
        return find_minilm(self._cache)

    @cached_property
    def _tokenizer(self) -> WordPiece:
        return WordPiece(read_vocabulary(self._folder))

    @cached_property
    def _model(self) -> MiniLM:
        return MiniLM(TensorFile(self._folder / MODEL.name))

    @cached_property
    def _bulk_model(self) -> MiniLM | OnnxMiniLM:
        try:
            return OnnxMiniLM(self._folder)
        except OSError:
            # A read-only cache has no place for the graph. The vectors are the same without it.
            return self._model


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

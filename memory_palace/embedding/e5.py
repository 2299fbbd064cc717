"""multilingual-e5-small: 384 dimensions, a hundred languages, in numpy, of weights of 4 bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from memory_palace.embedding.e5_file import E5File, open_unpacked
from memory_palace.embedding.forward import Encoder
from memory_palace.embedding.tensor_file import TensorFile
from memory_palace.embedding.unigram import Unigram, open_unigram
from memory_palace.embedding.weights import E5, cache_folder
from memory_palace.models import Matrix

DIMENSION = 384
TOKEN_LIMIT = 254
"""Passages are cut as for MiniLM: longer ones blur into their average."""
READ_TOKENS = 510
"""What it reads of a longer text, with the prefix; start and end make 512."""
QUERY, PASSAGE = "query:", "passage:"
"""The model was trained with one of them before every text (Wang et al., 2024)."""


def load(model: str, environ: Mapping[str, str]) -> E5Embedder:
    """Return the embedder over the weights in the cache, which are read with the first text."""
    return E5Embedder(cache_folder(environ))


def is_available(environ: Mapping[str, str]) -> bool:
    """Whether the weights are here."""
    return E5.is_present(cache_folder(environ))


def find_weights(environ: Mapping[str, str]) -> Path:
    """Return the folder in which the weights are, or would be."""
    return E5.folder(cache_folder(environ))


class E5Embedder:
    """Embeds with the weights in ``cache``; they are mapped when the first text comes."""

    name = "e5"
    dimension = DIMENSION
    token_limit = TOKEN_LIMIT
    fingerprint = f"e5:{E5.files[-1].sha256[:16]}:mean:prefixes:{TOKEN_LIMIT}-{READ_TOKENS}:fp32"

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    def count_tokens(self, text: str) -> int:
        """Count tokens without the prefix, without special ones and without a limit."""
        return len(self._tokenizer.encode(text))

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question."""
        return self._embed(QUERY, texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per passage, the zero vector for one without a token."""
        return self._embed(PASSAGE, texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Matrix:
        tokenizer = self._tokenizer
        begin = tokenizer.encode(prefix)
        room = READ_TOKENS - len(begin)
        encoded = [tokenizer.encode(text)[:room] for text in texts]
        return self._model.embed(
            [[tokenizer.start, *begin, *ids, tokenizer.end] if ids else [] for ids in encoded]
        )

    @cached_property
    def _folder(self) -> Path:
        return E5.find(self._cache)

    @cached_property
    def _tables(self) -> TensorFile:
        return open_unpacked(self._folder, cache=self._cache)

    @cached_property
    def _tokenizer(self) -> Unigram:
        return open_unigram(self._tables)

    @cached_property
    def _model(self) -> Encoder:
        file = E5File(self._folder / E5.files[-1].name)
        return Encoder(self._tables, layers=file.layers, heads=file.heads, words=file.read_words)

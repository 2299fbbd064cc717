"""Embedders of ``sentence-transformers``, ``st:MODEL``: their user names them, no folder does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from memory_palace.embedding.hub import find_folder, list_files, need_library, open_model
from memory_palace.embedding.hub import is_available as is_available
from memory_palace.embedding.weights import cache_folder, digest_weights
from memory_palace.errors import MissingPartError
from memory_palace.models import Matrix

TOKEN_LIMIT, SPECIAL_TOKENS, BATCH_SIZE = 510, 2, 8


def load(model: str, environ: Mapping[str, str]) -> StEmbedder:
    """Return the embedder; raise ``MissingPartError`` without the extra or the model."""
    need_library(f"st:{model}")
    folder = find_folder(model, environ)
    name = str(folder) if Path(model).expanduser().is_dir() else model
    return StEmbedder(f"st:{name}", folder, cache=cache_folder(environ))


class StEmbedder:
    """Vectors of one model, made unit length. It is loaded when the first text comes."""

    def __init__(self, name: str, folder: Path, *, cache: Path) -> None:
        self.name, self._folder, self._cache = name, folder, cache

    @property
    def dimension(self) -> int:
        """Length of its vectors."""
        return int(self._model.get_embedding_dimension())

    @property
    def token_limit(self) -> int:
        """Tokens that it reads of a passage, and 510 at most."""
        return int(min(TOKEN_LIMIT, (self._model.max_seq_length or TOKEN_LIMIT) - SPECIAL_TOKENS))

    @cached_property
    def fingerprint(self) -> str:
        """The digest of weights, tokenizer, configuration and prompts, wherever they lie."""
        digest = sha256()
        for path in list_files(self._folder):
            file = digest_weights(path, cache=self._cache)
            digest.update(f"{path.relative_to(self._folder).as_posix()}:{file}\n".encode())
        return f"st:{digest.hexdigest()[:16]}:{TOKEN_LIMIT}:fp32"

    def count_tokens(self, text: str) -> int:
        """Count tokens with the model's tokenizer."""
        return len(self._model.tokenizer.encode(text, add_special_tokens=False))

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question, after the model's prompt for questions if any."""
        return self._embed(self._model.encode_query, texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per passage, after the model's prompt for passages if any."""
        return self._embed(self._model.encode_document, texts)

    def _embed(self, encode: Any, texts: Sequence[str]) -> Matrix:
        vectors: Matrix = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if filled := [row for row, text in enumerate(texts) if text.strip()]:
            how = {"normalize_embeddings": True, "show_progress_bar": False}
            vectors[filled] = encode([texts[row] for row in filled], batch_size=BATCH_SIZE, **how)
        if not np.isfinite(vectors).all():
            raise MissingPartError(f"{self.name} gives values that are no numbers")
        return vectors

    @cached_property
    def _model(self) -> Any:
        return open_model("SentenceTransformer", self._folder)

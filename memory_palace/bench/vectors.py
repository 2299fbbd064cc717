"""Vectors that were made before: texts are embedded once per model, whatever run they are in."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from memory_palace.embedding.base import Embedder
from memory_palace.models import Matrix
from memory_palace.storage.atomic import write_stream

_SLICE = 256
_KEEP_SECONDS = 60.0
"""How much embedding a killed run may lose; writing more often would take longer than it saves."""


class VectorCache:
    """Gives vectors of texts, from disk where they are there."""

    def __init__(
        self,
        folder: Path,
        embedder: Embedder,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        key = sha256(embedder.fingerprint.encode()).hexdigest()[:16]
        self._embedder = embedder
        self._path = folder / f"vectors-{key}.npz"
        self._known: dict[bytes, int] = {}
        self._matrix: Matrix = np.zeros((0, embedder.dimension), np.float32)
        self._fresh: list[Matrix] = []
        self._is_saved = True
        self._monotonic, self._progress = monotonic, progress
        self._saved_at = monotonic()
        if self._path.exists():
            with np.load(self._path) as arrays:
                self._matrix = arrays["vectors"]
                digests = [bytes(row) for row in arrays["digests"]]
            self._known = {digest: place for place, digest in enumerate(digests)}

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Return one vector per passage."""
        return self._find(texts, is_query=False)

    def questions(self, texts: Sequence[str]) -> Matrix:
        """Return one vector per question."""
        return self._find(texts, is_query=True)

    def _find(self, texts: Sequence[str], *, is_query: bool) -> Matrix:
        if not texts:
            return np.zeros((0, self._embedder.dimension), np.float32)
        digests = [_digest(text, is_query=is_query) for text in texts]
        missing = {d: t for d, t in zip(digests, texts, strict=True) if d not in self._known}
        embed = self._embedder.embed_queries if is_query else self._embedder.embed_passages
        names, values = list(missing), list(missing.values())
        for start in range(0, len(values), _SLICE):
            made = embed(values[start : start + _SLICE])
            for digest in names[start : start + _SLICE]:
                self._known[digest] = len(self._known)
            self._fresh.append(made)
            self._progress(min(start + _SLICE, len(values)), len(values))
            if self._monotonic() - self._saved_at > _KEEP_SECONDS:
                self.save()
        matrix = self._joined()
        return matrix[[self._known[digest] for digest in digests]]

    def save(self) -> None:
        """Write what was made in this run, beside what was there."""
        matrix = self._joined()
        if self._is_saved:
            return
        digests = np.frombuffer(b"".join(self._known), np.uint8).reshape(len(self._known), 16)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_stream(self._path, lambda file: np.savez(file, digests=digests, vectors=matrix))
        self._is_saved, self._saved_at = True, self._monotonic()

    def _joined(self) -> Matrix:
        if self._fresh:
            self._matrix = np.concatenate([self._matrix, *self._fresh])
            self._fresh, self._is_saved = [], False
        return self._matrix


def _digest(text: str, *, is_query: bool) -> bytes:
    kind = b"q" if is_query else b"p"
    return sha256(kind + text.encode()).digest()[:16]

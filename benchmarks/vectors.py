"""An embedder that embeds each text once, whatever run it is in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import numpy as np

from memory_palace.embedding import minilm
from memory_palace.embedding.registry import Embedder, cache_folder, is_available
from memory_palace.errors import MissingPartError
from memory_palace.index.embedders import Embedders
from memory_palace.models import Matrix
from memory_palace.storage import write_stream

_SLICE = 32


class RememberingEmbedder:
    """Gives the vectors of another embedder, from memory or from a file of ``folder``.

    ``progress`` is told how many of the texts that were missing are done, and how many there are.
    """

    def __init__(
        self,
        embedder: Embedder,
        folder: Path | None = None,
        *,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self.name, self.dimension = embedder.name, embedder.dimension
        self.token_limit, self.fingerprint = embedder.token_limit, embedder.fingerprint
        self.count_tokens = embedder.count_tokens
        self.find_share = getattr(embedder, "find_share", None)
        self._embedder = embedder
        key = sha256(embedder.fingerprint.encode()).hexdigest()[:16]
        self._path = folder / f"vectors-{key}.npz" if folder is not None else None
        self._known: dict[bytes, int] = {}
        self._matrix: Matrix = np.zeros((0, embedder.dimension), np.float32)
        self._fresh: list[Matrix] = []
        self._is_saved = True
        self._progress = progress
        if self._path is not None and self._path.exists():
            with np.load(self._path) as arrays:
                self._matrix = arrays["vectors"]
                digests = [bytes(row) for row in arrays["digests"]]
            self._known = {digest: place for place, digest in enumerate(digests)}

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per passage."""
        return self._find(texts, b"p", self._embedder.embed_passages)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question."""
        return self._find(texts, b"q", self._embedder.embed_queries)

    def save(self) -> None:
        """Write what was made in this run, beside what was there."""
        matrix = self._joined()
        if self._is_saved or self._path is None:
            return
        digests = np.frombuffer(b"".join(self._known), np.uint8).reshape(len(self._known), 16)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_stream(self._path, lambda file: np.savez(file, digests=digests, vectors=matrix))
        self._is_saved = True

    def _find(
        self, texts: Sequence[str], kind: bytes, embed: Callable[[Sequence[str]], Matrix]
    ) -> Matrix:
        digests = [sha256(kind + text.encode()).digest()[:16] for text in texts]
        missing = {d: t for d, t in zip(digests, texts, strict=True) if d not in self._known}
        names, values = list(missing), list(missing.values())
        for start in range(0, len(values), _SLICE):
            self._progress(start, len(values))
            made = embed(values[start : start + _SLICE])
            for digest in names[start : start + _SLICE]:
                self._known[digest] = len(self._known)
            self._fresh.append(made)
            self._progress(min(start + _SLICE, len(values)), len(values))
        return self._joined()[[self._known[digest] for digest in digests]]

    def _joined(self) -> Matrix:
        if self._fresh:
            self._matrix = np.concatenate([self._matrix, *self._fresh])
            self._fresh, self._is_saved = [], False
        return self._matrix


@contextmanager
def loading(embedder: Embedder) -> Iterator[None]:
    """Let palaces that are opened inside embed with this embedder where they ask for its name."""
    own = Embedders.get

    def get(embedders: Embedders, name: str) -> Embedder:
        return embedder if name == embedder.name else own(embedders, name)

    Embedders.get = get  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        Embedders.get = own  # type: ignore[method-assign]


class DrawnMiniLM(minilm.MiniLMEmbedder):
    """MiniLM's tokens, and vectors by chance: where only their number counts."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return unit vectors that say nothing."""
        drawn = np.random.default_rng(len(texts)).normal(size=(len(texts), self.dimension))
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        return drawn.astype(np.float32)


def drawn_minilm() -> DrawnMiniLM:
    """Return it; raise ``MissingPartError`` where the weights are not here."""
    if not is_available("minilm"):
        raise MissingPartError("needs minilm; run `palace models fetch minilm`")
    return DrawnMiniLM(cache_folder(os.environ))

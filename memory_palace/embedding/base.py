"""What the rest of the package knows about embedders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from memory_palace.models import Matrix, Vector


class Embedder(Protocol):
    """Turns texts into unit vectors. Building one is cheap; weights load on first use."""

    @property
    def name(self) -> str:
        """The name it is chosen by, such as ``minilm`` or ``llm:MODEL``."""
        ...

    @property
    def dimension(self) -> int:
        """Length of its vectors."""
        ...

    @property
    def token_limit(self) -> int:
        """How many tokens of a passage it sees, special tokens not counted."""
        ...

    @property
    def fingerprint(self) -> str:
        """Everything that changes its vectors: model, weights digest, pooling, prefix, limit."""
        ...

    def count_tokens(self, text: str) -> int:
        """Count tokens the way the model does, without special tokens and without a limit."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question, shape ``(len(texts), dimension)``."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per passage, the zero vector for one without any token."""
        ...


def embed_query(embedder: Embedder, text: str) -> Vector:
    """Return the vector of one question."""
    vector: Vector = embedder.embed_queries([text])[0]
    return vector


def find_token_reader(embedder: Embedder) -> Callable[[str], tuple[list[str], Matrix]] | None:
    """Return the embedder's ``embed_tokens``, which gives every word a vector; minilm has it.

    ``None`` where the embedder gives vectors to whole texts alone.
    """
    return getattr(embedder, "embed_tokens", None)

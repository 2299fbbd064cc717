"""What the rest of the package knows about embedders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

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

    def embed_passages(
        self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None
    ) -> Matrix:
        """Return one unit vector per passage; ``progress`` is told how many more are done.

        A text without any token becomes the zero vector.
        """
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that gives a vector to every word too."""

    def embed_tokens(self, text: str) -> tuple[list[str], Matrix]:
        """Return the pieces of a text and one unit vector for each, as the text around makes it."""
        ...


def embed_query(embedder: Embedder, text: str) -> Vector:
    """Return the vector of one question."""
    vector: Vector = embedder.embed_queries([text])[0]
    return vector


def find_token_reader(embedder: Embedder) -> Callable[[str], tuple[list[str], Matrix]] | None:
    """Return what gives a vector to every word; ``None`` where the embedder has no such thing."""
    return embedder.embed_tokens if isinstance(embedder, TokenEmbedder) else None

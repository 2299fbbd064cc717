"""The embedders of one palace: each is made once, and used only where its recipe fits the index."""

from __future__ import annotations

from memory_palace.embedding.base import Embedder
from memory_palace.embedding.registry import choose_embedder, get_embedder
from memory_palace.index.commit import Commit
from memory_palace.index.fingerprint import check_fingerprint


class Embedders:
    """Gives embedders by name, for asking and for building."""

    def __init__(self) -> None:
        self._made: dict[str, Embedder] = {}

    def get(self, name: str) -> Embedder:
        """Return the embedder of that name."""
        if name not in self._made:
            self._made[name] = get_embedder(name)
        return self._made[name]

    def of(self, commit: Commit) -> Embedder:
        """Return the embedder an index was built with, provided it still is the same.

        Raise ``WrongEmbedderError`` where it is not.
        """
        embedder = self.get(commit.embedder)
        check_fingerprint(embedder, commit)
        return embedder

    def to_build_with(
        self, commit: Commit | None, *, asked: str | None, configured: str | None, force: bool
    ) -> Embedder:
        """Choose the embedder of a build; see ``choose_embedder``."""
        name = choose_embedder(
            asked=asked,
            configured=configured,
            committed=commit.embedder if commit else None,
            force=force,
        )
        return self.of(commit) if commit is not None and not force else self.get(name)

"""Two embedders in one index: the vectors of both, side by side in one row.

Each half is ``PART_LENGTH`` long, see there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from memory_palace.embedding.base import PART_LENGTH, Embedder, find_read_limit
from memory_palace.errors import UsageError
from memory_palace.models import Matrix

JOINT = "+"
"""What stands between two names."""
_AMPLE = 1.5
"""A second embedder that reads this many times the first one's limit counts no text of ASCII: there
models make like numbers of tokens (of 657 pieces of 700 letters e5 made 1.06 times as many as
minilm in the middle, and 1.34 at most; it reads twice as many)."""


class PairEmbedder:
    """Embeds every text with two embedders."""

    def __init__(self, first: Embedder, second: Embedder) -> None:
        """Join two; raise ``UsageError`` where a pair of them would be no gain."""
        self.parts = (first, second)
        if first.name == second.name:
            raise UsageError(f"a pair takes two different embedders, not {first.name} twice")
        if "none" in (first.name, second.name):
            raise UsageError(f"{self.name}: none makes no vectors to put beside others")

    @property
    def name(self) -> str:
        """Both names, joined with a plus sign."""
        return JOINT.join(part.name for part in self.parts)

    @property
    def dimension(self) -> int:
        """Length of both vectors together."""
        return sum(part.dimension for part in self.parts)

    @property
    def token_limit(self) -> int:
        """That of the first, in whose tokens texts are counted."""
        return self.parts[0].token_limit

    @property
    def fingerprint(self) -> str:
        """Both fingerprints."""
        return "pair:" + "&".join(part.fingerprint for part in self.parts)

    def count_tokens(self, text: str) -> int:
        """Count as the first does, and more where the second could not read as much.

        So passages are those of an index of the first alone, but for texts that only the second
        has many tokens for. Indexing does not pay twice where that cannot be: see ``_AMPLE``.
        """
        first, second = self._ready
        count, reads = first.count_tokens(text), find_read_limit(second)
        if text.isascii() and reads >= _AMPLE * self.token_limit:
            return count
        return max(count, -(-second.count_tokens(text) * self.token_limit // reads))

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of both for each question, side by side."""
        return join_parts([part.embed_queries(texts) for part in self._ready])

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of both for each passage; a half may be zero, as a vector may."""
        return join_parts([part.embed_passages(texts) for part in self._ready])

    @cached_property
    def _ready(self) -> tuple[Embedder, Embedder]:
        """Both, once each has shown that its weights are here: before one works in vain."""
        for part in self.parts:
            part.count_tokens("")
        return self.parts


def join_embedders(embedders: Sequence[Embedder]) -> PairEmbedder:
    """Join two embedders; raise ``UsageError`` for more of them."""
    if len(embedders) > 2:
        names = JOINT.join(embedder.name for embedder in embedders)
        raise UsageError(f"an index takes one embedder or two, not {len(embedders)}: {names}")
    return PairEmbedder(*embedders)


def join_parts(matrices: Sequence[Matrix]) -> Matrix:
    """Put matrices of unit vectors side by side, one per embedder, so that rows are unit vectors.

    One matrix stays as it is.
    """
    if len(matrices) == 1:
        return matrices[0]
    joined: Matrix = np.concatenate(matrices, axis=1)
    joined *= PART_LENGTH
    return joined

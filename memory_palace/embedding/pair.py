"""Two embedders in one index: the vectors of both, side by side in one row.

Each half is ``PART_LENGTH`` long, see there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from memory_palace.embedding.base import PART_LENGTH, Embedder
from memory_palace.errors import UsageError
from memory_palace.models import Matrix

JOINT = "+"
"""What stands between two names."""
_BETWEEN = "&"
_KIND = "pair:"
_AMPLE = 1.5
"""An embedder that reads this many times ``token_limit`` counts no passage of ASCII: models split
such text into like numbers of pieces (e5 makes 1.1 to 1.3 of each of minilm's)."""


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
        """The smaller of both limits: a passage has to fit both."""
        return min(part.token_limit for part in self.parts)

    @property
    def fingerprint(self) -> str:
        """Both fingerprints; ``split_fingerprint`` takes them apart."""
        return _KIND + _BETWEEN.join(part.fingerprint for part in self.parts)

    def count_tokens(self, text: str) -> int:
        """Return the larger share of its limit that a text takes of either, in ``token_limit``.

        Indexing does not pay twice for it where it cannot matter: see ``_AMPLE``.
        """
        limit, (first, second) = self.token_limit, self._ready
        share = -(-first.count_tokens(text) * limit // first.token_limit)
        if text.isascii() and _reads(second) >= _AMPLE * limit:
            return share
        return max(share, -(-second.count_tokens(text) * limit // second.token_limit))

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


def _reads(embedder: Embedder) -> int:
    """Return how many tokens an embedder reads of a text, if that is more than its limit."""
    reads: int = getattr(embedder, "read_limit", embedder.token_limit)
    return reads


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


def split_fingerprint(fingerprint: str) -> tuple[str, ...]:
    """Return the fingerprint of each part; one alone of an embedder that is no pair."""
    if not fingerprint.startswith(_KIND):
        return (fingerprint,)
    return tuple(fingerprint.removeprefix(_KIND).split(_BETWEEN))

"""What the notes have to say, unasked, to somebody who just said something; mostly nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from memory_palace.config import Config, PalacePaths
from memory_palace.embedding.base import Embedder
from memory_palace.index.freshness import check_freshness
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Hit, Query, Recollection
from memory_palace.retrieval.profiles import get_profile
from memory_palace.retrieval.recall_text import tell
from memory_palace.retrieval.search import search

LOOKED_AT = 20
"""Notes that are ranked: more than a budget of some kilobytes has room for."""
_SURE = 0.5
MOST_CHARACTERS = 4_000
"""Of what was said that are read: the first and the last half of them, a log may be pasted between.
"""


class Recaller:
    """What one generation of a palace has to say."""

    def __init__(
        self,
        snapshot: Snapshot,
        paths: PalacePaths,
        config: Config,
        embedder: Callable[[], Embedder],
    ) -> None:
        """``embedder`` loads the one of the index, where there are vectors."""
        self._snapshot, self._paths, self._config = snapshot, paths, config
        self._embedder = embedder

    def recall(
        self,
        said: Query,
        *,
        context: Sequence[str],
        budget_bytes: int,
        min_confidence: float | None = None,
    ) -> Recollection:
        """Return what comes to mind when somebody says ``said``; see ``Palace.recall``."""
        freshness = check_freshness(self._paths, self._config, self._snapshot)
        has_vectors = bool(self._snapshot.commit.dimension)
        text = _bound(" ".join(said.text.split()))
        confidence, told = 0.0, ""
        hits: tuple[Hit, ...] = ()
        if text:
            vector = self._embedder().embed_queries([text])[0] if has_vectors else None
            query = replace(said, text=text, vector=vector)
            profile = get_profile("hybrid")
            found = search(query, self._snapshot, profile=profile, limit=LOOKED_AT).hits
            confidence = max((hit.confidence or 0.0 for hit in found), default=0.0)
            if confidence >= (_SURE if min_confidence is None else min_confidence):
                told, hits = tell(
                    text, found, self._snapshot, self._paths, budget_bytes=budget_bytes
                )
        return Recollection(
            spoken=bool(told),
            confidence=confidence,
            text=told,
            hits=hits,
            mode="vector" if has_vectors else "lexical",
            freshness=freshness.state,
            behind=freshness.behind,
        )


def _bound(text: str) -> str:
    """Return the first and the last part of a text that is too long to be read."""
    half = MOST_CHARACTERS // 2
    return text if len(text) <= MOST_CHARACTERS else f"{text[:half]} {text[-half:]}"

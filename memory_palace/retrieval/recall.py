"""What the notes have to say, unasked, to somebody who just said something; mostly nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from memory_palace.config import Config, PalacePaths
from memory_palace.embedding.base import Embedder
from memory_palace.index.chat import SmallTalk
from memory_palace.index.freshness import check_freshness
from memory_palace.index.questions import find_null_lines
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Hit, Query, Recollection
from memory_palace.retrieval.context import match_notes
from memory_palace.retrieval.profiles import get_profile
from memory_palace.retrieval.recall_text import tell
from memory_palace.retrieval.search import search

LOOKED_AT = 20
"""Notes that are ranked: more than a budget of some kilobytes has room for."""
SURE = 0.5
"""Confidence from which on something is said."""
_FARTHEST = 20.0
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
            confidence = self._decide(query)
            if confidence >= (SURE if min_confidence is None else min_confidence):
                told, hits = self._tell(query, budget_bytes=budget_bytes)
        return Recollection(
            spoken=bool(told),
            confidence=confidence,
            text=told,
            hits=hits,
            mode="vector" if has_vectors else "lexical",
            freshness=freshness.state,
            behind=freshness.behind,
        )

    def _decide(self, query: Query) -> float:
        """Return how sure it is that a text refers to a note, in [0, 1]; ``SURE`` is the bar."""
        snapshot, vector = self._snapshot, query.vector
        nearest = 0.0
        if vector is not None:
            rows = np.flatnonzero(match_notes(snapshot, query.filters)[snapshot.row_note])
            rows = rows[snapshot.hot_rows[rows]]
            nearest = float(snapshot.similarities(vector)[rows].max(initial=0.0))
        above = self._talk.weigh(query.text, vector=vector, nearest=nearest) - self._talk.bar
        return round(1 / (1 + math.exp(-max(min(above, _FARTHEST), -_FARTHEST))), 4)

    def _tell(self, query: Query, *, budget_bytes: int) -> tuple[str, tuple[Hit, ...]]:
        profile = get_profile("hybrid")
        found = search(query, self._snapshot, profile=profile, limit=LOOKED_AT).hits
        return tell(query.text, found, self._snapshot, self._paths, budget_bytes=budget_bytes)

    @cached_property
    def _talk(self) -> SmallTalk:
        lines = None
        if self._snapshot.commit.dimension:
            lines = find_null_lines(self._paths.index, self._embedder())
        return SmallTalk(self._snapshot, lines.chat if lines else None)


def _bound(text: str) -> str:
    """Return the first and the last part of a text that is too long to be read."""
    half = MOST_CHARACTERS // 2
    return text if len(text) <= MOST_CHARACTERS else f"{text[:half]} {text[-half:]}"

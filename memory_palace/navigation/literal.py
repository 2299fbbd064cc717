"""Source document 004's own formula, in double precision, for comparing with its log.

Not for use: it promotes nodes that have nothing to do with the goal (see ``calibration``), a word
said twice lowers the score, and its guard puts the least alike node above more alike ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.base import Embedder
from memory_palace.navigation.locus import MemoryNode
from memory_palace.navigation.store import check_dimension
from memory_palace.navigation.stub import StubEmbedder
from memory_palace.navigation.words import literal_words

LITERAL_THRESHOLD = 0.3
"""From which on the document promotes."""
_GUARD_WIDTH = 0.05


def score_literally(
    goal_text: str, nodes: Sequence[MemoryNode], embedder: Embedder, *, guard: bool
) -> NDArray[np.float64]:
    """Return one score per node, not rounded."""
    goal = _embed(goal_text, embedder)
    tokens = literal_words(goal_text)
    return np.array([_score(goal, tokens, node, embedder, guard=guard) for node in nodes])


def _score(
    goal: Sequence[float],
    tokens: list[str],
    node: MemoryNode,
    embedder: Embedder,
    *,
    guard: bool,
) -> float:
    check_dimension(node, embedder.dimension)
    vector = node.embedding if node.embedding is not None else _embed(node.text, embedder)
    alike = (_cosine(goal, vector) + 1.0) / 2.0
    shared = set(tokens) & set(literal_words(node.text))
    words = len(shared) / len(tokens) if tokens else 0.0
    score = 0.8 * alike + 0.2 * words
    if guard and not shared and abs(alike - 0.5) < _GUARD_WIDTH:
        score *= 0.5
    return min(max(score, 0.0), 1.0)


def _cosine(first: Sequence[float], second: Sequence[float]) -> float:
    lengths = [math.sqrt(math.fsum(x * x for x in vector)) for vector in (first, second)]
    product = lengths[0] * lengths[1]
    return (
        math.fsum(a * b for a, b in zip(first, second, strict=True)) / product if product else 0.0
    )


def _embed(text: str, embedder: Embedder) -> list[float]:
    if isinstance(embedder, StubEmbedder):
        return embedder.embed_exactly(text)
    vector: list[float] = embedder.embed_passages([text])[0].tolist()
    return vector

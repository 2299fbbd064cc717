"""The score of an answer that source document 000 defines, and the cosine that it is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from memory_palace.features.memories.memory_values import MOST_FACTORS, Memory
from memory_palace.features.memories.verification import check_tokens
from memory_palace.kinds import TokenVerdict

ALPHA, BETA, GAMMA = 0.5, 0.3, 0.2
"""Of nearness, token and SMASHIN SCOPE (source document 000, which publishes no measurement)."""


def calculate_retrieval_score(
    memory: Memory,
    query: str,  # the document's signature: the question is compared by its vector alone
    query_embedding: Sequence[float],
    response: str,
    alpha: float = ALPHA,
    beta: float = BETA,
    gamma: float = GAMMA,
) -> float:
    """Return ``α·sim + β·verify + γ·smashin/12``, from 0 to 1, a negative cosine counting as 0.

    Where a memory has no token, β is dropped and the other weights share its part. Raise
    ``ValueError`` for weights that make no mean.
    """
    verdict = check_tokens(response, memory.verify_tokens)
    parts = [
        (alpha, max(0.0, cosine_similarity(memory.embedding, query_embedding))),
        (gamma, memory.smashin_score / MOST_FACTORS),
    ]
    if verdict != TokenVerdict.NOT_APPLICABLE:
        parts.append((beta, float(verdict == TokenVerdict.HELD)))
    weights = [weight for weight, _ in parts]
    if any(weight < 0 or not math.isfinite(weight) for weight in weights) or not sum(weights):
        raise ValueError(f"weights must be finite, not negative and not all zero, not {weights}")
    return min(1.0, sum(weight * value for weight, value in parts) / sum(weights))


def cosine_similarity(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the cosine of two vectors of one length, from -1 to 1.

    0 where either is zero, empty or not finite: nothing is known then, and nothing warns. Raise
    ``ValueError`` for vectors of different lengths.
    """
    one, other = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if not one.size or not other.size:
        return 0.0
    if one.shape != other.shape:
        raise ValueError(f"vectors of shapes {one.shape} and {other.shape} cannot be compared")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return 0.0
    # Squares of huge or tiny numbers are out of range: both are divided by their largest.
    one, other = (each / (np.max(np.abs(each)) or 1) for each in (one, other))
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(np.clip(np.dot(one, other) / length, -1, 1)) if length else 0.0

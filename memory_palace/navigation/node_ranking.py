"""Which nodes a goal may mean: meaning and words, blended, guarded, ordered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.base import Embedder, embed_query
from memory_palace.models import Scores, Vector
from memory_palace.navigation.calibration import Null
from memory_palace.navigation.literal import LITERAL_THRESHOLD, score_literally
from memory_palace.navigation.nodes import Pose2D, goal_words
from memory_palace.navigation.shelves import NodeStore, Shelf

MEANING, WORDS = 0.8, 0.2
"""The blend of source document 004."""
RAMP = 0.05
"""The width of the document's guard around one half; ours rises through its upper half."""
_SECONDS_PER_DAY = 86_400.0

Scoring: TypeAlias = Literal["calibrated", "literal", "guarded"]
"""``literal`` is the formula of the document's log, ``guarded`` that of its text."""


class NodeCandidate(TypedDict):
    """One node and its score in [0, 1], as it stands in beliefs and logs."""

    node_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which nodes may be candidates, and how much an old one counts. By default all, fully."""

    exclude: frozenset[int] = frozenset()
    near: Pose2D | None = None
    within_metres: float | None = None
    """Of ``near``; both or neither."""
    half_life_days: float | None = None
    """A score halves with every such age. What has no time does not decay."""
    now: float = 0.0
    """The moment ages are counted to, seconds since the epoch."""


EVERYTHING = Narrowing()


def retrieve_candidates(
    goal_text: str,
    store: NodeStore,
    embedder: Embedder,
    k: int = 5,
    *,
    scoring: Scoring = "calibrated",
    narrowing: Narrowing = EVERYTHING,
) -> list[NodeCandidate]:
    """Return the ``k`` best nodes for a goal by score, then id; none for a goal without words."""
    if not goal_words(goal_text) or not store.nodes:
        return []
    shelf = store.shelve(embedder)
    if scoring != "calibrated":
        scores = score_literally(goal_text, store.nodes, embedder, guard=scoring == "guarded")
        return choose(shelf, scores, k, narrowing)
    vector = embed_query(embedder, goal_text) if embedder.dimension else None
    return search_shelf(goal_text, vector, shelf, k, narrowing=narrowing)


def search_shelf(
    goal_text: str,
    vector: Vector | None,
    shelf: Shelf,
    k: int,
    *,
    narrowing: Narrowing = EVERYTHING,
) -> list[NodeCandidate]:
    """Return the ``k`` best of a shelf; without a vector words alone decide."""
    words = goal_words(goal_text)
    if not words or not len(shelf.ids):
        return []
    cosines = np.zeros(len(shelf.ids), np.float32) if vector is None else shelf.cosines(vector)
    return choose(shelf, blend(cosines, shelf.word_shares(words)), k, narrowing)


def blend(cosines: Scores, shares: Scores) -> NDArray[np.float64]:
    """Return scores in [0, 1] from cosines and shares of words, monotone in both.

    ``.8 (cos + 1) / 2 + .2 share``, guarded twice. Without a common word a ramp takes what is no
    more alike than chance down to 0: the document's guard halves what is near one half and spares
    what is below, so that its least alike node comes second. And a part of the words counts by its
    cube: half of "cold beer" is in every note on a cold day.
    """
    alike = (cosines + np.float32(1)) * np.float32(0.5)
    scores = np.float32(MEANING) * alike + np.float32(WORDS) * shares * shares * shares
    ramp = np.clip((alike - np.float32(0.5)) / np.float32(RAMP), 0, 1)
    np.multiply(scores, ramp, out=scores, where=shares <= 0)
    np.clip(scores, 0, 1, out=scores)
    rounded: NDArray[np.float64] = scores.astype(np.float64).round(6)
    return rounded


def score_threshold(null: Null | None, compared: int, *, scoring: Scoring = "calibrated") -> float:
    """Return the least score at which the best of ``compared`` vectors is not chance.

    Without vectors (``null`` is ``None``) every word of the goal has to be there.
    """
    if scoring != "calibrated":
        return LITERAL_THRESHOLD
    one = np.ones(1, np.float32)
    if null is None:
        return float(blend(0 * one, one)[0])
    cosine = np.float32(null.cosine_threshold(compared)) * one
    return float(blend(cosine, 0 * one)[0])


def choose(
    shelf: Shelf, scores: NDArray[np.float64], k: int, narrowing: Narrowing
) -> list[NodeCandidate]:
    """Return the best by score, then id, after decay and among what is allowed."""
    if narrowing.half_life_days is not None:
        scores = decay(scores, shelf.seen_at, narrowing.half_life_days, narrowing.now)
    rows = _best_rows(scores, _allowed(shelf, narrowing), k)
    found = zip(shelf.ids[rows].tolist(), scores[rows].tolist(), strict=True)
    return [NodeCandidate(node_id=node_id, score=score) for node_id, score in found]


def _best_rows(
    scores: NDArray[np.float64], allowed: NDArray[np.int64] | None, k: int
) -> NDArray[np.int64]:
    """Return the rows of the ``k`` best; rows are in the order of ids, so that they break ties."""
    values = scores if allowed is None else scores[allowed]
    if k <= 0 or not len(values):
        return np.zeros(0, np.int64)
    chosen = np.arange(len(values))
    if len(values) > k:
        least = np.partition(values, len(values) - k)[len(values) - k]
        chosen = np.flatnonzero(values >= least)
    chosen = chosen[np.argsort(-values[chosen], kind="stable")][:k]
    return chosen if allowed is None else allowed[chosen]


def _allowed(shelf: Shelf, narrowing: Narrowing) -> NDArray[np.int64] | None:
    """Return the rows that may be candidates, ``None`` for all."""
    if not narrowing.exclude and narrowing.near is None:
        return None
    allowed = np.ones(len(shelf.ids), np.bool_)
    if narrowing.exclude:
        allowed &= ~np.isin(shelf.ids, sorted(narrowing.exclude))
    if narrowing.near is not None and narrowing.within_metres is not None:
        away = shelf.places - (narrowing.near.x, narrowing.near.y)
        allowed &= np.hypot(away[:, 0], away[:, 1]) <= narrowing.within_metres
    return np.flatnonzero(allowed)


def decay(
    scores: NDArray[np.float64], seen_at: NDArray[np.float64], half_life_days: float, now: float
) -> NDArray[np.float64]:
    """Return scores that halve with every ``half_life_days`` since they were seen; NaN is new."""
    ages = np.maximum(now - seen_at, 0.0) / _SECONDS_PER_DAY
    factors = np.where(np.isnan(ages), 1.0, 0.5 ** (ages / half_life_days))
    decayed: NDArray[np.float64] = np.round(scores * factors, 6)
    return decayed

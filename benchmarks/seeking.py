"""Searches: what is promoted by chance, and what is meant."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.datasets.reading import read_table
from benchmarks.metrics import interval
from benchmarks.vectors import RememberingEmbedder
from memory_palace.embedding.registry import Embedder
from memory_palace.features.seek.nodes import (
    MemoryNode,
    NodeStore,
    Pose2D,
    calibrate,
    retrieve_candidates,
    score_threshold,
)

STORES = 1_000
SEED = 7
_NOWHERE = Pose2D(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Errand:
    """A goal, and the summary of the one place that serves it."""

    goal: str
    summary: str
    kind: str
    """Errands of different kinds have nothing to do with each other."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of stores with its 95 % interval."""

    what: str
    value: float
    low: float
    high: float
    limit: str = ""


def read_errands(path: Path) -> list[Errand]:
    """Read a Markdown table of goal, summary and kind; raise ``UsageError`` where there is none."""
    return [Errand(*row) for row in read_table(path, "goal", "summary", "kind")]


def measure_promotion(
    errands: Sequence[Errand], embedder: Embedder, *, stores: int = STORES, seed: int = SEED
) -> list[Share]:
    """Return shares of seeded random stores: of 5 and 10 unrelated nodes, then with one meant."""
    trial = _Trial(errands, embedder)
    rows: list[Share] = []
    for count in (5, 10):
        share = trial.share(stores, seed, partial(trial.promotes, count=count))
        rows.append(Share(f"{count} unrelated nodes, default: promoted", *share, "<= .02"))
    share = trial.share(stores, seed, partial(trial.finds, count=10))
    rows.append(Share("1 meant among 10, default: promoted, and first", *share, ">= .90"))
    return rows


def remember_errands(errands: Sequence[Errand], embedder: Embedder) -> RememberingEmbedder:
    """Embed all goals and summaries at once: the same few are drawn some thousand times."""
    found = RememberingEmbedder(embedder)
    found.embed_queries([errand.goal for errand in errands])
    found.embed_passages([errand.summary for errand in errands])
    return found


class _Trial:
    """Errands, and stores drawn from them."""

    def __init__(self, errands: Sequence[Errand], embedder: Embedder) -> None:
        self._errands, self._embedder = errands, remember_errands(errands, embedder)
        self._null = calibrate(embedder)
        self._kinds: dict[str, list[int]] = {}
        for place, errand in enumerate(errands):
            self._kinds.setdefault(errand.kind, []).append(place)

    def share(
        self, stores: int, seed: int, event: Callable[[random.Random], bool]
    ) -> tuple[float, float, float]:
        source = random.Random(seed)
        values = [float(event(source)) for _ in range(stores)]
        return sum(values) / stores, *interval(values)

    def promotes(self, source: random.Random, count: int) -> bool:
        """Whether a goal promotes one of ``count`` unrelated nodes."""
        meant = source.randrange(len(self._errands))
        store = self._store(self._unrelated(source, meant, count))
        found = self._retrieve(meant, store)
        return found[1] >= score_threshold(self._null, count)

    def finds(self, source: random.Random, count: int) -> bool:
        """Whether a goal promotes the node it means, among ``count - 1`` unrelated ones."""
        place = source.randrange(len(self._errands))
        places = [place, *self._unrelated(source, place, count - 1)]
        source.shuffle(places)
        best, score = self._retrieve(place, self._store(places))
        return places[best] == place and score >= score_threshold(self._null, count)

    def _unrelated(self, source: random.Random, meant: int, count: int) -> list[int]:
        kinds = sorted(set(self._kinds) - {self._errands[meant].kind})
        return [source.choice(self._kinds[kind]) for kind in source.sample(kinds, count)]

    def _store(self, places: Sequence[int]) -> NodeStore:
        return NodeStore(
            MemoryNode(number, _NOWHERE, None, (), self._errands[place].summary)
            for number, place in enumerate(places)
        )

    def _retrieve(self, meant: int, store: NodeStore) -> tuple[int, float]:
        goal = self._errands[meant].goal
        best = retrieve_candidates(goal, store, self._embedder, 1)[0]
        return best["node_id"], best["score"]

"""Searches: promotion by chance, targets that are found, and the cost of a step.

A simulated robot searches houses through `Palace.searches` with an eye that errs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.datasets.reading import read_table
from benchmarks.generate import scratch_folder
from benchmarks.metrics import interval, wilson_interval
from benchmarks.vectors import RememberingEmbedder
from memory_palace.embedding.base import Embedder
from memory_palace.errors import UsageError
from memory_palace.features.seek.node_ranking import (
    NodeStore,
    calibrate,
    retrieve_candidates,
    score_threshold,
)
from memory_palace.features.seek.nodes import MemoryNode, Pose2D
from memory_palace.palace import Palace

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


NODES = 30
GOALS = 56
WIDTH_METRES, DEPTH_METRES = 15.0, 10.0
ERRS = 0.1
"""How often a look overlooks the target, and how often it sees it where it is not."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One look at one node."""

    node_id: int
    is_hit: bool
    distance_metres: float | None = None
    """To the target, where an approach has measured it."""


class NoisyPerception:
    """Looks for a target at a known node, with errors of both kinds."""

    def __init__(self, target: int, source: random.Random, errs: float) -> None:
        self._target, self._source, self._errs = target, source, errs

    def look(self, node_id: int, *, is_near: bool) -> Sighting:
        """Look from afar, or from near: something that is not there cannot be reached."""
        is_there = node_id == self._target
        is_hit = is_there != (self._source.random() < self._errs)
        return Sighting(node_id, is_hit, 0.5 if is_near and is_hit and is_there else None)


@dataclass(frozen=True, slots=True)
class Finds:
    """How many targets were found, and what the searches cost on average, found or not."""

    embedder: str
    """With ``none`` nothing speaks for a place, and the nearest is looked at first."""
    errs: float
    goals: int
    found: int
    low: float
    high: float
    """Wilson's 95 % interval of the share."""
    looks: float
    median_looks: float
    metres: float


def measure_house(
    errands: Sequence[Errand], embedder: str, *, goals: int = GOALS, seed: int = SEED
) -> Iterator[Finds]:
    """Search with eyes that err never, once in ten and twice in ten, and once without vectors."""
    for name, errs in ((embedder, 0.0), (embedder, ERRS), (embedder, 2 * ERRS), ("none", ERRS)):
        yield find_targets(errands, name, errs, goals=goals, seed=seed)


def find_targets(
    errands: Sequence[Errand], embedder: str, errs: float, *, goals: int = GOALS, seed: int = SEED
) -> Finds:
    """Search houses of 30 places, each place the target of one search, until ``goals`` are made."""
    if len(errands) < NODES:
        raise UsageError(f"a house needs {NODES} errands, not {len(errands)}")
    trips: list[tuple[bool, int, float]] = []
    for first in range(0, goals, NODES):
        source = random.Random(f"{seed}:{first}")
        places = source.sample(errands, NODES)
        poses = [
            Pose2D(source.uniform(0, WIDTH_METRES), source.uniform(0, DEPTH_METRES)) for _ in places
        ]
        with scratch_folder() as root:
            searches = furnish(root, embedder, places, poses).searches
            searches.start(places[0].goal, on_loci=True)
            for target, place in enumerate(places[: goals - first]):
                eyes = NoisyPerception(target, random.Random(f"{seed}:{first + target}"), errs)
                trips.append(_search(searches, place.goal, eyes))
    found, looks, metres = zip(*trips, strict=True)
    return Finds(
        embedder,
        errs,
        goals,
        sum(found),
        *wilson_interval(found),
        fmean(looks),
        float(median(looks)),
        fmean(metres),
    )


def _search(searches: Any, goal: str, eyes: NoisyPerception) -> tuple[bool, int, float]:
    """Go and look where each step leads; return whether that found it, the looks, the metres."""
    at, looks, metres = Pose2D(0.0, 0.0), 0, 0.0
    searches.change_goal(None, goal)
    while True:
        session, step = searches.step(position=at)
        node = step["next_node_id"]
        if node is None:
            return False, looks, metres
        there = session.places[node].pose
        at, metres, looks = there, metres + at.distance_to(there), looks + 1
        sighting = eyes.look(node, is_near=step["next_action"] == "approach")
        session = searches.sight(
            None,
            node,
            is_hit=sighting.is_hit,
            distance_metres=sighting.distance_metres,
        )
        if session.belief["target_status"] == "done":
            return True, looks, metres


def furnish(root: Path, embedder: str, places: Sequence[Errand], poses: Sequence[Pose2D]) -> Palace:
    """Make a palace of places."""
    palace = Palace.init(root)
    for number, (place, pose) in enumerate(zip(places, poses, strict=True)):
        palace.loci.add(f"Place {number}", pose=pose, summary=place.summary, apply=True)
    palace.index(embedder=embedder)
    return palace

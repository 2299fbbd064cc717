"""A simulated house: how many steps a search takes that remembers, and two that do not."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from memory_palace.bench.metrics import ratio_interval
from memory_palace.bench.seeking import SEED, Errand, remember_errands
from memory_palace.embedding.base import Embedder
from memory_palace.errors import UsageError
from memory_palace.navigation.belief import FINAL, BeliefState, new_belief
from memory_palace.navigation.calibration import Null, calibrate
from memory_palace.navigation.node_ranking import (
    Narrowing,
    NodeCandidate,
    retrieve_candidates,
    score_threshold,
)
from memory_palace.navigation.nodes import MemoryNode, Pose2D
from memory_palace.navigation.perception import NoisyPerception
from memory_palace.navigation.proposer import (
    Proposer,
    RuleProposer,
    RuleVerifier,
    Surroundings,
    go_to,
)
from memory_palace.navigation.rehearsal import Rehearsal
from memory_palace.navigation.shelves import NodeStore

NODES = 30
GOALS = 200
WIDTH_METRES, DEPTH_METRES = 15.0, 10.0
MOST_STEPS = 1_000
WAYS = ("guided", "random", "nearest")


@dataclass(frozen=True, slots=True)
class Steps:
    """What one way of searching took, and its ratio to another with a 95 % interval."""

    way: str
    mean: float
    median: float
    beside: str = ""
    ratio: float = 1.0
    low: float = 1.0
    high: float = 1.0
    """Percentile bootstrap over goals, both ways drawn together."""


class RandomWalk:
    """Goes to any place that was not looked at yet."""

    name = "random walk"

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self._rules = RuleProposer()

    def propose(self, belief: BeliefState, around: Surroundings) -> str:
        """Return a place by chance; what is seen is approached, as by everyone."""
        if belief["target_status"] in ("visible", *FINAL) or not around.open_nodes:
            return self._rules.propose(belief, around)
        return go_to(self._source.choice(sorted(around.open_nodes)), 0.5, "any place")


def measure_house(
    errands: Sequence[Errand], embedder: Embedder, *, goals: int = GOALS, seed: int = SEED
) -> list[Steps]:
    """Search ``goals`` houses of 30 places in three ways, with eyes that err in the same way."""
    if len(errands) < NODES:
        raise UsageError(f"a house needs {NODES} errands, not {len(errands)}")
    null, embedder = calibrate(embedder), remember_errands(errands, embedder)
    taken: dict[str, list[int]] = {way: [] for way in WAYS}
    for number in range(goals):
        house = _House(errands, embedder, null, random.Random(f"{seed}:{number}"))
        for way in WAYS:
            taken[way].append(house.search(way, f"{seed}:{number}:{way}"))
    guided = taken["guided"]
    rows = [Steps("guided", fmean(guided), float(median(guided)))]
    for way in WAYS[1:]:
        steps = taken[way]
        ratio = fmean(guided) / fmean(steps)
        low, high = ratio_interval(guided, steps, seed=seed)
        beside = f"guided / {way}"
        rows.append(Steps(way, fmean(steps), float(median(steps)), beside, ratio, low, high))
    return rows


class _House:
    """Thirty places, each with a summary, one of them what the goal means."""

    def __init__(
        self, errands: Sequence[Errand], embedder: Embedder, null: Null, source: random.Random
    ) -> None:
        chosen = source.sample(range(len(errands)), NODES)
        self._target = source.randrange(NODES)
        self._goal = errands[chosen[self._target]].goal
        self._poses = {
            node: Pose2D(source.uniform(0, WIDTH_METRES), source.uniform(0, DEPTH_METRES))
            for node in range(NODES)
        }
        self._embedder = embedder
        self._threshold = score_threshold(null, NODES)
        self._store = NodeStore(
            MemoryNode(node, self._poses[node], None, (), errands[place].summary)
            for node, place in enumerate(chosen)
        )

    def search(self, way: str, seed: str) -> int:
        """Return the steps until the target was reached."""
        source = random.Random(seed)
        remembers: Callable[[frozenset[int]], list[NodeCandidate]] = (
            self._retrieve if way == "guided" else lambda looked: []
        )
        eyes = NoisyPerception(self._target, source)
        start = new_belief(self._goal), self._poses, remembers, self._threshold
        run = Rehearsal(*start, eyes, Pose2D(0.0, 0.0))
        walk: Proposer = RandomWalk(source) if way == "random" else RuleProposer()
        return run.run(walk, RuleVerifier(), limit=MOST_STEPS)

    def _retrieve(self, looked: frozenset[int]) -> list[NodeCandidate]:
        return retrieve_candidates(
            self._goal, self._store, self._embedder, narrowing=Narrowing(looked)
        )

"""Simulated houses: what a robot finds through `palace seek serve` with an eye that errs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from memory_palace.bench.generate import scratch_folder
from memory_palace.bench.metrics import wilson_interval
from memory_palace.bench.robot import furnish, serving
from memory_palace.bench.seeking import SEED, Errand
from memory_palace.errors import UsageError
from memory_palace.navigation.nodes import Pose2D
from memory_palace.navigation.perception import ERRS, NoisyPerception

NODES = 30
GOALS = 56
WIDTH_METRES, DEPTH_METRES = 15.0, 10.0


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
        nodes = [
            {
                "node_id": number,
                "pose": {
                    "x": source.uniform(0, WIDTH_METRES),
                    "y": source.uniform(0, DEPTH_METRES),
                },
                "title": f"Place {number}",
                "summary": place.summary,
            }
            for number, place in enumerate(places)
        ]
        with scratch_folder() as root:
            furnish(root, embedder, nodes)
            with serving(root) as ask:
                ask({"do": "start", "goal": places[0].goal, "loci": True})
                for target, place in enumerate(places[: goals - first]):
                    eyes = NoisyPerception(target, random.Random(f"{seed}:{first + target}"), errs)
                    trips.append(_search(ask, place.goal, eyes))
    found, looks, metres = zip(*trips, strict=True)
    return Finds(
        embedder, errs, goals, sum(found), *wilson_interval(found),
        fmean(looks), float(median(looks)), fmean(metres),
    )  # fmt: skip


def _search(ask: Any, goal: str, eyes: NoisyPerception) -> tuple[bool, int, float]:
    """Go and look where each step leads; return whether that found it, the looks, the metres."""
    at, looks, metres = Pose2D(0.0, 0.0), 0, 0.0
    ask({"do": "goal", "goal": goal, "at": at.to_json()})
    while (step := ask({"do": "step"})["step"])["next"] is not None:
        there = Pose2D(**step["next"]["pose"])
        at, metres, looks = there, metres + at.distance_to(there), looks + 1
        sighting = eyes.look(step["next_node_id"], is_near=step["next_action"] == "approach")
        seen = {"seen": sighting.is_hit, "node": sighting.node_id, "at": at.to_json()}
        if sighting.distance_metres is not None:
            seen["metres"] = sighting.distance_metres
        if ask({"do": "observe", **seen})["target_status"] == "done":
            return True, looks, metres
    return False, looks, metres

"""A whole search over nodes in memory, looking included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from memory_palace.navigation.belief import (
    FINAL,
    BeliefState,
    exhaust_candidates,
    new_belief,
    reach,
    see,
)
from memory_palace.navigation.loop import Retrieval, StepRecord, next_node, take_step
from memory_palace.navigation.node_ranking import NodeCandidate
from memory_palace.navigation.nodes import Pose2D
from memory_palace.navigation.perception import NoisyPerception
from memory_palace.navigation.proposer import Proposer, Surroundings, Verifier

PATIENCE = 3
"""Vain looks at a likely place, and vain approaches, after which it counts as looked at. Eyes that
overlook one target in three leave a place that is likely by nine to one still likelier than any
other after three looks."""


@dataclass(slots=True)
class Rehearsal:
    """The state of one search."""

    belief: BeliefState
    poses: dict[int, Pose2D]
    retrieve: Callable[[frozenset[int]], list[NodeCandidate]]
    """Candidates without those that were looked at."""
    threshold: float
    perception: NoisyPerception
    position: Pose2D
    looked: set[int] = field(default_factory=set)
    records: list[StepRecord] = field(default_factory=list)
    _misses: int = 0
    """Looks or approaches in a row at the place where the search is."""

    @property
    def around(self) -> Surroundings:
        """What a proposer may know."""
        looked = frozenset(self.looked)
        return Surroundings(frozenset(self.poses) - looked, self.poses, self.position, {}, looked)

    def step(self, proposer: Proposer, verifier: Verifier) -> StepRecord:
        """Take one step and look where it leads."""
        number = len(self.records)
        retrieval = Retrieval(self.retrieve(frozenset(self.looked)), self.threshold)
        around = self.around
        self.belief, record = take_step(
            self.belief, retrieval, around, proposer=proposer, verifier=verifier, step=number
        )
        self.records.append(record)
        self._look(next_node(self.belief, around), number)
        return record

    def _look(self, node_id: int | None, number: int) -> None:
        if node_id is None:
            return
        if self.belief["current_node_id"] != node_id:
            self._misses = 0
        self.position = self.poses[node_id]
        if self.belief["next_action"] == "approach":
            self._approach(node_id, number)
            return
        self._take_in(node_id, number)
        if self.belief["visibility_streak"] == 1:  # look again before believing it
            self._take_in(node_id, number)
        if self.belief["target_status"] == "visible":
            self._misses = 0
        elif any(
            found["node_id"] == node_id and found["score"] >= self.threshold
            for found in self.belief["candidate_nodes"]
        ):
            self._give_up_slowly(node_id)
        else:
            self.looked.add(node_id)

    def _give_up_slowly(self, node_id: int) -> None:
        self._misses += 1
        if self._misses >= PATIENCE:
            self._misses = 0
            self.looked.add(node_id)

    def _take_in(self, node_id: int, number: int) -> None:
        see(self.belief, node_id, is_hit=self.perception.look(node_id).is_hit, step=number)

    def _approach(self, node_id: int, number: int) -> None:
        sighting = self.perception.approach(node_id)
        see(self.belief, node_id, is_hit=sighting.is_hit, step=number)
        metres = sighting.distance_metres
        if metres is not None and reach(self.belief, distance_metres=metres, step=number):
            return
        self._give_up_slowly(node_id)

    def run(self, proposer: Proposer, verifier: Verifier, *, limit: int) -> int:
        """Search until done; return the steps it took, ``limit`` where it was not found.

        Perception errs, so a round that finds nothing is followed by another.
        """
        while self.belief["target_status"] != "done" and len(self.records) < limit:
            if not self.around.open_nodes or self.belief["target_status"] in FINAL:
                self._begin_again()
            self.step(proposer, verifier)
        return len(self.records)

    def _begin_again(self) -> None:
        exhaust_candidates(self.belief, is_anything_left=True)
        goal = self.belief["goal_text"]
        self.belief = new_belief(goal, self.belief["active_constraints"])
        self.looked.clear()

"""What to do next, as JSON text: by rule, or by a language model that is not trusted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from memory_palace.navigation.belief import BeliefState, Hypothesis, SearchAction
from memory_palace.navigation.nodes import Pose2D
from memory_palace.navigation.schema import find_problem

INVALID_JSON = "VLM_INVALID:json_parse"
INVALID_SCHEMA = "VLM_INVALID:schema"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a proposer and a verifier may know besides the belief."""

    open_nodes: frozenset[int] = frozenset()
    """Nodes that exist and have not been looked at, or not with a result."""
    poses: Mapping[int, Pose2D] = field(default_factory=dict)
    """Where nodes are, as far as they are anywhere."""
    position: Pose2D | None = None
    labels: Mapping[int, str] = field(default_factory=dict)
    """One line about each candidate: text from notes, and so data."""
    looked: frozenset[int] = frozenset()
    """Nodes that were looked at and are closed."""

    def metres_to(self, node_id: int) -> float:
        """Return the distance from the position; 0 where one of the two has no place."""
        pose = self.poses.get(node_id)
        return 0.0 if pose is None or self.position is None else self.position.distance_to(pose)


class Proposer(Protocol):
    """Proposes the next action. What it returns is parsed and checked, whoever made it."""

    @property
    def name(self) -> str:
        """``rules``, or ``llm:MODEL``."""
        ...

    def propose(self, belief: BeliefState, around: Surroundings) -> str:
        """Return a hypothesis as JSON."""
        ...


class RuleProposer:
    """Stop at the end, approach what is seen, go to the best candidate, else to the nearest."""

    name = "rules"

    def propose(self, belief: BeliefState, around: Surroundings) -> str:
        """Return the hypothesis that follows from the belief."""
        status = belief["target_status"]
        if status in ("done", "unreachable"):
            return _hypothesis("stop", 1.0, f"the search is over: {status}")
        if status == "visible":
            return _approach(belief)
        for candidate in belief["candidate_nodes"]:
            if candidate["score"] > 0:
                return go_to(candidate["node_id"], candidate["score"], "the best candidate")
        return _hypothesis("explore", 0.0, "no candidate")


def parse_proposal(text: str) -> tuple[Hypothesis | None, str | None]:
    """Return the hypothesis, or ``None`` and the code of what is wrong with it."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None, INVALID_JSON
    if find_problem(value, "hypothesis") is not None:
        return None, INVALID_SCHEMA
    found: Hypothesis = value
    return found, None


def target_of(hypothesis: Hypothesis) -> int | None:
    """Return the node that a hypothesis would go to."""
    goal = hypothesis.get("goal")
    if hypothesis["action"] != "goto_node" or goal is None:
        return None
    node_id = goal["node_id"]
    return node_id if isinstance(node_id, int) else None


def go_to(node_id: int, confidence: float, rationale: str) -> str:
    """Return a hypothesis that goes to a node."""
    goal = {"type": "node_id", "node_id": node_id}
    return _hypothesis("goto_node", confidence, rationale, goal=goal)


def _approach(belief: BeliefState) -> str:
    place = belief["last_seen_node_id"]
    return _hypothesis(
        "approach",
        1.0,
        f"seen at node {place}",
        status="visible",
        pose_relative={"distance": 0.5, "angle": 0.0, "standoff": 0.5},
    )


def _hypothesis(
    action: SearchAction,
    confidence: float,
    rationale: str,
    *,
    status: str = "not_visible",
    **more: Mapping[str, object],
) -> str:
    return json.dumps(
        {
            "target_status": status,
            "action": action,
            "confidence": round(min(max(confidence, 0.0), 1.0), 6),
            "rationale": rationale[:240],
            **more,
        }
    )

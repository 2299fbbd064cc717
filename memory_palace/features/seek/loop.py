"""One step of a search, a pure function: update candidates, propose, verify, believe.

``python -m memory_palace.features.seek.loop --self-check`` checks its invariants.
"""

from __future__ import annotations

import copy
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypedDict

from memory_palace.features.seek.belief import (
    FINAL,
    BeliefState,
    Hypothesis,
    SearchAction,
    apply_memory_retrieval,
    exhaust_candidates,
    find_problem,
    new_belief,
    passes,
)
from memory_palace.features.seek.nodes import NodeCandidate, Pose2D, goal_words

SKIPPED = "SKIPPED"
OK = "OK"
INVALID_JSON = "VLM_INVALID:json_parse"
INVALID_SCHEMA = "VLM_INVALID:schema"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Context of a proposer and a verifier besides the belief."""

    open_nodes: frozenset[int] = frozenset()
    """Known nodes that are not closed."""
    poses: Mapping[int, Pose2D] = field(default_factory=dict)
    """The pose of each node that has one."""
    position: Pose2D | None = None
    looked: frozenset[int] = frozenset()
    """Closed nodes."""

    def metres_to(self, node_id: int) -> float:
        """Return the metres from the position to a node; 0 if either has no pose."""
        pose, own = self.poses.get(node_id), self.position
        return math.hypot(own.x - pose.x, own.y - pose.y) if pose and own else 0.0


class Proposer(Protocol):
    """Proposes the next action as JSON, which is parsed and checked for every proposer."""

    name: str

    def propose(self, belief: BeliefState, around: Surroundings) -> str:
        """Return a hypothesis as JSON."""
        ...


Verifier: TypeAlias = Callable[[Hypothesis, BeliefState, Surroundings], str | None]
"""Returns ``None`` to accept a schema-valid hypothesis, else the code of its rejection."""


class RuleProposer:
    """Propose by rules: stop if over, approach a visible target, go to a candidate, or explore."""

    name = "rules"

    def propose(self, belief: BeliefState, around: Surroundings) -> str:
        status = belief["target_status"]
        if status in ("done", "unreachable"):
            return _hypothesis("stop", 1.0, f"the search is over: {status}")
        if status == "visible":
            seen_at = f"seen at node {belief['last_seen_node_id']}"
            pose = {"distance": 0.5, "angle": 0.0, "standoff": 0.5}
            return _hypothesis("approach", 1.0, seen_at, status="visible", pose_relative=pose)
        for candidate in belief["candidate_nodes"]:
            if candidate["score"] > 0:
                return go_to(candidate["node_id"], candidate["score"], "the best candidate")
        return _hypothesis("explore", 0.0, "no candidate")


def parse_proposal(text: str) -> tuple[Hypothesis | None, str | None]:
    """Return the hypothesis and ``None``, or ``None`` and an error code."""
    try:
        value: Hypothesis = json.loads(text)
    except (ValueError, RecursionError):
        return None, INVALID_JSON
    return (value, None) if find_problem(value, "hypothesis") is None else (None, INVALID_SCHEMA)


def target_of(hypothesis: Hypothesis) -> int | None:
    """Return the node of a ``goto_node`` hypothesis; ``None`` for other actions."""
    goal = hypothesis.get("goal")
    if hypothesis["action"] != "goto_node" or goal is None:
        return None
    node_id = goal["node_id"]
    return node_id if isinstance(node_id, int) else None


def go_to(node_id: int, confidence: float, rationale: str) -> str:
    """Return a ``goto_node`` hypothesis as JSON."""
    goal = {"type": "node_id", "node_id": node_id}
    return _hypothesis("goto_node", confidence, rationale, goal=goal)


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


def verify(hypothesis: Hypothesis, belief: BeliefState, around: Surroundings) -> str | None:
    """Return the code of why status or node forbid a hypothesis; ``None`` if it is allowed."""
    status, action = belief["target_status"], hypothesis["action"]
    if status in FINAL:
        return None if action == "stop" else "SEARCH_IS_OVER"
    if action == "stop":
        return "NOT_FINISHED"
    if action == "approach":
        return None if status == "visible" else "NOT_VISIBLE"
    node_id = target_of(hypothesis)
    if node_id is None:
        return None
    if node_id in around.looked:
        return f"ALREADY_LOOKED:{node_id}"
    return None if node_id in around.open_nodes else f"UNKNOWN_NODE:{node_id}"


class StepRecord(TypedDict):
    """One line of the log; of nodes it holds ids and scores only."""

    event: str
    step: int
    retrieval_ran: bool
    retrieval_topk: list[NodeCandidate]
    retrieval_best_score: float | None
    retrieval_threshold: float
    retrieval_threshold_pass: bool
    exhausted: bool
    proposer: str
    proposal: str
    verifier: str
    rejection_reason: str | None
    target_status: str
    next_action: str
    next_node_id: int | None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Retrieved candidates, and the least score that makes one likely."""

    candidates: Sequence[NodeCandidate]
    threshold: float


def take_step(
    before: BeliefState,
    retrieval: Retrieval,
    around: Surroundings,
    *,
    proposer: Proposer,
    verifier: Verifier,
    step: int,
) -> tuple[BeliefState, StepRecord]:
    """Return the belief after one step, and its record; ``before`` is left as it is."""
    belief = copy.deepcopy(before)
    if is_exhausted := _is_exhausted(belief, retrieval, around):
        exhaust_candidates(belief, is_anything_left=bool(around.open_nodes))
    apply_memory_retrieval(belief, retrieval.candidates, retrieval.threshold)
    proposal, verdict = _decide(belief, around, proposer, verifier)
    return belief, StepRecord(
        event="step",
        step=step,
        retrieval_ran=bool(goal_words(belief["goal_text"])),
        retrieval_topk=list(belief["candidate_nodes"]),
        retrieval_best_score=max((c["score"] for c in retrieval.candidates), default=None),
        retrieval_threshold=retrieval.threshold,
        retrieval_threshold_pass=passes(retrieval.candidates, retrieval.threshold),
        exhausted=is_exhausted,
        proposer=proposer.name,
        proposal=proposal,
        verifier=verdict,
        rejection_reason=belief["rejection_reason"],
        target_status=belief["target_status"],
        next_action=belief["next_action"],
        next_node_id=next_node(belief, around),
    )


def next_node(belief: BeliefState, around: Surroundings) -> int | None:
    """Return the node of the next action; to explore, the nearest open node.

    Ties in distance go to the lowest id.
    """
    action, hypothesis = belief["next_action"], belief["last_vlm_hypothesis"]
    if action == "goto_node" and hypothesis is not None:
        return target_of(hypothesis)
    if action == "approach":
        return belief["last_seen_node_id"]
    if action != "explore":
        return None
    return min(sorted(around.open_nodes), key=around.metres_to, default=None)


def _decide(
    belief: BeliefState, around: Surroundings, proposer: Proposer, verifier: Verifier
) -> tuple[str, str]:
    """Set hypothesis, rejection and next action in place; return proposal and verifier codes."""
    fallback: SearchAction = "stop" if belief["target_status"] in FINAL else "explore"
    hypothesis, code = parse_proposal(proposer.propose(belief, around))
    belief["last_vlm_hypothesis"] = hypothesis
    belief["rejection_reason"] = code
    belief["next_action"] = fallback
    if hypothesis is None:
        return str(code), SKIPPED
    verdict = verifier(hypothesis, belief, around)
    belief["rejection_reason"] = verdict[:120] if verdict else None
    if verdict is None:
        belief["next_action"] = hypothesis["action"]
    return "VALID", verdict or OK


def _is_exhausted(belief: BeliefState, retrieval: Retrieval, around: Surroundings) -> bool:
    """Whether all likely nodes have been looked at; falling scores alone exhaust nothing."""
    status = belief["target_status"]
    if status in FINAL:
        return False
    if status == "visible":
        return belief["last_seen_node_id"] in around.looked
    if not around.open_nodes:
        return True
    if status == "searching" or passes(retrieval.candidates, retrieval.threshold):
        return False
    found = [c for c in belief["candidate_nodes"] if c["score"] >= retrieval.threshold]
    likely = {candidate["node_id"] for candidate in found}
    return bool(likely) and likely <= around.looked


# --- Self-check ---

_BROKEN, _SOUND = "the bag is {", go_to(1, 0.5, "")


@dataclass
class _Fixed:
    text: str
    name: str = "fixed"

    def propose(self, belief: BeliefState, around: Surroundings) -> str:
        return self.text


def _check_step(
    belief: BeliefState, text: str, code: str | None = None
) -> tuple[BeliefState, StepRecord]:
    around, proposer = Surroundings(frozenset({0, 1})), _Fixed(text)
    retrieval = Retrieval([], 0.5)
    return take_step(belief, retrieval, around, proposer=proposer, verifier=lambda *_: code, step=1)


def run_checks() -> dict[str, bool]:
    """Return whether each invariant of the loop holds, by its description."""
    visible = new_belief("red backpack")
    visible["target_status"] = "visible"
    kept, record = _check_step(visible, _BROKEN)
    steps = (_BROKEN, None), ("{}", None), (_SOUND, "COLLISION"), (_SOUND, None)
    belief, reasons, actions = new_belief("red backpack"), list[str | None](), list[str]()
    for text, code in steps:
        belief, _ = _check_step(belief, text, code)
        reasons.append(belief["rejection_reason"])
        actions.append(belief["next_action"])
    return {
        "a visible target stays visible when verification is skipped": (
            record["verifier"] == SKIPPED and kept["target_status"] == "visible"
        ),
        "the reason of a rejection is set and cleared by its cause": (
            reasons == [INVALID_JSON, INVALID_SCHEMA, "COLLISION", None]
        ),
        "the next action comes from verified proposals alone": (
            actions == ["explore", "explore", "explore", "goto_node"]
        ),
    }


if __name__ == "__main__":
    results = run_checks()
    for what, is_fine in results.items():
        print(f"[{'PASS' if is_fine else 'FAIL'}] {what}")
    print("all checks passed" if all(results.values()) else "a check failed")
    sys.exit(0 if all(results.values()) else 8)

"""One step of a search: retrieve, propose, verify, believe; a function of its arguments."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from memory_palace.navigation.belief import (
    FINAL,
    BeliefState,
    SearchAction,
    apply_memory_retrieval,
    exhaust_candidates,
    passes,
)
from memory_palace.navigation.node_ranking import NodeCandidate
from memory_palace.navigation.nodes import goal_words
from memory_palace.navigation.proposer import (
    Proposer,
    Surroundings,
    Verifier,
    is_forbidden,
    parse_proposal,
    target_of,
)

SKIPPED = "SKIPPED"
OK = "OK"


class StepRecord(TypedDict):
    """One line of the log. Of nodes it holds ids and scores, nothing else."""

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
    simulated: bool
    """Whether the status rests on a look that was simulated."""
    next_action: str
    next_node_id: int | None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What memory said, and what would count."""

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
    is_simulated: bool = False,
) -> tuple[BeliefState, StepRecord]:
    """Return the belief after one step, and its record; ``before`` is left as it is."""
    belief = copy.deepcopy(before)
    is_exhausted = _is_exhausted(belief, retrieval, around)
    if is_exhausted:
        exhaust_candidates(belief, is_anything_left=bool(around.open_nodes))
    apply_memory_retrieval(belief, retrieval.candidates, retrieval.threshold)
    proposal, verdict = _decide(belief, around, proposer, verifier)
    node_id = next_node(belief, around)
    best = max((found["score"] for found in retrieval.candidates), default=None)
    return belief, StepRecord(
        event="step",
        step=step,
        retrieval_ran=bool(goal_words(belief["goal_text"])),
        retrieval_topk=list(belief["candidate_nodes"]),
        retrieval_best_score=best,
        retrieval_threshold=retrieval.threshold,
        retrieval_threshold_pass=passes(retrieval.candidates, retrieval.threshold),
        exhausted=is_exhausted,
        proposer=proposer.name,
        proposal=proposal,
        verifier=verdict,
        rejection_reason=belief["rejection_reason"],
        target_status=belief["target_status"],
        simulated=is_simulated,
        next_action=belief["next_action"],
        next_node_id=node_id,
    )


def next_node(belief: BeliefState, around: Surroundings) -> int | None:
    """Return where the next action leads: to the goal of it, or exploring to the nearest node."""
    action, hypothesis = belief["next_action"], belief["last_vlm_hypothesis"]
    if action == "goto_node" and hypothesis is not None:
        return target_of(hypothesis)
    if action == "approach":
        return belief["last_seen_node_id"]
    if action == "explore":
        return nearest_open(belief, around)
    return None


def nearest_open(belief: BeliefState, around: Surroundings) -> int | None:
    """Return the nearest node that may be looked at; the lowest id where distance decides not."""
    allowed = [
        node_id
        for node_id in sorted(around.open_nodes)
        if not is_forbidden(node_id, belief["active_constraints"], around)
    ]
    return min(allowed, key=around.metres_to, default=None)


def _decide(
    belief: BeliefState, around: Surroundings, proposer: Proposer, verifier: Verifier
) -> tuple[str, str]:
    """Set hypothesis, reason and next action in place. A status is not a proposer's to set."""
    fallback: SearchAction = "stop" if belief["target_status"] in FINAL else "explore"
    hypothesis, code = parse_proposal(proposer.propose(belief, around))
    belief["last_vlm_hypothesis"] = hypothesis
    belief["rejection_reason"] = code
    belief["next_action"] = fallback
    if hypothesis is None:
        return str(code), SKIPPED
    verdict = verifier.verify(hypothesis, belief, around)
    belief["rejection_reason"] = verdict[:120] if verdict else None
    if verdict is None:
        belief["next_action"] = hypothesis["action"]
    return "VALID", verdict or OK


def _is_exhausted(belief: BeliefState, retrieval: Retrieval, around: Surroundings) -> bool:
    """Whether all that was likely has been looked at. A score that merely fell exhausts nothing."""
    status = belief["target_status"]
    if status in FINAL:
        return False
    if status == "visible":
        return belief["last_seen_node_id"] in around.looked
    if not around.open_nodes:
        return True
    if status == "searching" or passes(retrieval.candidates, retrieval.threshold):
        return False
    likely = {
        found["node_id"]
        for found in belief["candidate_nodes"]
        if found["score"] >= retrieval.threshold
    }
    return bool(likely) and likely <= around.looked

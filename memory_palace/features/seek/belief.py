"""The belief state of a search, and its transitions.

Retrieval and sightings only raise the status of the target, and leave a final one alone. Only
explicit events lower it: the goal changed, or all likely nodes have been looked at. Beliefs read
from or written to disk are checked against their schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Literal, NotRequired, TypeAlias, TypedDict

from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.seek.nodes import NodeCandidate, goal_words

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

SearchStatus: TypeAlias = Literal["searching", "visible", "likely_in_memory", "unreachable", "done"]
SearchAction: TypeAlias = Literal[
    "approach", "explore", "rotate", "goto_node", "ask_clarification", "stop"
]
FINAL: Final = ("done", "unreachable")
LONGEST_GOAL = 500
"""Most characters of a goal, as in the schema; a goal may be a whole question."""
STREAK = 2
"""Consecutive sightings at one node that make a target visible; one may be an error."""
PATIENCE = 3
"""Consecutive looks at a locus without a sighting that close it."""
REACH_METRES = 0.75
"""Most metres from the target at which an approach has reached it."""


class Hypothesis(TypedDict):
    """A proposed action; the schema ``hypothesis`` says which fields each action requires."""

    target_status: Literal["visible", "not_visible", "ambiguous"]
    action: SearchAction
    confidence: float
    rationale: str
    goal: NotRequired[dict[str, object]]
    pose_relative: NotRequired[dict[str, float]]
    question: NotRequired[str]


class BeliefState(TypedDict):
    """The belief as stored, logged and shown; see the schema ``belief``."""

    target_status: SearchStatus
    goal_text: str
    active_constraints: list[str]
    candidate_nodes: list[NodeCandidate]
    next_action: SearchAction
    current_node_id: int | None
    last_vlm_hypothesis: Hypothesis | None
    rejection_reason: str | None
    last_visibility: Literal["visible", "not_visible", "ambiguous"] | None
    visibility_streak: int
    last_seen_node_id: int | None
    visible_since_step: int | None


def new_belief(goal_text: str, constraints: Sequence[str] = ()) -> BeliefState:
    """Return the initial belief; raise ``UsageError`` as ``check_goal`` does."""
    return BeliefState(
        target_status="searching",
        goal_text=check_goal(goal_text),
        active_constraints=list(constraints),
        candidate_nodes=[],
        next_action="explore",
        current_node_id=None,
        last_vlm_hypothesis=None,
        rejection_reason=None,
        last_visibility=None,
        visibility_streak=0,
        last_seen_node_id=None,
        visible_since_step=None,
    )


def check_goal(goal_text: str) -> str:
    """Return the goal on one line; raise ``UsageError`` if it has no words or is too long."""
    goal = " ".join(goal_text.split())
    if not goal_words(goal):
        raise UsageError(f"the goal {goal_text!r} has no words; say what to look for")
    if len(goal) > LONGEST_GOAL:
        raise UsageError(f"the goal has {len(goal)} characters; the maximum is {LONGEST_GOAL}")
    return goal


def change_goal(belief: BeliefState, goal_text: str) -> None:
    """Reset the belief to another goal, in place; constraints and position are kept."""
    fresh = new_belief(goal_text, belief["active_constraints"])
    fresh["current_node_id"] = belief["current_node_id"]
    belief.update(fresh)


def exhaust_candidates(belief: BeliefState, *, is_anything_left: bool) -> None:
    """Update the belief, in place, after all likely nodes were not the target.

    The target is still ``searching`` where a node is left, else ``unreachable``.
    """
    if belief["target_status"] in FINAL:
        return
    belief["target_status"] = "searching" if is_anything_left else "unreachable"
    if not is_anything_left:
        belief["next_action"] = "stop"
    belief["visibility_streak"] = 0
    belief["visible_since_step"] = None


def finish(belief: BeliefState) -> None:
    """Set the status to ``done``, in place, unless the search is over already."""
    if belief["target_status"] not in FINAL:
        belief["target_status"] = "done"
        belief["next_action"] = "stop"


def see(belief: BeliefState, node_id: int, *, is_hit: bool, step: int) -> None:
    """Update the belief, in place, by one observation; a visible target stays visible."""
    if belief["target_status"] in FINAL:
        return
    belief["current_node_id"] = node_id
    belief["last_visibility"] = "visible" if is_hit else "not_visible"
    if not is_hit:
        belief["visibility_streak"] = 0
        return
    is_same_place = belief["last_seen_node_id"] == node_id
    belief["visibility_streak"] = belief["visibility_streak"] + 1 if is_same_place else 1
    belief["last_seen_node_id"] = node_id
    if belief["visibility_streak"] >= STREAK and belief["target_status"] != "visible":
        belief["target_status"] = "visible"
        belief["visible_since_step"] = step


def reach(belief: BeliefState, *, distance_metres: float, step: int) -> bool:
    """Finish if an approach came near a target that has been visible since an earlier step.

    Return whether it did.
    """
    since = belief["visible_since_step"]
    is_reached = (
        belief["target_status"] == "visible"
        and belief["next_action"] == "approach"
        and belief["last_visibility"] == "visible"
        and since is not None
        and since < step
        and 0 <= distance_metres <= REACH_METRES
    )
    if is_reached:
        finish(belief)
    return is_reached


def apply_memory_retrieval(
    belief: BeliefState, candidates: Sequence[NodeCandidate], threshold: float
) -> None:
    """Set the candidates in place, and promote ``searching`` if one reaches the threshold.

    Every other status stays, whatever the scores.
    """
    belief["candidate_nodes"] = [
        {"node_id": int(found["node_id"]), "score": float(found["score"])} for found in candidates
    ]
    if belief["target_status"] == "searching" and passes(candidates, threshold):
        belief["target_status"] = "likely_in_memory"


def passes(candidates: Sequence[NodeCandidate], threshold: float) -> bool:
    """Whether any candidate reaches the threshold; the first need not have the highest score."""
    return any(candidate["score"] >= threshold for candidate in candidates)


# --- Schemas ---


class SchemaError(PalaceError):
    """A value violates its JSON schema."""


def check_schema(value: object, name: str, *, where: str) -> None:
    """Raise ``SchemaError`` naming the place inside ``where`` that breaks the schema ``name``."""
    if problem := find_problem(value, name):
        raise SchemaError(f"{where}: {problem}")


def check_belief(belief: Mapping[str, object], *, where: str = "belief") -> None:
    """Raise ``SchemaError`` if a belief, or the hypothesis in it, violates its schema."""
    check_schema(belief, "belief", where=where)
    if (hypothesis := belief.get("last_vlm_hypothesis")) is not None:
        check_schema(hypothesis, "hypothesis", where=f"{where}: last_vlm_hypothesis")


def find_problem(value: object, name: str) -> str | None:
    """Return the first schema violation of a value with its place, or ``None``."""
    error: Any = next(_validator(name).iter_errors(value), None)
    if error is None:
        return None
    place = "".join(f"[{part}]" if type(part) is int else f".{part}" for part in error.path)
    return f"{place.lstrip('.') or 'the whole'}: {error.message[:200]}"


@cache
def _validator(name: str) -> Validator:
    from jsonschema import Draft7Validator  # delayed: 0.1 s, and only searches need it

    text = files(__package__).joinpath("schemas", f"{name}.json").read_text("utf-8")
    return Draft7Validator(json.loads(text))

"""Whether a proposed action may be taken."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from memory_palace.errors import UsageError
from memory_palace.navigation.belief import FINAL, BeliefState, Hypothesis
from memory_palace.navigation.proposer import Surroundings, target_of

_AVOID = re.compile(r"avoid (\d+)")
_WITHIN = re.compile(r"within (\d+(?:\.\d+)?)")


class Verifier(Protocol):
    """Looks at a hypothesis that fits its schema."""

    def verify(
        self, hypothesis: Hypothesis, belief: BeliefState, around: Surroundings
    ) -> str | None:
        """Return ``None`` where it may be done, else the code of what forbids it."""
        ...


class RuleVerifier:
    """Knows which nodes there are, what was looked at, and the constraints of the belief."""

    def verify(
        self, hypothesis: Hypothesis, belief: BeliefState, around: Surroundings
    ) -> str | None:
        """Return the first code that applies."""
        status = belief["target_status"]
        action = hypothesis["action"]
        if status in FINAL:
            return None if action == "stop" else "SEARCH_IS_OVER"
        if action == "stop":
            return "NOT_FINISHED"
        if action == "approach":
            return None if status == "visible" else "NOT_VISIBLE"
        node_id = target_of(hypothesis)
        return None if node_id is None else _check_node(node_id, belief, around)


def check_constraints(constraints: Sequence[str]) -> list[str]:
    """Return the constraints; raise ``UsageError`` for one that nothing would enforce."""
    for text in constraints:
        if not (_AVOID.fullmatch(text) or _WITHIN.fullmatch(text)):
            raise UsageError(f"unknown constraint {text!r}; use `avoid NODE` or `within METRES`")
    return list(constraints)


def is_forbidden(node_id: int, constraints: Sequence[str], around: Surroundings) -> str | None:
    """Return the constraint that keeps the search away from a node."""
    for text in constraints:
        avoid, within = _AVOID.fullmatch(text), _WITHIN.fullmatch(text)
        if avoid and int(avoid[1]) == node_id:
            return text
        if within and around.metres_to(node_id) > float(within[1]):
            return text
    return None


def _check_node(node_id: int, belief: BeliefState, around: Surroundings) -> str | None:
    if node_id in around.looked:
        return f"ALREADY_LOOKED:{node_id}"
    if node_id not in around.open_nodes:
        return f"UNKNOWN_NODE:{node_id}"
    constraint = is_forbidden(node_id, belief["active_constraints"], around)
    return f"CONSTRAINT:{constraint}" if constraint else None

"""``python -m memory_palace.features.seek.seek``: checks of the loop itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_palace.features.seek.belief import BeliefState, new_belief
from memory_palace.features.seek.loop import (
    INVALID_JSON,
    INVALID_SCHEMA,
    SKIPPED,
    Retrieval,
    StepRecord,
    Surroundings,
    go_to,
    take_step,
)

_BROKEN = "the bag is {"


@dataclass
class FixedProposer:
    """A proposer that says one thing."""

    text: str
    name: str = "fixed"

    def propose(self, belief: BeliefState, around: Surroundings) -> str:
        """Return the text."""
        return self.text


def _step(
    belief: BeliefState, text: str, code: str | None = None
) -> tuple[BeliefState, StepRecord]:
    around, proposer = Surroundings(frozenset({0, 1})), FixedProposer(text)
    retrieval = Retrieval([], 0.5)
    return take_step(belief, retrieval, around, proposer=proposer, verifier=lambda *_: code, step=1)


def keeps_visible() -> bool:
    """Whether a visible target stays visible where verification was skipped."""
    belief = new_belief("red backpack")
    belief["target_status"] = "visible"
    after, record = _step(belief, _BROKEN)
    return record["verifier"] == SKIPPED and after["target_status"] == "visible"


def sets_reasons() -> bool:
    """Whether the reason of a rejection is set by its cause, and cleared."""
    broken, _ = _step(new_belief("red backpack"), _BROKEN)
    off_schema, _ = _step(broken, "{}")
    refused, _ = _step(off_schema, go_to(1, 0.5, ""), "COLLISION")
    fine, _ = _step(refused, go_to(1, 0.5, ""))
    reasons = [state["rejection_reason"] for state in (broken, off_schema, refused, fine)]
    return reasons == [INVALID_JSON, INVALID_SCHEMA, "COLLISION", None]


def acts_on_verified_proposals_only() -> bool:
    """Whether the next action is the proposed one after verification, and else exploring."""
    belief = new_belief("red backpack")
    proposal = go_to(1, 0.5, "")
    steps = [_step(belief, proposal), _step(belief, proposal, "COLLISION"), _step(belief, _BROKEN)]
    return [after["next_action"] for after, _ in steps] == ["goto_node", "explore", "explore"]


CHECKS: Sequence[tuple[str, Callable[[], bool]]] = (
    ("a visible target stays visible when verification is skipped", keeps_visible),
    ("the reason of a rejection is set and cleared by its cause", sets_reasons),
    ("the next action comes from verified proposals alone", acts_on_verified_proposals_only),
)


def main() -> int:
    """Print one line per check, ``[PASS]`` or ``[FAIL]``; return 0 where every check passed."""
    results = {what: check() for what, check in CHECKS}
    lines = [f"[{'PASS' if is_fine else 'FAIL'}] {what}" for what, is_fine in results.items()]
    is_fine = all(results.values())
    sys.stdout.write("\n".join([*lines, "all checks passed" if is_fine else "a check failed", ""]))
    return 0 if is_fine else 8


if __name__ == "__main__":
    sys.exit(main())

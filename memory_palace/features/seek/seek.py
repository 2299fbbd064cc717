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

_BROKEN, _SOUND = "the bag is {", go_to(1, 0.5, "")


@dataclass
class FixedProposer:
    """A proposer that says one thing."""

    text: str
    name: str = "fixed"

    def propose(self, belief: BeliefState, around: Surroundings) -> str:
        return self.text


def _step(
    belief: BeliefState, text: str, code: str | None = None
) -> tuple[BeliefState, StepRecord]:
    around, proposer = Surroundings(frozenset({0, 1})), FixedProposer(text)
    retrieval = Retrieval([], 0.5)
    return take_step(belief, retrieval, around, proposer=proposer, verifier=lambda *_: code, step=1)


def _keeps_visible() -> bool:
    belief = new_belief("red backpack")
    belief["target_status"] = "visible"
    after, record = _step(belief, _BROKEN)
    return record["verifier"] == SKIPPED and after["target_status"] == "visible"


def _sets_reasons() -> bool:
    belief, reasons = new_belief("red backpack"), []
    for text, code in ((_BROKEN, None), ("{}", None), (_SOUND, "COLLISION"), (_SOUND, None)):
        belief, _ = _step(belief, text, code)
        reasons.append(belief["rejection_reason"])
    return reasons == [INVALID_JSON, INVALID_SCHEMA, "COLLISION", None]


def _acts_on_verified_proposals_only() -> bool:
    steps = (_SOUND, None), (_SOUND, "COLLISION"), (_BROKEN, None)
    actions = [_step(new_belief("red backpack"), *each)[0]["next_action"] for each in steps]
    return actions == ["goto_node", "explore", "explore"]


CHECKS: Sequence[tuple[str, Callable[[], bool]]] = (
    ("a visible target stays visible when verification is skipped", _keeps_visible),
    ("the reason of a rejection is set and cleared by its cause", _sets_reasons),
    ("the next action comes from verified proposals alone", _acts_on_verified_proposals_only),
)


if __name__ == "__main__":
    results = {what: check() for what, check in CHECKS}
    for what, is_fine in results.items():
        print(f"[{'PASS' if is_fine else 'FAIL'}] {what}")
    print("all checks passed" if all(results.values()) else "a check failed")
    sys.exit(0 if all(results.values()) else 8)

"""``python -m memory_palace.features.seek.seek``: checks of the loop itself."""

from __future__ import annotations

import sys
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


def run_checks() -> dict[str, bool]:
    """Return whether each law of the loop holds, by its words."""
    visible = new_belief("red backpack")
    visible["target_status"] = "visible"
    kept, record = _step(visible, _BROKEN)
    steps = (_BROKEN, None), ("{}", None), (_SOUND, "COLLISION"), (_SOUND, None)
    belief, reasons, actions = new_belief("red backpack"), list[str | None](), list[str]()
    for text, code in steps:
        belief, _ = _step(belief, text, code)
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

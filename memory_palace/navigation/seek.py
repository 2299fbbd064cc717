"""``python -m memory_palace.navigation.seek``: checks of the loop itself, and a rehearsal."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence

from memory_palace.embedding.base import Embedder
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.navigation.belief import BeliefState, Hypothesis, new_belief
from memory_palace.navigation.calibration import calibrate
from memory_palace.navigation.demo import RandomProposer, RandomVerifier, demo_store
from memory_palace.navigation.loop import SKIPPED, Retrieval, StepRecord, take_step
from memory_palace.navigation.node_ranking import Narrowing, retrieve_candidates, score_threshold
from memory_palace.navigation.nodes import Pose2D
from memory_palace.navigation.perception import NoisyPerception
from memory_palace.navigation.proposer import (
    INVALID_JSON,
    INVALID_SCHEMA,
    RuleProposer,
    Surroundings,
    go_to,
)
from memory_palace.navigation.rehearsal import Rehearsal

_BROKEN = "the bag is {"


class FixedPlayer:
    """A proposer that says one thing, and a verifier that finds one."""

    name = "fixed"

    def __init__(self, text: str, code: str | None) -> None:
        self._text, self._code = text, code

    def propose(self, belief: BeliefState, around: Surroundings) -> str:
        """Return the text."""
        return self._text

    def verify(
        self, hypothesis: Hypothesis, belief: BeliefState, around: Surroundings
    ) -> str | None:
        """Return the code."""
        return self._code


def _step(
    belief: BeliefState, text: str, code: str | None = None
) -> tuple[BeliefState, StepRecord]:
    around, player = Surroundings(frozenset({0, 1})), FixedPlayer(text, code)
    return take_step(belief, Retrieval([], 0.5), around, proposer=player, verifier=player, step=1)


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


def self_check() -> list[str]:
    """Return one line per check, ``[PASS]`` or ``[FAIL]``."""
    return [f"[{'PASS' if check() else 'FAIL'}] {what}" for what, check in CHECKS]


def rehearse(goal: str, *, steps: int, seed: int, embedder: Embedder) -> list[str]:
    """Search the demo flat with a proposer, a verifier and eyes that err; one line a step."""
    store = demo_store()
    null = calibrate(embedder)
    poses = {node.node_id: node.pose for node in store.nodes}
    source = random.Random(seed)
    run = Rehearsal(
        new_belief(goal),
        poses,
        lambda looked: retrieve_candidates(goal, store, embedder, narrowing=Narrowing(looked)),
        score_threshold(null, len(poses)),
        NoisyPerception(source.choice(sorted(poses)), source),
        Pose2D(0.0, 0.0),
    )
    proposer, verifier = RandomProposer(seed), RandomVerifier(seed + 1)
    lines: list[str] = []
    while len(run.records) < steps:
        over = run.belief["target_status"] in ("done", "unreachable")
        record = run.step(RuleProposer() if over else proposer, verifier)
        lines.append(
            f"Step {record['step']}: proposal={record['proposal']} | verifier="
            f"{record['verifier']} | state={run.belief['target_status']}"
        )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the shell; 0 where every check passed."""
    parser = argparse.ArgumentParser(prog="python -m memory_palace.navigation.seek")
    parser.add_argument("--self-check", action="store_true", help="check the loop and stop")
    parser.add_argument("--steps", type=int, default=20, help="steps of the rehearsal")
    parser.add_argument("--seed", type=int, default=42, help="of everything random")
    parser.add_argument("--goal", default="towels after a bath", help="what is looked for")
    given = parser.parse_args(arguments)
    if given.self_check:
        lines = self_check()
        is_fine = all(line.startswith("[PASS]") for line in lines)
        lines.append("all checks passed" if is_fine else "a check failed")
    else:
        is_fine = True
        lines = rehearse(given.goal, steps=given.steps, seed=given.seed, embedder=HashingEmbedder())
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if is_fine else 8


if __name__ == "__main__":
    sys.exit(main())

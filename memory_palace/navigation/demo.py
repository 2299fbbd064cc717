"""Five rooms for trying a search without a palace, and chance-driven parts to rehearse errors."""

from __future__ import annotations

import json
import random

from memory_palace.navigation.belief import FINAL, BeliefState, Hypothesis
from memory_palace.navigation.nodes import MemoryNode, Pose2D
from memory_palace.navigation.proposer import RuleProposer, Surroundings
from memory_palace.navigation.shelves import NodeStore

_ROOMS = (
    ("kitchen", 1.0, 4.0, 0.0, "Cupboards, a stove, and mugs on a tray", ("kitchen", "stove")),
    ("living room", 5.0, 4.0, 1.6, "Sofa and a low table with magazines", ("sofa", "television")),
    ("hallway", 3.0, 1.0, 0.0, "Long passage, umbrellas in a stand", ("hallway", "umbrella")),
    ("bedroom", 8.0, 6.0, -1.6, "Bed under the window, wardrobe ajar", ("bedroom", "wardrobe")),
    ("bathroom", 2.0, 7.0, 3.1, "Tiled, with a tub and a heated rail", ("bathroom", "towels")),
)


def demo_store() -> NodeStore:
    """Return five rooms of a flat, ids 0 to 4."""
    return NodeStore(
        MemoryNode(number, Pose2D(x, y, yaw), None, (name, *tags), summary)
        for number, (name, x, y, yaw, summary, tags) in enumerate(_ROOMS)
    )


class RandomProposer:
    """As the source document's model: 70 in 100 valid, 20 off the schema, 10 no JSON at all."""

    name = "random"

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._rules = RuleProposer()

    def propose(self, belief: BeliefState, around: Surroundings) -> str:
        """Return the rules' proposal, sometimes broken."""
        draw = self._random.random()
        if draw < 0.1:
            return "I think it is in the kitchen {"
        if draw < 0.3:
            return json.dumps({"action": "fly", "confidence": 2})
        return self._rules.propose(belief, around)


class RandomVerifier:
    """As the source document's planner: 80 in 100 fine, 10 collisions, 10 constraints."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def verify(
        self, hypothesis: Hypothesis, belief: BeliefState, around: Surroundings
    ) -> str | None:
        """Return a code now and then; a search that is over may always stop."""
        draw = self._random.random()
        if belief["target_status"] in FINAL or draw < 0.8:
            return None
        return "COLLISION" if draw < 0.9 else "CONSTRAINT"

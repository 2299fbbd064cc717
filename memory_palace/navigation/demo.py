"""Five rooms for trying a search without a palace."""

from __future__ import annotations

from memory_palace.navigation.nodes import MemoryNode, Pose2D
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

"""What retrieving candidates costs beyond embedding, beside the bare product."""

from __future__ import annotations

import random
from itertools import accumulate

from memory_palace.bench.seeking import SEED
from memory_palace.bench.timing import Measured, time_calls
from memory_palace.embedding.base import embed_query
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.navigation.node_ranking import search_shelf
from memory_palace.navigation.nodes import MemoryNode, Pose2D
from memory_palace.navigation.shelves import NodeStore

_VOCABULARY, _WORDS, _RUNS = 20_000, 12, 40


def measure_retrieval(count: int, *, seed: int = SEED) -> Measured:
    """Search ``count`` nodes of generated words, and multiply the same matrix.

    The n-th word is n times as rare as the first, which stands in two of three nodes; the goal has
    the first, a common and a rare one.
    """
    source = random.Random(seed)
    words = [f"w{number}" for number in range(1, _VOCABULARY + 1)]
    weights = list(accumulate(1 / number for number in range(1, _VOCABULARY + 1)))
    nodes = (
        MemoryNode(
            number,
            Pose2D(0.0, 0.0),
            None,
            (),
            " ".join(source.choices(words, cum_weights=weights, k=_WORDS)),
        )
        for number in range(count)
    )
    embedder = HashingEmbedder()
    shelf = NodeStore(nodes).shelve(embedder)
    goal = "w1 w17 w4711"
    vector = embed_query(embedder, goal)
    ours, plain = time_calls(
        lambda: search_shelf(goal, vector, shelf, 5), lambda: shelf.cosines(vector), runs=_RUNS
    )
    what = f"candidates among {count:,} nodes, median"
    return Measured(what, ours, "ms", "the matrix product", plain, limit=3)

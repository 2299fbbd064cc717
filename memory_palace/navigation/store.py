"""Nodes in memory, by id, with the matrix and the word lists they are searched by."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.base import Embedder
from memory_palace.errors import UsageError, WrongEmbedderError
from memory_palace.models import Matrix, Scores, Vector
from memory_palace.navigation.locus import MemoryNode, Pose2D
from memory_palace.navigation.words import node_words


class NodeStore:
    """Nodes by id. Ids are given out in order where none is asked for."""

    def __init__(self, nodes: Iterable[MemoryNode] = ()) -> None:
        self._nodes: dict[int, MemoryNode] = {}
        self._shelves: dict[str, NodeShelf] = {}
        for node in nodes:
            self.add(node)

    def __len__(self) -> int:
        return len(self._nodes)

    def add(self, node: MemoryNode) -> int:
        """Keep a node and return its id; raise ``UsageError`` where the id is taken."""
        if node.node_id in self._nodes:
            raise UsageError(f"there are two nodes with id {node.node_id}; give one another id")
        self._nodes[node.node_id] = node
        self._shelves.clear()
        return node.node_id

    def add_node(
        self,
        pose: Pose2D,
        embedding: Sequence[float] | None = None,
        tags: Sequence[str] = (),
        summary: str = "",
    ) -> int:
        """Keep a new node under the next free id and return that."""
        vector = tuple(embedding) if embedding is not None else None
        next_id = max(self._nodes, default=-1) + 1
        return self.add(MemoryNode(next_id, pose, vector, tuple(tags), summary))

    def get_node(self, node_id: int) -> MemoryNode | None:
        """Return a node, or ``None``."""
        return self._nodes.get(node_id)

    def all_nodes(self) -> list[MemoryNode]:
        """Return the nodes in the order of their ids."""
        return [self._nodes[key] for key in sorted(self._nodes)]

    def shelve(self, embedder: Embedder) -> NodeShelf:
        """Return what the nodes are searched by; made once for each embedder."""
        key = embedder.fingerprint
        if key not in self._shelves:
            self._shelves[key] = NodeShelf(self.all_nodes(), embedder)
        return self._shelves[key]


class NodeShelf:
    """Vectors and word lists of nodes, row by row in the order of their ids."""

    def __init__(self, nodes: Sequence[MemoryNode], embedder: Embedder) -> None:
        self._nodes = nodes
        self.ids: NDArray[np.int64] = np.array([node.node_id for node in nodes], np.int64)
        self.vectors = _vectors_of(nodes, embedder)

    @property
    def compared(self) -> int:
        """How many vectors a goal is compared with."""
        return len(self._nodes)

    def cosines(self, vector: Vector) -> Scores:
        """Return the cosine of each node with a unit vector."""
        found: Scores = self.vectors @ vector
        return found

    def word_shares(self, words: Collection[str]) -> Scores:
        """Return for each node the share of the words that it has."""
        shares: Scores = np.zeros(len(self._nodes), np.float32)
        for word in words:
            rows = self._postings.get(word)
            if rows is not None:
                shares[rows] += 1
        return shares / np.float32(max(len(words), 1))

    @cached_property
    def places(self) -> NDArray[np.float64]:
        """Where each node is, shape ``(nodes, 2)``, metres."""
        found = np.array([(node.pose.x, node.pose.y) for node in self._nodes], np.float64)
        return found.reshape(-1, 2)

    @cached_property
    def seen_at(self) -> NDArray[np.float64]:
        """When each node was last seen; NaN where that is not known."""
        times = [np.nan if node.seen_at is None else node.seen_at for node in self._nodes]
        return np.array(times, np.float64)

    @cached_property
    def _postings(self) -> dict[str, NDArray[np.int64]]:
        lists: dict[str, list[int]] = {}
        for row, node in enumerate(self._nodes):
            for word in node_words(node.text):
                lists.setdefault(word, []).append(row)
        return {word: np.array(rows, np.int64) for word, rows in lists.items()}


def _vectors_of(nodes: Sequence[MemoryNode], embedder: Embedder) -> Matrix:
    """Return one unit vector per node, those of nodes that bring none embedded together."""
    vectors: Matrix = np.zeros((len(nodes), embedder.dimension), np.float32)
    bare = [row for row, node in enumerate(nodes) if node.embedding is None]
    if bare:
        vectors[bare] = embedder.embed_passages([nodes[row].text for row in bare])
    for row, node in enumerate(nodes):
        if node.embedding is not None:
            check_dimension(node, embedder.dimension)
            given = np.array(node.embedding, np.float64)
            vectors[row] = given / np.linalg.norm(given)
    return vectors


def check_dimension(node: MemoryNode, dimension: int) -> None:
    """Raise ``WrongEmbedderError`` for an embedding that cannot be of this embedder.

    Taken for a cosine of 0, as in the source document, it would count as half a match.
    """
    if node.embedding is not None and len(node.embedding) != dimension:
        raise WrongEmbedderError(
            f"node {node.node_id} has an embedding of {len(node.embedding)} numbers, the embedder "
            f"makes {dimension}; leave the embedding out, and the node's text is embedded"
        )

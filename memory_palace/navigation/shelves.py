"""What is searched for a goal: nodes in memory, or notes of an index, under ids that ascend."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.base import Embedder
from memory_palace.errors import UsageError
from memory_palace.index.lookup import PostingLookup
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix, Scores, Vector
from memory_palace.navigation.nodes import MemoryNode, Pose2D, check_dimension, node_words

_FIELDS = ("words", "extras")


class Shelf(Protocol):
    """What can be searched for candidates: nodes of a store, or notes of a palace."""

    @property
    def ids(self) -> NDArray[np.int64]:
        """Ids, ascending; every array below has one value for each."""
        ...

    @property
    def compared(self) -> int:
        """How many vectors a goal is compared with."""
        ...

    @property
    def places(self) -> NDArray[np.float64]:
        """Metres, shape ``(ids, 2)``; NaN for what has no place."""
        ...

    @property
    def seen_at(self) -> NDArray[np.float64]:
        """Seconds since the epoch; NaN where not known."""
        ...

    def cosines(self, vector: Vector) -> Scores:
        """Return cosines with a unit vector."""
        ...

    def word_shares(self, words: Collection[str]) -> Scores:
        """Return the share of the words that each has."""
        ...


class NoteShelf:
    """Some notes of a snapshot under ids, ascending, with a place where they have one."""

    def __init__(self, snapshot: Snapshot, notes: Sequence[int], ids: Sequence[int]) -> None:
        """Shelve ``notes``, places in the snapshot, under ``ids``, one for each and ascending."""
        self._snapshot = snapshot
        self._notes = np.array(notes, np.int64)
        self.ids: NDArray[np.int64] = np.array(ids, np.int64)
        self.places: NDArray[np.float64] = np.full((len(ids), 2), np.nan)
        self.seen_at: NDArray[np.float64] = snapshot.dates[self._notes].astype(np.float64)
        slot = np.full(len(snapshot.paths) + 1, -1, np.int64)  # the last is for dead rows
        slot[self._notes] = np.arange(len(self._notes))
        self._row_slot = slot[snapshot.row_note]
        self._rows = np.flatnonzero(self._row_slot >= 0)

    @classmethod
    def of_all(cls, snapshot: Snapshot) -> NoteShelf:
        """Shelve every note that may be shown, its id being its place in the snapshot."""
        notes = np.flatnonzero(~snapshot.private & ~snapshot.cold).tolist()
        return cls(snapshot, notes, notes)

    @classmethod
    def of_loci(cls, snapshot: Snapshot, nodes: Mapping[str, MemoryNode]) -> NoteShelf:
        """Shelve the notes that are loci, by path, under the ids of their nodes.

        A locus that is not in the index is not on the shelf.
        """
        place = {path: number for number, path in enumerate(snapshot.paths)}
        known = sorted((node.node_id, path) for path, node in nodes.items() if path in place)
        shelf = cls(snapshot, [place[path] for _, path in known], [number for number, _ in known])
        for row, (_, path) in enumerate(known):
            shelf.places[row] = nodes[path].pose.x, nodes[path].pose.y
        return shelf

    @property
    def compared(self) -> int:
        """How many passages a goal is compared with."""
        return len(self._rows)

    def cosines(self, vector: Vector) -> Scores:
        """Return the best cosine among each note's passages, 0 for a note without text."""
        best: Scores = np.full(len(self.ids), -np.inf, np.float32)
        found = self._snapshot.similarities(vector)[self._rows]
        np.maximum.at(best, self._row_slot[self._rows], found)
        best[np.isneginf(best)] = 0.0
        return best

    def word_shares(self, words: Collection[str]) -> Scores:
        """Return for each note the share of the words that any of its passages has."""
        shares: Scores = np.zeros(len(self.ids), np.float32)
        lists = [PostingLookup(self._snapshot, field) for field in _FIELDS]
        for word in words:
            rows = np.concatenate([found.find(word)[0] for found in lists])
            slots = self._row_slot[rows]
            is_here = np.zeros(len(self.ids), np.bool_)
            is_here[slots[slots >= 0]] = True
            shares += is_here
        return shares / np.float32(max(len(words), 1))


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

"""What is searched for a goal: nodes in memory, or notes of an index, under ids that ascend."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.base import Embedder
from memory_palace.errors import UsageError
from memory_palace.index.postings import PostingLookup
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix, Scores, Vector
from memory_palace.navigation.nodes import MemoryNode, check_dimension, node_words

_FIELDS = ("words", "extras")
_NOWHERE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Shelf:
    """Things to search, in the order of their ids; every array has one value for each."""

    ids: NDArray[np.int64]
    places: NDArray[np.float64]
    """Metres, shape ``(ids, 2)``; NaN for what has no place."""
    seen_at: NDArray[np.float64]
    """Seconds since the epoch; NaN where not known."""
    compared: int
    """How many vectors a goal is compared with."""
    cosines: Callable[[Vector], Scores]
    """Cosines with a unit vector."""
    holders: Callable[[str], NDArray[np.int64]]
    """Positions of what holds a word, each once."""

    def word_shares(self, words: Collection[str]) -> Scores:
        """Return the share of the words that each holds."""
        shares: Scores = np.zeros(len(self.ids), np.float32)
        for word in words:
            shares[self.holders(word)] += 1
        return shares / np.float32(max(len(words), 1))


def shelve_notes(
    snapshot: Snapshot, notes: Sequence[int], ids: Sequence[int] | None = None
) -> Shelf:
    """Shelve notes of an index, each by its best passage and by all its words.

    ``notes`` are places in the snapshot, and their own ids where none are given, ascending.
    """
    chosen = np.array(notes, np.int64)
    slots = np.full(len(snapshot.paths) + 1, -1, np.int64)  # the last is for dead rows
    slots[chosen] = np.arange(len(chosen))
    row_slots = slots[snapshot.row_note]
    rows = np.flatnonzero(row_slots >= 0)
    lookups = [PostingLookup(snapshot, field) for field in _FIELDS]

    def cosines(vector: Vector) -> Scores:
        best: Scores = np.full(len(chosen), -np.inf, np.float32)
        np.maximum.at(best, row_slots[rows], snapshot.similarities(vector)[rows])
        best[np.isneginf(best)] = 0.0  # a note without text
        return best

    def holders(word: str) -> NDArray[np.int64]:
        held = row_slots[np.concatenate([lookup.find(word)[0] for lookup in lookups])]
        return np.unique(held[held >= 0])

    return Shelf(
        chosen if ids is None else np.array(ids, np.int64),
        np.full((len(chosen), 2), np.nan),
        snapshot.dates[chosen].astype(np.float64),
        len(rows),
        cosines,
        holders,
    )


def shelve_loci(snapshot: Snapshot, nodes: Mapping[str, MemoryNode]) -> Shelf:
    """Shelve the notes that are loci, by path; one that is not in the index is left out."""
    place = {path: number for number, path in enumerate(snapshot.paths)}
    known = sorted((node.node_id, path) for path, node in nodes.items() if path in place)
    shelf = shelve_notes(snapshot, [place[path] for _, path in known], [node for node, _ in known])
    for row, (_, path) in enumerate(known):
        shelf.places[row] = nodes[path].pose.x, nodes[path].pose.y
    return shelf


class NodeStore:
    """Nodes in memory by id; what they are searched by is made once for each embedder."""

    def __init__(self, nodes: Iterable[MemoryNode] = ()) -> None:
        """Keep nodes; raise ``UsageError`` where two have one id."""
        self.nodes = sorted(nodes, key=lambda node: node.node_id)
        self._shelves: dict[str, Shelf] = {}
        for one, other in pairwise(self.nodes):
            if one.node_id == other.node_id:
                raise UsageError(f"two nodes have id {one.node_id}; give one another id")

    def shelve(self, embedder: Embedder) -> Shelf:
        """Return what the nodes are searched by."""
        key = embedder.fingerprint
        if key not in self._shelves:
            self._shelves[key] = _shelve_nodes(self.nodes, embedder)
        return self._shelves[key]


def _shelve_nodes(nodes: Sequence[MemoryNode], embedder: Embedder) -> Shelf:
    vectors = _vectors_of(nodes, embedder)
    postings: dict[str, list[int]] = {}
    for row, node in enumerate(nodes):
        for word in node_words(node.text):
            postings.setdefault(word, []).append(row)
    held = {word: np.array(rows, np.int64) for word, rows in postings.items()}
    places = np.array([(node.pose.x, node.pose.y) for node in nodes], np.float64)
    times = [np.nan if node.seen_at is None else node.seen_at for node in nodes]
    return Shelf(
        np.array([node.node_id for node in nodes], np.int64),
        places.reshape(-1, 2),
        np.array(times, np.float64),
        len(nodes),
        lambda vector: vectors @ vector,
        lambda word: held.get(word, _NOWHERE),
    )


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

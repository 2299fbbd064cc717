"""Notes of an index as something to search: each by its best passage, and by all its words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.lookup import PostingLookup
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Scores, Vector
from memory_palace.navigation.locus import MemoryNode

_FIELDS = ("words", "extras")


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

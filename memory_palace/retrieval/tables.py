"""Facts and words of a snapshot, as the signals of structure ask for them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_palace.facts.fact import FactKind
from memory_palace.index.lookup import PostingLookup
from memory_palace.index.snapshot import Snapshot

Rows = NDArray[np.int64]
"""Rows of a snapshot, ascending, each once."""


class FactRows:
    """Finds rows by fact; what was found is kept for the other signals."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._lookup = PostingLookup(snapshot, "facts")
        self._found: dict[tuple[str, str], Rows] = {}

    def find(self, kind: str, key: str, /) -> Rows:
        """Return the live rows that hold a fact, ascending."""
        if (kind, key) not in self._found:
            self._found[kind, key] = self._lookup.find(kind, key)[0]
        return self._found[kind, key]

    def document_frequency(self, kind: str, key: str, /) -> int:
        """Return how many rows hold a fact, those in the cold zone aside."""
        rows = self.find(kind, key)
        return int(np.count_nonzero(~self._is_cold[rows])) if len(rows) else 0

    def __contains__(self, entity: object) -> bool:
        """Say whether some passage names an entity."""
        return isinstance(entity, str) and len(self.find(FactKind.ENTITY, entity)) > 0

    @cached_property
    def _is_cold(self) -> NDArray[np.bool_]:
        cold = np.append(self._snapshot.cold, True)  # the place after the last is for dead rows
        rows: NDArray[np.bool_] = cold[self._snapshot.row_note]
        return rows


class WordRows:
    """Finds rows by word."""

    def __init__(self, lookup: PostingLookup) -> None:
        self._lookup = lookup

    def rows(self, word: str, /) -> Rows:
        """Return the live rows whose passage holds a word, ascending."""
        return self._lookup.find(word)[0]

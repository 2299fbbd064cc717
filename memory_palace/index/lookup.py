"""Postings of a whole snapshot: rows that hold a key, over all segments, dead rows left out."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.postings import fact_term, hash_key
from memory_palace.index.snapshot import Snapshot

Rows = NDArray[np.int64]
Counts = NDArray[np.float64]
Array = NDArray[np.integer]
_NO_ROWS: Rows = np.zeros(0, np.int64)


def find_sorted(ordered: Array, wanted: Array) -> tuple[Rows, NDArray[np.bool_]]:
    """Return where each wanted value stands in an ascending array, and whether it does."""
    places = np.searchsorted(ordered, wanted)
    is_there = np.zeros(len(wanted), np.bool_)
    inside = places < len(ordered)
    is_there[inside] = ordered[places[inside]] == wanted[inside]
    return places, is_there


class PostingLookup:
    """Finds live rows by term in one field. Cold rows are found, and counted in no frequency."""

    def __init__(self, snapshot: Snapshot, field: str) -> None:
        self._snapshot = snapshot
        self._field = field
        self._rows: dict[tuple[str, ...], Rows] = {}

    def find(self, *parts: str) -> tuple[Rows, Counts]:
        """Return the live rows that hold a term, ascending, and how often each does.

        A fact is found by its kind and its key.
        """
        key = hash_key(parts[0] if len(parts) == 1 else fact_term(*parts))
        rows: list[Rows] = [np.zeros(0, np.int64)]
        counts: list[Counts] = [np.zeros(0)]
        snapshot = self._snapshot
        for segment, start in zip(snapshot.segments, snapshot.row_starts.tolist(), strict=False):
            found, often = segment.find(self._field, key)
            if len(found):
                rows.append(found.astype(np.int64) + start)
                counts.append(often.astype(np.float64))
        all_rows, all_counts = np.concatenate(rows), np.concatenate(counts)
        is_live = snapshot.row_note[all_rows] >= 0
        return all_rows[is_live], all_counts[is_live]

    def rows(self, *parts: str) -> Rows:
        """Return the live rows that hold a term, ascending; kept, for several signals ask."""
        if parts not in self._rows:
            self._rows[parts] = self.find(*parts)[0]
        return self._rows[parts]

    def document_frequency(self, *parts: str) -> int:
        """Return how many live rows hold a term, those in the cold zone aside."""
        return int(np.count_nonzero(self._snapshot.hot_rows[self.rows(*parts)]))

    def find_rows(self, term: str, *, most: int) -> tuple[int, Rows]:
        """Return how many live rows hold a term, and which, ascending; none where they are more.

        A common word costs a count alone.
        """
        key, count = hash_key(term), 0
        parts: list[Rows] = [_NO_ROWS]
        snapshot = self._snapshot
        starts = snapshot.row_starts.tolist()
        for segment, start, is_live in zip(snapshot.segments, starts, self._live, strict=False):
            found, _ = segment.find(self._field, key)
            if is_live is not None:
                found = found[is_live[found]]
            count += len(found)
            if len(found) and count <= most:
                parts.append(found.astype(np.int64) + start)
        return count, np.concatenate(parts) if count <= most else _NO_ROWS

    @cached_property
    def _live(self) -> list[NDArray[np.bool_] | None]:
        """Whether each row of a segment is live; ``None`` where all of them are."""
        starts = self._snapshot.row_starts.tolist()
        masks = [self._snapshot.row_note[a:b] >= 0 for a, b in pairwise(starts)]
        return [None if mask.all() else mask for mask in masks]

    @cached_property
    def lengths(self) -> Counts:
        """How many terms each row holds, repeated ones included."""
        columns = [segment[f"{self._field}_lengths"] for segment in self._snapshot.segments]
        return np.concatenate([np.zeros(0), *columns]).astype(np.float64)

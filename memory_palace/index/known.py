"""Vectors that need not be made again: of the index, and of builds that did not finish."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from memory_palace.index.npz import Array, map_arrays
from memory_palace.index.segment import VECTORS, Segment
from memory_palace.models import Matrix, Vector
from memory_palace.storage.atomic import is_named_by_content


class KnownVectors:
    """Looks digests up in the arrays of segments and of what unfinished builds left."""

    def __init__(self) -> None:
        self._sources: list[tuple[Array, Matrix]] = []

    def add(self, digests: Array, vectors: Matrix) -> None:
        """Offer vectors, one per row of 16-byte ``digests``."""
        if len(digests):
            self._sources.append((np.ascontiguousarray(digests).view("<u8"), vectors))

    def add_all(self, segment: Segment) -> None:
        """Offer all vectors that a segment has."""
        for member, digests in segment.vector_members.items():
            has, vectors = segment.lacking, segment[member]
            if has is None:
                self.add(segment[digests], vectors)
            elif vectors.shape[1]:
                self.add(segment[digests][~has], vectors[~has])

    def add_leftovers(self, folder: Path, *, fingerprint: str, committed: Iterable[str]) -> None:
        """Offer what an interrupted build wrote, where it verifies and has the same recipe."""
        named = set(committed)
        for path in sorted((*folder.glob("seg-*.npz"), *folder.glob("vec-*.npz"))):
            if path.stem not in named and is_named_by_content(path):
                made_by = (arrays := map_arrays(path)).get("fingerprint")  # of another kind: none
                if made_by is not None and bytes(made_by).decode() == fingerprint:
                    for member, digests in VECTORS.items():
                        if member in arrays and arrays[member].shape[1]:
                            self.add(arrays[digests], arrays[member])

    def find(self, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the vectors of those digests that are known."""
        found: dict[bytes, Vector] = {}
        wanted = np.unique(np.frombuffer(b"".join(digests), "<u8").reshape(-1, 2)[:, 0])
        needed = set(digests)
        for keys, vectors in self._sources:
            place = np.searchsorted(wanted, keys[:, 0])
            hits = np.flatnonzero(wanted[np.minimum(place, len(wanted) - 1)] == keys[:, 0])
            for row in hits.tolist():
                digest = keys[row].tobytes()
                if digest in needed:
                    found.setdefault(digest, vectors[row])
        return found

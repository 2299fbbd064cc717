"""Vectors that are known already: by text digest, wherever they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from memory_palace.index.npz import Array, map_arrays, write_arrays
from memory_palace.index.segment import Segment
from memory_palace.models import Matrix, Vector
from memory_palace.storage.atomic import is_named_by_content, write_content

CHECKPOINT = "vec-{}.npz"
"""Vectors of an unfinished build, kept so that a killed one does not embed them again."""


class KnownVectors:
    """Looks digests up in the arrays of segments and of what unfinished builds left."""

    def __init__(self) -> None:
        self._sources: list[tuple[Array, Matrix]] = []

    def add(self, digests: Array, vectors: Matrix) -> None:
        """Offer vectors, one per row of 16-byte ``digests``."""
        if len(digests):
            self._sources.append((np.ascontiguousarray(digests).view("<u8"), vectors))

    def add_segment(self, segment: Segment) -> None:
        """Offer the vectors of a segment: of its chunks, and of what describes them."""
        self.add(segment["chunk_digest"], segment.vectors)
        if segment.described is not None:
            self.add(segment["described_digest"], segment.described)

    def add_leftovers(self, folder: Path, *, fingerprint: str, committed: Iterable[str]) -> None:
        """Offer what an interrupted build wrote, where it verifies and has the same recipe."""
        named = set(committed)
        for path in sorted((*folder.glob("seg-*.npz"), *folder.glob("vec-*.npz"))):
            if path.stem not in named and is_named_by_content(path):
                arrays = map_arrays(path)
                if bytes(arrays["fingerprint"]).decode() == fingerprint:
                    self.add(arrays["chunk_digest"], arrays["vectors"])
                    if "described" in arrays:
                        self.add(arrays["described_digest"], arrays["described"])

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


def write_checkpoint(
    folder: Path, digests: Sequence[bytes], vectors: Matrix, *, fingerprint: str
) -> None:
    """Keep freshly made vectors until the build commits; the commit sweeps them."""
    members: dict[str, Sequence[Array]] = {
        "chunk_digest": [np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 16)],
        "vectors": [vectors],
        "fingerprint": [np.frombuffer(fingerprint.encode(), np.uint8)],
    }

    def fill(file: BinaryIO) -> None:
        write_arrays(file, members)

    write_content(folder, fill, CHECKPOINT)

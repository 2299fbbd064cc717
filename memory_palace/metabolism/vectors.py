"""How alike two notes are, by the vectors that the index has of their passages."""

from __future__ import annotations

import numpy as np

from memory_palace.index.snapshot import Snapshot
from memory_palace.metabolism.likeness import Cosine
from memory_palace.models import Vector


def compare_by_vectors(snapshot: Snapshot) -> Cosine:
    """Return what compares two notes by the means of their vectors; ``None`` for one without."""
    places = {path: place for place, path in enumerate(snapshot.paths)}
    means: dict[str, Vector | None] = {}

    def mean(path: str) -> Vector | None:
        if path not in means:
            rows = np.flatnonzero(snapshot.row_note == places.get(path, -1))
            total = snapshot.rows_of(rows).sum(axis=0) if len(rows) else np.zeros(1, np.float32)
            length = float(np.linalg.norm(total))
            means[path] = total / length if length else None
        return means[path]

    def cosine(first: str, second: str) -> float | None:
        one, two = mean(first), mean(second)
        return None if one is None or two is None else float(one @ two)

    return cosine

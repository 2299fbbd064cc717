"""How alike unrelated chunks are under this embedder: the null distribution of cosines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.snapshot import Snapshot

SAMPLE = 512


def calibrate(snapshot: Snapshot) -> dict[str, float]:
    """Return mean and standard deviation of cosines between chunks of different notes.

    The sample is the chunks with the smallest text digests: the same notes give the same
    sample, whatever the order in which they were indexed. Empty below two notes.
    """
    chosen = sample_rows(snapshot)
    vectors = snapshot.rows_of(chosen)
    notes = snapshot.row_note[chosen]
    different = np.triu(notes[:, None] != notes[None, :], 1)
    cosines = (vectors @ vectors.T)[different]
    if not len(cosines):
        return {}
    return {
        "null_mean": round(float(cosines.mean(dtype=np.float64)), 4),
        "null_std": round(float(cosines.std(dtype=np.float64)), 4),
    }


def sample_rows(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the live rows outside the cold zone with the smallest text digests, in their order."""
    hot = np.append(~snapshot.cold, False)  # the place after the last is for dead rows
    rows = np.flatnonzero(hot[snapshot.row_note])
    keys = np.ascontiguousarray(snapshot.row_digests[rows]).view(">u8")[:, 0]
    order = np.argsort(keys, kind="stable") if len(keys) <= SAMPLE else _smallest(keys)
    return rows[order[:SAMPLE]]


def _smallest(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    part = np.argpartition(keys, SAMPLE)[:SAMPLE]
    return part[np.argsort(keys[part], kind="stable")]

"""Thresholds from the null distribution: what unrelated things score under this embedder.

Fixed ones (.80 and .75 in source document 003) leave the lists nearly empty with some models:
with MiniLM one anchor in two hundred had any passage above .80.
"""

from __future__ import annotations

import numpy as np

from memory_palace.index.calibration import sample_rows
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix

THETA_PERCENTILE = 99.0
"""Of anchors against a sample of passages: one passage in a hundred is about an anchor."""
SEM_PERCENTILE = 99.5
"""Of anchors against each other: a question fires what is nearer than most anchors are."""
_SAMPLE = 512


def calibrate_theta(matrix: Matrix, snapshot: Snapshot) -> float:
    """Return the least cosine of anchor and passage, at two passages or more; else 0."""
    rows = sample_rows(snapshot)
    if not len(matrix) or not len(rows) or not matrix.shape[1]:
        return 0.0
    step = max(len(matrix) // _SAMPLE, 1)
    cosines = matrix[::step] @ snapshot.rows_of(rows).T
    return round(max(float(np.percentile(cosines, THETA_PERCENTILE)), 0.0), 4)


def calibrate_sem_theta(matrix: Matrix) -> float:
    """Return the least cosine of question and anchor; 1 where there is nothing to compare."""
    sample = matrix[:: max(len(matrix) // _SAMPLE, 1)]
    if len(sample) < 2 or not matrix.shape[1]:
        return 1.0
    cosines = (sample @ sample.T)[np.triu_indices(len(sample), 1)]
    return round(max(float(np.percentile(cosines, SEM_PERCENTILE)), 0.0), 4)

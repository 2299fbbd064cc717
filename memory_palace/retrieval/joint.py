"""What two embedders find together, each standing above what chance gives it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.calibration import list_choices, take_part
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Scores, Vector
from memory_palace.retrieval.evidence import Places, VectorEvidence


class JointEvidence(VectorEvidence):
    """The mean cosine of two embedders. The matrix is multiplied once with each."""

    def __init__(self, snapshot: Snapshot, vector: Vector) -> None:
        """Compare a vector of both embedders with the rows of an index that has both."""
        super().__init__(snapshot, vector)
        self._asked = vector
        first, second = (
            VectorEvidence(snapshot, take_part(vector, which), which)
            for which in list_choices(snapshot.commit)[1:]
        )
        self._joined = first, second

    @property
    def parts(self) -> tuple[VectorEvidence, VectorEvidence]:
        """What each embedder finds."""
        return self._joined

    @property
    def found(self) -> NDArray[np.bool_]:
        """Whether each row is nearer than the mean, as either sees it."""
        first, second = self._joined
        return first.found | second.found

    def exactly(self, rows: Places) -> JointEvidence:
        """Return the same with cosines in double precision in some rows."""
        exact = JointEvidence(self._snapshot, self._asked)
        first, second = self._joined
        exact._joined, exact._rough = (first.exactly(rows), second.exactly(rows)), self
        return exact

    @cached_property
    def cosines(self) -> Scores:
        """Mean cosine of each row, shape ``(rows,)``."""
        first, second = self._joined
        mean: Scores = np.add(first.cosines, second.cosines)
        mean *= np.float32(0.5)
        return mean

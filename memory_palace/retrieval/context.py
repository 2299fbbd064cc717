"""What a signal may look at: the question, the notes, and the candidate passages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.snapshot import Snapshot
from memory_palace.models import AnchorEvidence, Query, Scores
from memory_palace.retrieval.evidence import Evidence, Places
from memory_palace.retrieval.tables import FactRows, WordRows

if TYPE_CHECKING:
    from memory_palace.retrieval.analysis import Analysis


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Candidates in parallel arrays. Every signal gives one score per candidate."""

    query: Query
    snapshot: Snapshot
    half_life_days: float
    rows: Places
    """Row of each candidate; -1 for a note without text, which only a listing has."""
    notes: Places
    """Note of each candidate."""
    cosines: Scores
    """Cosine of each candidate with the question; zeros in a listing and without vectors."""
    evidence: Evidence
    """What the question finds in every row, candidate or not."""
    nearest: Places
    """Rows of the candidates that are nearest in meaning, nearest first; empty without vectors."""

    anchored: AnchorEvidence | None = None
    """Where anchors chose the candidates: the cosines of so few are exact from the start."""
    settled: dict[str, Scores] = field(default_factory=dict)
    """Values of signals that depend on neither vectors nor the choice of candidates."""

    @property
    def analysis(self) -> Analysis:
        """What the question asks for."""
        return self.evidence.analysis

    @property
    def facts(self) -> FactRows:
        """Rows by what was extracted from them."""
        return self.evidence.facts

    @property
    def words(self) -> WordRows:
        """Rows by the words in them."""
        return self.evidence.word_rows

    def spread(self, rows: Places, values: NDArray[np.float32], /) -> Scores:
        """Return the value of each candidate's row, 0 where it has none."""
        everywhere: Scores = np.zeros(len(self.snapshot.row_note), np.float32)
        everywhere[rows] = values
        return everywhere[self.rows]

    @property
    def is_listing(self) -> bool:
        """Whether there is no question, so that only metadata can order the notes."""
        return not self.query.text

    def pick(self, places: Places) -> SearchContext:
        """Keep some candidates as they are."""
        return replace(
            self,
            rows=self.rows[places],
            notes=self.notes[places],
            cosines=self.cosines[places],
            settled={signal: values[places] for signal, values in self.settled.items()},
        )

    def pick_exactly(self, places: Places) -> SearchContext:
        """Keep some candidates, with exact evidence for them and the rest of their notes."""
        if self.is_listing or self.anchored:
            return self.pick(places)
        evidence = self.evidence.exactly(self.notes[places])
        picked = replace(self, evidence=evidence).pick(places)
        return replace(picked, cosines=evidence.cosines[picked.rows])

"""What a signal may look at: the question, the notes, and the candidate passages."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Query, Scores
from memory_palace.retrieval.evidence import Evidence, Places


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

    @property
    def is_listing(self) -> bool:
        """Whether there is no question, so that only metadata can order the notes."""
        return not self.query.text

    def pick(self, places: Places) -> SearchContext:
        """Keep some candidates as they are."""
        return replace(
            self, rows=self.rows[places], notes=self.notes[places], cosines=self.cosines[places]
        )

    def pick_exactly(self, places: Places) -> SearchContext:
        """Keep some candidates, with exact evidence for them and the rest of their notes."""
        if self.is_listing:
            return self.pick(places)
        evidence = self.evidence.exactly(self.notes[places])
        picked = replace(self, evidence=evidence).pick(places)
        return replace(picked, cosines=evidence.cosines[picked.rows])

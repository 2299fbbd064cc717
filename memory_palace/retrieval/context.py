"""Candidates: the passages that pass the filters, and what a signal may look at."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import UsageError
from memory_palace.index.segment import PRIORITIES
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import PostingLookup
from memory_palace.models import Filters, ParsedQuery, Scores
from memory_palace.retrieval.evidence import Evidence, Places
from memory_palace.retrieval.filters import check_priority, check_room, match_names

if TYPE_CHECKING:
    from memory_palace.language.time.spans import TimeExpression, Window


SURE = 0.5
"""Below this certainty an expression of time may be what is asked about, and not when."""
NEAREST = 28
"""Passages: enough for the seven nearest notes, which the guards of source document 001 look at,
unless most of the nearest passages are of one note."""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Candidates in parallel arrays. Every signal gives one score per candidate."""

    query: ParsedQuery
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

    settled: dict[str, Scores] = field(default_factory=dict)
    """Values of signals that depend on neither vectors nor the choice of candidates."""

    @property
    def times(self) -> tuple[TimeExpression, ...]:
        """The expressions of time in the question."""
        return self.evidence.question.times

    @property
    def dates(self) -> tuple[Window, ...]:
        """The windows of those that are no topic."""
        sure = (item.windows for item in self.times if item.certainty >= SURE)
        return tuple(window for windows in sure for window in windows)

    @property
    def facts(self) -> PostingLookup:
        """Rows by what was extracted from them."""
        return self.evidence.facts

    @property
    def words(self) -> PostingLookup:
        """Rows by the words in them."""
        return self.evidence.word_rows

    def mark(self, rows: Places) -> NDArray[np.bool_]:
        """Say for each candidate whether its row is among ``rows``."""
        everywhere = np.zeros(len(self.snapshot.row_note), np.bool_)
        everywhere[rows] = True
        marked: NDArray[np.bool_] = everywhere[self.rows]
        return marked

    def everywhere(self) -> SearchContext:
        """Return the same with every row for a candidate, dead ones too; their note is -1."""
        notes = self.snapshot.row_note.astype(np.int64)
        cosines = self.evidence.meaning.cosines
        rows = np.arange(len(notes))
        return replace(self, rows=rows, notes=notes, cosines=cosines, settled={})

    def silence(self) -> Scores:
        """Return zeros, one per candidate."""
        scores: Scores = np.zeros(len(self.rows), np.float32)
        return scores

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
        if self.is_listing:
            return self.pick(places)
        evidence = self.evidence.exactly(self.notes[places])
        picked = replace(self, evidence=evidence).pick(places)
        return replace(picked, cosines=evidence.meaning.cosines[picked.rows])


def find_candidates(
    query: ParsedQuery, snapshot: Snapshot, *, half_life_days: float
) -> SearchContext:
    """Return the passages to rank; without a question one candidate per note."""
    if not query.text:
        if not query.filters:
            raise UsageError(
                'ask a question, such as `palace query "why did we drop Kafka"`, '
                "or give a filter such as `--type project` to list notes"
            )
        return _listed(query, snapshot, half_life_days)
    evidence = Evidence(query, snapshot)
    # The place after the last note answers for dead rows, whose note is -1.
    allowed = np.append(match_notes(snapshot, query.filters), False)
    for copy, originals in snapshot.copies.items():
        allowed[copy] &= not allowed[originals].all()
    rows = np.flatnonzero(allowed[snapshot.row_note])
    if query.rows is not None:
        rows = query.rows[allowed[snapshot.row_note[query.rows]]]
    if query.filters.when:
        rows = rows[_match_rows(snapshot, query.filters)[rows]]
    cosines = evidence.meaning.cosines[rows]
    nearest = evidence.meaning.nearest(rows, limit=NEAREST)
    return SearchContext(
        query,
        snapshot,
        half_life_days,
        rows=rows,
        notes=snapshot.row_note[rows].astype(np.int64),
        cosines=cosines,
        evidence=evidence,
        nearest=nearest,
    )


def _listed(query: ParsedQuery, snapshot: Snapshot, half_life_days: float) -> SearchContext:
    first_rows = np.full(len(snapshot.paths), -1, np.int64)
    # Of several assignments to one place the last one stays: the note's first passage.
    live = np.flatnonzero(snapshot.row_note >= 0)[::-1]
    first_rows[snapshot.row_note[live]] = live
    notes = np.flatnonzero(match_notes(snapshot, query.filters))
    cosines = np.zeros(len(notes), np.float32)
    return SearchContext(
        query,
        snapshot,
        half_life_days,
        rows=first_rows[notes],
        notes=notes,
        cosines=cosines,
        evidence=Evidence(query, snapshot),
        nearest=np.zeros(0, np.int64),
    )


def match_notes(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_]:
    """Say for each note whether it passes every filter. Private notes never do.

    Types and rooms are compared without regard to case; ``since`` and ``until`` are inclusive.
    """
    passes: NDArray[np.bool_] = ~snapshot.private
    if filters.type is not None:
        passes &= _are(snapshot.types, filters.type)
    if filters.room is not None:
        check_room(filters.room)
        passes &= _are(snapshot.rooms, filters.room)
    if filters.priority is not None:
        passes &= snapshot.priorities == PRIORITIES.index(check_priority(filters.priority))
    if (filters.since, filters.until, filters.written_by) != (None, None, None):
        passes &= _match_dates(snapshot, filters)
    if filters.folder + filters.tags:
        passes &= match_names(snapshot, filters)
    if filters.when:
        naming = snapshot.row_note[_match_rows(snapshot, filters)]
        passes &= np.isin(np.arange(len(passes)), naming)
    return passes


def _match_rows(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_]:
    """Say for each row whether it is from the times of the filters, or names one of them."""
    from memory_palace.retrieval.when import match_when  # delayed: few questions need it

    notes, rows = match_when(snapshot, filters.when)
    matches: NDArray[np.bool_] = rows | np.append(notes, False)[snapshot.row_note]
    return matches


def _match_dates(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_]:
    dates = snapshot.told_dates
    passes: NDArray[np.bool_] = np.ones(len(dates), np.bool_)
    if filters.since is not None:
        passes &= dates >= filters.since
    if filters.until is not None:
        passes &= (dates <= filters.until) & (dates != 0)
    if filters.written_by is not None:
        passes &= ~_begins_after(snapshot, filters.written_by)
    return passes


def _begins_after(snapshot: Snapshot, moment: float) -> NDArray[np.bool_]:
    """Say for each note whether the earliest day that it gives itself is later than a moment.

    Its last change does not count, nor do git and the file: it may have been written long before.
    """
    firsts = snapshot.days[:, [0, 2]]
    day = datetime.fromtimestamp(moment, UTC).toordinal()
    later: NDArray[np.bool_] = ((firsts > day) | (firsts == 0)).all(axis=1) & firsts.any(axis=1)
    return later


def _are(values: list[str], wanted: str) -> NDArray[np.bool_]:
    wanted = wanted.casefold()
    matches = (value.casefold() == wanted for value in values)
    return np.fromiter(matches, np.bool_, len(values))

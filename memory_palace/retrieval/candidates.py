"""What a query ranks: every passage of the notes that pass the filters."""

from __future__ import annotations

from collections import Counter

import numpy as np

from memory_palace.errors import UsageError
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import AnchorEvidence, Query
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.evidence import Evidence
from memory_palace.retrieval.filters import match_notes
from memory_palace.retrieval.scoring import Rule, score_exactly

NEAREST = 28
"""Passages: enough for the seven nearest notes, which the guards of source document 001 look at,
unless most of the nearest passages are of one note."""


def find_candidates(query: Query, snapshot: Snapshot, *, half_life_days: float) -> SearchContext:
    """Return the passages to rank; without a question one candidate per note."""
    if not query.text:
        if not query.filters:
            raise UsageError(
                'ask a question, such as `palace query "why did we drop Kafka"`, '
                "or give a filter such as `--type project` to list notes"
            )
        return _listed(query, snapshot, half_life_days)
    if query.anchors is not None and query.anchors.answered_by != "dense":
        return _anchored(query, query.anchors, snapshot, half_life_days)
    # The place after the last note answers for dead rows, whose note is -1.
    allowed = np.append(match_notes(snapshot, query.filters), False)
    rows = np.flatnonzero(allowed[snapshot.row_note])
    evidence = Evidence(query, snapshot)
    return SearchContext(
        query,
        snapshot,
        half_life_days,
        rows=rows,
        notes=snapshot.row_note[rows].astype(np.int64),
        cosines=evidence.cosines[rows],
        evidence=evidence,
        nearest=evidence.nearest(rows, limit=NEAREST),
    )


def _anchored(
    query: Query, found: AnchorEvidence, snapshot: Snapshot, half_life_days: float
) -> SearchContext:
    """Return the passages that anchors found; no other row is compared with the question."""
    evidence = Evidence(query, snapshot)
    return SearchContext(
        query,
        snapshot,
        half_life_days,
        rows=found.rows,
        notes=snapshot.row_note[found.rows].astype(np.int64),
        cosines=evidence.exact_cosines(found.rows).astype(np.float32),
        evidence=evidence,
        nearest=np.zeros(0, np.int64),
        anchored=found,
    )


def admit_anchored(context: SearchContext, found: AnchorEvidence, rule: Rule) -> SearchContext:
    """Keep the best passages, ``found.limit`` at most, of a capped source only its share."""
    counts: Counter[str] = Counter()
    kept: list[int] = []
    for place in score_exactly(context, rule).order().tolist():
        source = found.capped[place]
        counts[source] += 1
        if not source or counts[source] <= found.cap:
            kept.append(place)
        if len(kept) == found.limit:
            break
    return context.pick(np.array(kept, np.int64))


def _listed(query: Query, snapshot: Snapshot, half_life_days: float) -> SearchContext:
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

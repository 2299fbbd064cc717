"""From places in arrays to hits that can be shown."""

from __future__ import annotations

import numpy as np

from memory_palace.models import Hit
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.evidence import Places
from memory_palace.retrieval.scoring import Scored

_SAME = 1e-5
"""Cosines of equal vectors differ by less, whichever way they were computed."""


def make_hit(scored: Scored, place: int, *, folded: int = 0, linked_from: str | None = None) -> Hit:
    """Read what is shown of a candidate. One that is linked from a hit is its neighbor."""
    context = scored.context
    row = int(context.rows[place])
    note = context.snapshot.note(int(context.notes[place]))
    chunk = context.snapshot.chunk(row) if row >= 0 else None
    return Hit(
        path=note.path,
        title=note.title,
        score=scored.score(place),
        contributions=scored.contributions(place),
        chunk=chunk,
        snippet=chunk.preview if chunk else "",
        note=note,
        role="core" if linked_from is None else "neighbor",
        linked_from=linked_from,
        folded=folded,
    )


def count_folded(context: SearchContext, scored: Scored, shown: Places) -> list[int]:
    """Count for each hit the other candidate notes that hold its passage and are no hits."""
    if context.is_listing or not len(shown):
        return [0] * len(shown)
    digests = context.snapshot.row_digests
    cosines = scored.context.cosines[shown]
    # Equal passages have equal vectors: most candidates cannot be copies of any hit.
    near = np.flatnonzero(context.cosines > cosines.min() - _SAME)
    near_digests, near_notes = digests[context.rows[near]], context.notes[near]
    hits = set(scored.context.notes[shown].tolist())
    return [
        len(set(near_notes[(near_digests == digest).all(axis=1)].tolist()) - hits)
        for digest in digests[scored.context.rows[shown]]
    ]

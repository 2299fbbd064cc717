"""What is linked to hits, where only some of all notes were read to find them."""

from __future__ import annotations

from collections.abc import Sequence

from memory_palace.models import Hit
from memory_palace.retrieval.confidence import Confidence
from memory_palace.retrieval.context import SearchContext, find_candidates
from memory_palace.retrieval.question import narrow


def widen(
    context: SearchContext, judge: Confidence, hits: Sequence[Hit]
) -> tuple[SearchContext, Confidence]:
    """Return both with the notes that are linked to hits; the same where all notes are there."""
    origin = context.snapshot.origin
    snapshot = origin.widen([hit.path for hit in hits]) if origin else context.snapshot
    if snapshot is context.snapshot:
        return context, judge
    query = context.query
    if query.rows is not None:
        query = narrow(query, snapshot, None)
    wider = find_candidates(query, snapshot, half_life_days=context.half_life_days)
    return wider, Confidence(query, snapshot, wider.evidence)

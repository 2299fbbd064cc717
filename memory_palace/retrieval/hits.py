"""From places in arrays to hits that can be shown."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from memory_palace.models import Hit
from memory_palace.retrieval.context import SearchContext
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


def count_folded(context: SearchContext, scored: Scored, place: int, shown: Iterable[int]) -> int:
    """Count the other candidate notes that hold the very passage of a hit and are no hits."""
    if context.is_listing:
        return 0
    digests = context.snapshot.row_digests
    alike = np.flatnonzero(np.abs(context.cosines - scored.context.cosines[place]) < _SAME)
    digest = digests[scored.context.rows[place]]
    alike = alike[(digests[context.rows[alike]] == digest).all(axis=1)]
    return len(set(context.notes[alike].tolist()) - set(shown))

"""What keeps uncertain evidence from pushing certain evidence out of sight: caps, and a rescue."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from memory_palace.models import AnchorEvidence, Scores
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.evidence import Places
from memory_palace.retrieval.profiles import Profile
from memory_palace.retrieval.rank import MICRO, Exact, Scored
from memory_palace.retrieval.signals.table import measure

PROTECTED = 5
"""How many of the nearest candidates are protected, and how many hits they are kept among."""
RESCUED_TO = 12
INTRUDES_FROM = 8
"""Source document 001: a candidate that is among the first five by meaning and came out sixth to
twelfth takes the fifth place, where somebody beyond the seventh by meaning is among the first."""

CAPPED_DEPTH = 4
"""Times the hits asked for: how deep others are looked for where a source is capped."""


def preserve_rank(scored: Scored, best: Places, *, per_note: bool) -> Places:
    """Return the hits with at most one of them moved up to the fifth place.

    ``best`` holds places in ``scored``, best first. One move a question: a second could undo the
    first. Who is moved is the nearest of those who qualify. Where notes are ranked, a note is as
    near as its nearest passage.
    """
    context = scored.context
    ids, near = context.rows[best], context.nearest
    if per_note:
        ids, near = context.notes[best], context.snapshot.row_note[near].astype(np.int64)
    by_meaning = {unit: rank for rank, unit in enumerate(dict.fromkeys(near.tolist()), start=1)}
    ranks = [by_meaning.get(unit, INTRUDES_FROM) for unit in ids.tolist()]
    if not any(rank >= INTRUDES_FROM for rank in ranks[:PROTECTED]):
        return best
    waiting = range(PROTECTED, min(RESCUED_TO, len(best)))
    rescued = [(ranks[place], place) for place in waiting if ranks[place] <= PROTECTED]
    if not rescued:
        return best
    _, place = min(rescued)
    moved = np.delete(best, place)
    preserved: Places = np.insert(moved, PROTECTED - 1, best[place])
    return preserved


def excess_quickly(context: SearchContext, profile: Profile) -> Scores:
    """Return by how much the signals of low precision exceed their cap."""
    capped: Scores = np.zeros(len(context.cosines), np.float32)
    for signal in sorted(profile.capped & profile.weights.keys()):
        capped += np.float32(profile.weights[signal]) * measure(signal, context)
    excess: Scores = np.maximum(capped - np.float32(profile.cap), 0)
    return excess


def cap_exactly(
    profile: Profile,
    values: dict[str, Exact],
    weights: dict[str, Exact],
    parts: dict[str, NDArray[np.int64]],
) -> None:
    """Add the line that takes away what signals of low precision have above their cap."""
    total = np.zeros_like(next(iter(parts.values())))
    for signal in sorted(profile.capped & parts.keys()):
        total += parts[signal]
    excess = np.maximum(total - round(profile.cap * MICRO), 0)
    values["cap"] = excess / MICRO
    weights["cap"] = np.full(len(excess), -1.0)
    parts["cap"] = -excess


def cap_sources(scored: Scored, best: Places, found: AnchorEvidence, *, limit: int) -> Places:
    """Keep the best hits, ``limit`` at most, of a capped source only its share."""
    most = max(int(found.source_cap * limit), 1)
    counts: Counter[str] = Counter()
    kept: list[int] = []
    for place in best.tolist():
        source = found.capped[int(scored.context.notes[place])]
        counts[source] += 1
        if not source or counts[source] <= most:
            kept.append(place)
    return np.array(kept[:limit], np.int64)

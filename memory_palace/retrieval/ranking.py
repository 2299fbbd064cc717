"""The best notes among many candidates, without sorting them all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.evidence import Places
from memory_palace.retrieval.scoring import Rule, Scored, score_exactly, score_quickly

_FIRST = 64
_GROWTH = 8
_BLOCK = 64
_MARGIN = 5e-5
"""More than a quick score can be off, and much less than two notes usually differ."""


def rank(
    context: SearchContext, rule: Rule, *, limit: int, per_note: bool = True
) -> tuple[Scored, Places]:
    """Return exact scores of a shortlist, and the places of the best hits in it, best first.

    ``per_note`` gives one passage per note and one note per passage text; without it every
    passage is a hit of its own. Nothing is a hit without any evidence. The shortlist grows until
    nothing outside of it can be among the first ``limit`` hits.
    """
    quick = score_quickly(context, rule)
    size = max(_FIRST, _GROWTH * limit)
    while True:
        is_whole = size >= len(quick)
        floor = -np.inf if is_whole else _floor(quick, size) - _MARGIN
        shortlist = context.pick_exactly(np.flatnonzero(quick >= floor))
        scored = score_exactly(shortlist, rule)
        best = _fold(scored, per_note=per_note)[:limit]
        if is_whole or _is_settled(scored, best, limit, floor):
            return scored, best
        size *= _GROWTH


def _floor(quick: Scores, size: int) -> float:
    """Return a score that at least ``size`` candidates reach, and few more.

    The maxima of blocks are candidates themselves: as many reach the size-th largest of them.
    Looking at those alone takes a tenth of the time of a partition of all scores.
    """
    blocks = len(quick) // _BLOCK
    if blocks > size:
        quick = quick[: blocks * _BLOCK].reshape(_BLOCK, blocks).max(axis=0)
    return float(np.partition(quick, -size)[-size])


def _is_settled(scored: Scored, best: Places, limit: int, floor: float) -> bool:
    return len(best) == limit and scored.score(int(best[-1])) > floor + _MARGIN / 2


def _fold(scored: Scored, *, per_note: bool) -> Places:
    order = scored.order()
    order = order[scored.scores[order] > 0]
    if not per_note:
        return order
    order = _first_of_each(order, scored.context.notes[order])
    if scored.context.is_listing:
        return order
    return _first_of_each(order, passage_keys(scored.context)[order])


def passage_keys(context: SearchContext) -> NDArray[np.void]:
    """Return a value per candidate that is equal for equal passages: 16 bytes of its digest."""
    digests = np.ascontiguousarray(context.snapshot.row_digests[context.rows])
    return digests.view(f"V{digests.shape[1]}")[:, 0]


def _first_of_each(order: Places, keys: NDArray[np.generic]) -> Places:
    _, firsts = np.unique(keys, return_index=True)
    kept: Places = order[np.sort(firsts)]
    return kept

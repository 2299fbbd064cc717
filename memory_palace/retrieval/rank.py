"""Rank candidates by weighted signals: quickly all, and exactly those that may be shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_palace.models import Contribution, Scores, TimeReading
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.evidence import Places
from memory_palace.retrieval.profiles import Profile
from memory_palace.retrieval.signals.table import measure

_FIRST = 64
_GROWTH = 8
_BLOCK = 64
_MARGIN = 5e-5
"""More than a quick score can be off, and much less than two notes usually differ."""
MICRO = 1_000_000
_DECIMALS = 6

Exact = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoringRule:
    """How a query scores: a profile, and whether its gate is shut.

    Then what is gated says nothing of how well a passage answers, and adds nothing: it orders what
    says about the same (``preference``).
    """

    profile: Profile
    is_gated: bool

    def weights(self, signal: str, context: SearchContext) -> Scores:
        """Return the weight of a signal per candidate, after the gate."""
        is_shut = self.is_gated and signal in self.profile.gated
        weight = np.float32(0 if is_shut else self.profile.weights[signal])
        return np.full(len(context.cosines), weight)

    def read_times(self, context: SearchContext) -> tuple[TimeReading, ...]:
        """Return how the times of a question were read, where the profile looks at them."""
        if "temporal" not in self.profile.weights:
            return ()
        return tuple(
            TimeReading(item.text, window.first, window.last, item.certainty)
            for item in context.times
            for window in item.windows
        )


@dataclass(frozen=True, slots=True)
class Scored:
    """Candidates with exact scores, each the sum of what is shown of it."""

    context: SearchContext
    values: dict[str, Exact]
    weights: dict[str, Exact]
    parts: dict[str, NDArray[np.int64]]
    """What each signal adds, in millionths."""
    scores: NDArray[np.int64]
    """In millionths: whole numbers add up without rounding."""

    def contributions(self, place: int) -> tuple[Contribution, ...]:
        """Return the lines of one candidate's score."""
        return tuple(
            Contribution(
                signal,
                float(self.values[signal][place]),
                float(self.weights[signal][place]),
                int(self.parts[signal][place]) / MICRO,
            )
            for signal in self.parts
        )

    def score(self, place: int) -> float:
        """Return one candidate's score: the sum of its contributions, rounded to 6 decimals."""
        return int(self.scores[place]) / MICRO

    def order(self) -> Places:
        """Return the candidates, best first; ties by path, then line, then row."""
        lines = self.context.snapshot.row_lines[:, 0]
        first_lines = lines[self.context.rows] if len(lines) else np.zeros_like(self.context.rows)
        return np.lexsort((self.context.rows, first_lines, self.context.notes, -self.scores))


def rank(
    context: SearchContext, rule: ScoringRule, *, limit: int, per_note: bool = True
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


def score_quickly(context: SearchContext, rule: ScoringRule) -> Scores:
    """Return the score per candidate in single precision, to choose what to look at."""
    totals: Scores = np.zeros(len(context.cosines), np.float32)
    for signal in rule.profile.weights:
        if not (rule.is_gated and signal in rule.profile.gated):
            totals += rule.weights(signal, context) * measure(signal, context)
    if rule.profile.capped:
        from memory_palace.retrieval.guards import excess_quickly  # delayed: few profiles cap

        totals -= excess_quickly(context, rule.profile)
    return totals


def score_exactly(context: SearchContext, rule: ScoringRule) -> Scored:
    """Score candidates as they are shown.

    Values and weights are rounded to 6 decimals first, each product is rounded to 6 decimals,
    and the score is the sum of the rounded products.
    """
    values = {signal: _rounded(measure(signal, context)) for signal in rule.profile.weights}
    weights = {signal: _rounded(rule.weights(signal, context)) for signal in values}
    parts = {
        signal: np.rint(values[signal] * weights[signal] * MICRO).astype(np.int64)
        for signal in values
    }
    if rule.profile.capped:
        from memory_palace.retrieval.guards import cap_exactly  # delayed: few profiles cap

        cap_exactly(rule.profile, values, weights, parts)
    total = np.zeros(len(context.cosines), np.int64)
    for part in parts.values():
        total += part
    return Scored(context, values, weights, parts, total)


def _rounded(values: Scores) -> Exact:
    exact: Exact = values.astype(np.float64)
    return np.round(exact, _DECIMALS, out=exact)

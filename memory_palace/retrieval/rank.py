"""Score: weighted signals, quickly for all candidates, exactly for those that may be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_palace.models import AnchorEvidence, Contribution, Scores, TimeReading
from memory_palace.retrieval.evidence import Evidence, Exact, Places, find_nearest, sharpen
from memory_palace.retrieval.profiles import Profile
from memory_palace.retrieval.signals.table import measure, reads_vectors

_FIRST = 64
_GROWTH = 8
_BLOCK = 64
_MARGIN = 5e-5
"""More than a quick score can be off, and much less than two notes usually differ."""
MICRO = 1_000_000
_DECIMALS = 6

PROTECTED = 5
"""How many of the nearest candidates are protected, and how many hits they are kept among."""
RESCUED_TO = 12
INTRUDES_FROM = 8
"""Source document 001: a candidate that is among the first five by meaning and came out sixth to
twelfth takes the fifth place, where somebody beyond the seventh by meaning is among the first."""

CAPPED_DEPTH = 4
"""Times the hits asked for: how deep others are looked for where a source is capped."""


@dataclass(frozen=True, slots=True)
class ScoringRule:
    """How a query scores: a profile, and whether its gate is shut.

    Then what is gated says nothing of how well a passage answers, and adds nothing: it orders what
    says about the same (``preference``).
    """

    profile: Profile
    is_gated: bool

    def weight(self, signal: str) -> float:
        """Return the weight of a signal, after the gate."""
        is_shut = self.is_gated and signal in self.profile.gated
        return 0.0 if is_shut else self.profile.weights[signal]

    def read_times(self, evidence: Evidence) -> tuple[TimeReading, ...]:
        """Return how the times of a question were read, where the profile looks at them."""
        if "temporal" not in self.profile.weights:
            return ()
        return tuple(
            TimeReading(item.text, window.first, window.last, item.certainty)
            for item in evidence.question.times
            for window in item.windows
        )


@dataclass(frozen=True, slots=True)
class QuickScores:
    """The score of every candidate in single precision, to choose those that are looked at."""

    evidence: Evidence
    rule: ScoringRule
    values: Mapping[str, Scores]
    """Of each signal that counts."""
    totals: Scores


@dataclass(frozen=True, slots=True)
class Scored:
    """Rows with exact scores, each the sum of what is shown of it."""

    evidence: Evidence
    rows: Places
    values: dict[str, Exact]
    weights: dict[str, float]
    parts: dict[str, NDArray[np.int64]]
    """What each signal adds, in millionths."""
    scores: NDArray[np.int64]
    """In millionths: whole numbers add up without rounding."""

    @property
    def notes(self) -> Places:
        """The note of each row."""
        return self.evidence.notes(self.rows)

    def add(self, signal: str, values: Exact, weight: float) -> Scored:
        """Return the scores with one more part."""
        part = np.rint(values * weight * MICRO).astype(np.int64)
        return replace(
            self,
            values={**self.values, signal: values},
            weights={**self.weights, signal: weight},
            parts={**self.parts, signal: part},
            scores=self.scores + part,
        )

    def contributions(self, place: int) -> tuple[Contribution, ...]:
        """Return the lines of one row's score."""
        return tuple(
            Contribution(
                signal,
                float(self.values[signal][place]),
                self.weights[signal],
                int(self.parts[signal][place]) / MICRO,
            )
            for signal in self.parts
        )

    def score(self, place: int) -> float:
        """Return one row's score: the sum of its contributions, rounded to 6 decimals."""
        return int(self.scores[place]) / MICRO

    def order(self) -> Places:
        """Return the places of the rows, best first; ties by path, then line, then row."""
        lines = self.evidence.snapshot.row_lines[self.rows, 0]
        return np.lexsort((self.rows, lines, self.notes, -self.scores))


def score_quickly(evidence: Evidence, rule: ScoringRule) -> QuickScores:
    """Return the scores of all candidates in single precision."""
    profile, rows = rule.profile, evidence.rows
    counting = [name for name in profile.weights if not (rule.is_gated and name in profile.gated)]
    values = {signal: measure(signal, evidence, rows) for signal in counting}
    totals: Scores = np.zeros(len(rows), np.float32)
    for signal, found in values.items():
        totals += np.float32(rule.weight(signal)) * found
    if profile.capped:
        capped: Scores = np.zeros(len(rows), np.float32)
        for signal in sorted(profile.capped & values.keys()):
            capped += np.float32(profile.weights[signal]) * values[signal]
        totals -= np.maximum(capped - np.float32(profile.cap), 0)
    return QuickScores(evidence, rule, values, totals)


def score_exactly(quick: QuickScores, places: Places) -> Scored:
    """Score some candidates as they are shown.

    Values and weights are rounded to 6 decimals first, each product is rounded to 6 decimals,
    and the score is the sum of the rounded products.
    """
    rows, profile = quick.evidence.rows[places], quick.rule.profile
    evidence = sharpen(quick.evidence, quick.evidence.notes(rows))
    scored = Scored(evidence, rows, {}, {}, {}, np.zeros(len(rows), np.int64))
    for signal in profile.weights:
        if signal in quick.values and not reads_vectors(signal):
            found = quick.values[signal][places]
        else:
            found = measure(signal, evidence, rows)
        weight = round(float(np.float32(quick.rule.weight(signal))), _DECIMALS)
        exact: Exact = found.astype(np.float64)
        scored = scored.add(signal, exact.round(_DECIMALS), weight)
    if not profile.capped:
        return scored
    capped = np.zeros(len(rows), np.int64)
    for signal in profile.capped & scored.parts.keys():
        capped += scored.parts[signal]
    excess = np.maximum(capped - round(profile.cap * MICRO), 0)
    return scored.add("cap", excess / MICRO, -1.0)


def rank(quick: QuickScores, *, limit: int, per_note: bool = True) -> tuple[Scored, Places]:
    """Return exact scores of a shortlist, and the places of the best hits in it, best first.

    ``per_note`` gives one passage per note and one note per passage text; without it every
    passage is a hit of its own. Nothing is a hit without any evidence. The shortlist grows until
    nothing outside of it can be among the first ``limit`` hits.
    """
    totals = quick.totals
    size = max(_FIRST, _GROWTH * limit)
    while True:
        is_whole = size >= len(totals)
        floor = -np.inf if is_whole else _floor(totals, size) - _MARGIN
        scored = score_exactly(quick, np.flatnonzero(totals >= floor))
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
    order = _first_of_each(order, scored.notes[order])
    if scored.evidence.is_listing:
        return order
    digests = np.ascontiguousarray(scored.evidence.snapshot.row_digests[scored.rows[order]])
    return _first_of_each(order, digests.view(f"V{digests.shape[1]}")[:, 0])


def _first_of_each(order: Places, keys: NDArray[np.generic]) -> Places:
    _, firsts = np.unique(keys, return_index=True)
    kept: Places = order[np.sort(firsts)]
    return kept


def rank_guarded(quick: QuickScores, *, limit: int, per_note: bool) -> tuple[Scored, Places]:
    """Rank, and move up or leave out what the profile or the settings ask for."""
    found = quick.evidence.query.anchors
    if found is not None and found.capped:
        scored, best = rank(quick, limit=CAPPED_DEPTH * limit, per_note=per_note)
        return scored, _cap_sources(scored, best, found, limit=limit)
    if not quick.rule.profile.preserves_rank:
        return rank(quick, limit=limit, per_note=per_note)
    scored, best = rank(quick, limit=max(limit, RESCUED_TO), per_note=per_note)
    return scored, _preserve_rank(scored, best, per_note=per_note)[:limit]


def _preserve_rank(scored: Scored, best: Places, *, per_note: bool) -> Places:
    """Return the hits with at most one of them moved up to the fifth place.

    ``best`` holds places in ``scored``, best first. One move a question: a second could undo the
    first. Who is moved is the nearest of those who qualify. Where notes are ranked, a note is as
    near as its nearest passage.
    """
    ids, near = scored.rows[best], find_nearest(scored.evidence)
    if per_note:
        ids, near = scored.notes[best], scored.evidence.notes(near)
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


def _cap_sources(scored: Scored, best: Places, found: AnchorEvidence, *, limit: int) -> Places:
    """Keep the best hits, ``limit`` at most, of a capped source only its share."""
    most = max(int(found.source_cap * limit), 1)
    counts: Counter[str] = Counter()
    kept: list[int] = []
    for place, note in zip(best.tolist(), scored.notes[best].tolist(), strict=True):
        source = found.capped[note]
        counts[source] += 1
        if not source or counts[source] <= most:
            kept.append(place)
    return np.array(kept[:limit], np.int64)

"""Rank candidates by weighted signals: float32 scores for all, exact scores for a shortlist.

Near-duplicate hits that answer about equally well are then reordered: valid, more important, then
newer notes first. A note goes before one that it superseded, and a party before its open conflict,
even with a lower score.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.graph.resolve import fold_name, fold_target
from memory_palace.language.words import STOPWORDS, asks_for_many, expect_idf, tokenize
from memory_palace.models import (
    ALWAYS,
    AnchorEvidence,
    Contribution,
    Hit,
    NoteRecord,
    Scores,
    Validity,
)
from memory_palace.retrieval.evidence import Evidence, Exact, Places, find_nearest, sharpen
from memory_palace.retrieval.signals import Profile, importance, measure, reads_vectors, recency

Sureness: TypeAlias = Callable[[NoteRecord, int, int], float]
"""Return the confidence in a note, given its record, its index and a row of it."""

# --- Scores ---------------------------------------------------------------------------------------

_FIRST = 64
_GROWTH = 8
_MARGIN = 5e-5
"""Bound on the error of a float32 score; far below the usual difference between two notes."""
MICRO = 1_000_000
_DECIMALS = 6

PROTECTED = 5
"""Number of nearest candidates protected, and of first hits that they are kept among."""
RESCUED_TO = 12
INTRUDES_FROM = 8
"""Source document 001: a candidate among the first five by cosine that ranks sixth to twelfth moves
to the fifth place, if a hit beyond the seventh by cosine is among the first five."""

CAPPED_DEPTH = 4
"""Ranking depth where hits of one source or note give way to others, as a multiple of the limit."""
AGAIN = 0.5
"""Cost of each better hit of its note to a passage, where a question asks for several things."""


@dataclass(frozen=True, slots=True)
class QuickScores:
    """The float32 score of every candidate, from which a shortlist is chosen."""

    evidence: Evidence
    profile: Profile
    is_gated: bool
    """Whether gated signals add nothing to the score: they then only order near-duplicates."""
    values: Mapping[str, Scores]
    """Values of each signal that is not gated."""
    totals: Scores

    def weight(self, signal: str) -> float:
        """Return the weight of a signal, after the gate."""
        is_shut = self.is_gated and signal in self.profile.gated
        return 0.0 if is_shut else self.profile.weights[signal]


@dataclass(frozen=True, slots=True)
class Scored:
    """Rows with exact scores; each is the sum of its contributions."""

    evidence: Evidence
    rows: Places
    values: dict[str, Exact]
    weights: dict[str, float]
    parts: dict[str, NDArray[np.int64]]
    """Contribution of each signal to each row, in millionths."""
    scores: NDArray[np.int64]
    """In millionths: whole numbers add up without rounding."""

    @property
    def notes(self) -> Places:
        """The note of each row."""
        return self.evidence.note_of[self.rows]

    def add(self, signal: str, values: Exact, weight: float) -> Scored:
        """Return the scores with the contribution ``values * weight`` of one more signal."""
        part = np.rint(values * weight * MICRO).astype(np.int64)
        return replace(
            self,
            values={**self.values, signal: values},
            weights={**self.weights, signal: weight},
            parts={**self.parts, signal: part},
            scores=self.scores + part,
        )

    def hit(
        self,
        place: int,
        sureness: Sureness,
        *,
        folded: int = 0,
        preferred: str = "",
        linked_from: str | None = None,
    ) -> Hit:
        """Return the hit of a row; with ``linked_from``, as a neighbor of that hit."""
        snapshot, row, at = self.evidence.snapshot, int(self.rows[place]), int(self.notes[place])
        note, chunk = snapshot.note(at), snapshot.chunk(row)
        parts = (
            Contribution(
                signal,
                float(self.values[signal][place]),
                self.weights[signal],
                int(part[place]) / MICRO,
            )
            for signal, part in self.parts.items()
        )
        return Hit(
            path=note.path,
            title=note.title,
            score=int(self.scores[place]) / MICRO,
            contributions=tuple(parts),
            chunk=chunk,
            snippet=chunk.preview,
            note=note,
            role="core" if linked_from is None else "neighbor",
            linked_from=linked_from,
            folded=folded,
            preferred=preferred,
            confidence=None if self.evidence.is_listing else sureness(note, at, row),
        )

    def order(self) -> Places:
        """Return the places of the rows, best first; ties by path, then line, then row."""
        lines = self.evidence.snapshot.row_lines[self.rows, 0]
        return np.lexsort((self.rows, lines, self.notes, -self.scores))


def score_quickly(evidence: Evidence, profile: Profile, *, is_gated: bool) -> QuickScores:
    """Return the float32 scores of all candidates."""
    rows, shut = evidence.rows, profile.gated if is_gated else ()
    counting = [name for name in profile.weights if name not in shut]
    values = {signal: measure(signal, evidence, rows) for signal in counting}
    totals: Scores = np.zeros(len(rows), np.float32)
    for signal, found in values.items():
        totals += np.float32(profile.weights[signal]) * found
    if profile.capped:
        capped: Scores = np.zeros(len(rows), np.float32)
        for signal in sorted(profile.capped & values.keys()):
            capped += np.float32(profile.weights[signal]) * values[signal]
        totals -= np.maximum(capped - np.float32(profile.cap), 0)
    return QuickScores(evidence, profile, is_gated, values, totals)


def score_exactly(quick: QuickScores, places: Places) -> Scored:
    """Return the exact scores of some candidates.

    Values and weights are rounded to 6 decimals first, each product is rounded to 6 decimals, and
    the score is the sum of the rounded products.
    """
    rows, profile = quick.evidence.rows[places], quick.profile
    evidence = sharpen(quick.evidence, quick.evidence.note_of[rows])
    scored = Scored(evidence, rows, {}, {}, {}, np.zeros(len(rows), np.int64))
    for signal in profile.weights:
        if signal in quick.values and not reads_vectors(signal):
            found = quick.values[signal][places]
        else:
            found = measure(signal, evidence, rows)
        weight = round(float(np.float32(quick.weight(signal))), _DECIMALS)
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

    ``per_note`` gives one passage per note and one note per passage text; without it every passage
    is a hit of its own. Rows of score 0 are no hits. The shortlist grows until no row outside of it
    can be among the first ``limit`` hits.
    """
    totals = quick.totals
    size = max(_FIRST, _GROWTH * limit)
    while True:
        is_whole = size >= len(totals)
        floor = -np.inf if is_whole else float(np.partition(totals, -size)[-size]) - _MARGIN
        scored = score_exactly(quick, np.flatnonzero(totals >= floor))
        best = _fold(scored, per_note=per_note)[:limit]
        last = scored.scores[best[-1]] / MICRO if len(best) == limit else -np.inf
        if is_whole or last > floor + _MARGIN / 2:
            return scored, best
        size *= _GROWTH


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
    """Rank, with the source cap of the settings or the rank preservation of the profile."""
    found = quick.evidence.query.anchors
    if found is not None and found.capped:
        scored, best = rank(quick, limit=CAPPED_DEPTH * limit, per_note=per_note)
        return scored, _cap_sources(scored, best, found, limit=limit)
    if not per_note and quick.profile.prefers and asks_for_many(quick.evidence.query.text):
        scored, best = rank(quick, limit=CAPPED_DEPTH * limit, per_note=False)
        return _spread(scored, best, limit=limit)
    if not quick.profile.preserves_rank:
        return rank(quick, limit=limit, per_note=per_note)
    scored, best = rank(quick, limit=max(limit, RESCUED_TO), per_note=per_note)
    return scored, _preserve_rank(scored, best, per_note=per_note)[:limit]


def _preserve_rank(scored: Scored, best: Places, *, per_note: bool) -> Places:
    """Return the hits with at most one of them moved up to the fifth place.

    ``best`` holds places in ``scored``, best first. The nearest hit that qualifies is moved; a
    second move could undo the first. With ``per_note`` a note is as near as its nearest passage.
    """
    ids, near = scored.rows[best], find_nearest(scored.evidence)
    if per_note:
        ids, near = scored.notes[best], scored.evidence.note_of[near]
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
    return np.insert(moved, PROTECTED - 1, best[place])


def _spread(scored: Scored, best: Places, *, limit: int) -> tuple[Scored, Places]:
    """Return the first ``limit`` hits, each less ``AGAIN`` for every better hit of its note."""
    left, notes, order = best.tolist(), scored.notes.tolist(), list[int]()
    counts, before = Counter[int](), np.zeros(len(scored.rows))
    while left and len(order) < limit:
        place = max(left, key=lambda at: scored.scores[at] - AGAIN * MICRO * counts[notes[at]])
        left.remove(place)
        order.append(place)
        before[place] = counts[notes[place]]
        counts[notes[place]] += 1
    return scored.add("again", before, -AGAIN), np.array(order, np.int64)


def _cap_sources(scored: Scored, best: Places, found: AnchorEvidence, *, limit: int) -> Places:
    """Return the first ``limit`` hits, with at most its share for each capped source."""
    most = max(int(found.source_cap * limit), 1)
    counts: Counter[str] = Counter()
    kept: list[int] = []
    for place, note in zip(best.tolist(), scored.notes[best].tolist(), strict=True):
        source = found.capped[note]
        counts[source] += 1
        if not source or counts[source] <= most:
            kept.append(place)
    return np.array(kept[:limit], np.int64)


# --- Preference among near-duplicates -------------------------------------------------------------

LOOKED_AT = 12
"""Number of first hits that are compared pairwise, whatever the limit."""
BAND = 0.3
"""Largest deficit in confidence of a hit that answers about equally well."""
SHARE = 0.5
"""Least score of the other hit as a share of the better hit's, both measured above the mean score
of the dissimilar hits."""
ALIKE = 2.3
"""Deviations of the null by which near-duplicates exceed the usual likeness of the hits."""
ENDED = 1.0
"""As ``ALIKE``, if one of the two no longer holds: then less likeness is needed."""
LINKED = 4.0
"""As ``ALIKE``, if one of two notes links to the other, which usually adds to it."""
_ODDLY = 3.0
"""Deviations above the null mean at which the usual likeness of hits is cut: hits that are all more
alike than that are versions of one note.

Chosen on 100 written pairs that say the same, beside SciFact and the golden questions with dates
and priorities at random: references/measurements.md has the figures."""
_WORDS = 0.0, 0.05
"""Null mean and deviation of the cosine of words, which is used without vectors."""
_ANSWERS = 0.2
"""Least confidence in a note that goes before the one it superseded."""
_WEIGHS = 0.15
"""Least difference in importance (plus recency) that decides before the dates do: high against none
is enough, medium against none is not."""
NEWER_DAYS = 14
"""Least difference in days of a newer version: entries of one fortnight continue each other."""
_DAY_SECONDS = 86_400.0
_EPOCH = 719_163  # 1970-01-01 as date.toordinal
PREFERRED = "preferred"
Disputes = Mapping[str, Sequence[str]]
"""The open conflicts of each note."""


class Reason(NamedTuple):
    """Why a hit goes before another."""

    words: str
    path: str
    rank: tuple[float, ...]
    """Sort key among several hits that go before the same one, highest first."""

    def __str__(self) -> str:
        return self.words.format(self.path)


def rank_preferred(
    quick: QuickScores, limit: int, per_note: bool, sureness: Sureness, disputes: Disputes
) -> tuple[Scored, Places, Mapping[int, str]]:
    """Rank, then reorder near-duplicate hits; see ``prefer``.

    ``LOOKED_AT`` hits are compared even if fewer are asked for, but not where sources are capped.
    """
    prefers = quick.is_gated and quick.profile.prefers
    found = quick.evidence.query.anchors
    is_capped = found is not None and found.capped
    depth = max(limit, LOOKED_AT) if prefers and not is_capped else limit
    scored, best = rank_guarded(quick, limit=depth, per_note=per_note)
    why: Mapping[int, str] = {}
    if prefers and len(best) > 1:
        scored, best, why = prefer(scored, best, sureness, disputes)
    return scored, best[:limit], why


def prefer(
    scored: Scored, best: Places, sureness: Sureness, disputes: Disputes
) -> tuple[Scored, Places, Mapping[int, str]]:
    """Return the scores, the reordered hits, and the reason for each hit moved up, by its place.

    A hit that is moved up gains the difference to the score of the hit that it goes before.
    """
    rivals = _Rivals(scored, best[:LOOKED_AT], sureness, disputes)
    left, order, why = list(range(len(rivals.rows))), list[int](), dict[int, str]()
    gains = np.zeros(len(scored.scores), np.int64)
    while left:
        first = left[0]
        chosen, reason = rivals.choose(first, left)
        left.remove(chosen)
        order.append(int(best[chosen]))
        if reason:
            why[order[-1]] = str(reason)
            gains[order[-1]] = scored.scores[best[first]] - scored.scores[best[chosen]]
    if not why:
        return scored, best, {}
    moved = scored.add(PREFERRED, gains / MICRO, 1.0)
    return moved, np.concatenate([np.array(order, np.int64), best[LOOKED_AT:]]), why


class _Rivals:
    """Compares the first hits of a question, given best first, with each other."""

    def __init__(
        self, scored: Scored, best: Places, sureness: Sureness, disputes: Disputes
    ) -> None:
        evidence = scored.evidence
        self._evidence, self._judge, self._disputes = evidence, sureness, disputes
        self.rows, notes = scored.rows[best], scored.notes[best]
        self._scores, self._notes = scored.scores[best] / MICRO, notes.tolist()
        self._records = [evidence.snapshot.note(note) for note in self._notes]
        claims = [evidence.snapshot.chunk(row).validity for row in self.rows.tolist()]
        pairs = zip(self._records, claims, strict=True)
        self._validities = [note.validity if own == ALWAYS else own for note, own in pairs]
        """Validity of each hit: that of a limited claim in its passage, else of its note."""
        self._is_past = list(map(self._is_over, self._records, self._validities))
        """Whether each hit's validity excludes the times in the question, else its moment."""
        self._is_copied = [note.date.source == "mtime" for note in self._records]
        """Whether a note is dated by its mtime alone, which a copy or a checkout resets."""
        now = evidence.query.as_of
        moments = [
            now if note.is_evergreen else min(note.date.timestamp, now) for note in self._records
        ]
        ages = recency(evidence, self.rows)
        if evidence.dates:  # a time in the question: newer notes are no better
            moments, ages = [0.0] * len(moments), np.zeros_like(ages)
        self._days = [moment // _DAY_SECONDS for moment in moments]
        self._importance = importance(evidence, self.rows).astype(np.float64).tolist()
        self._worth = [own + new for own, new in zip(self._importance, ages.tolist(), strict=True)]
        """Importance and recency of each, as ``compound`` adds them."""
        self._are_alike = self._compare_all()
        """Whether each pair of hits are near-duplicates."""

    def choose(self, first: int, left: Sequence[int]) -> tuple[int, Reason | None]:
        """Return which of the hits ``left`` goes to the place of ``first``, and the reason."""
        reasons = {j: reason for j in left[1:] if (reason := self._compare(j, first))}
        chosen = max(reasons, key=lambda j: reasons[j].rank, default=first)
        seen = {first}
        while chosen not in seen:  # the superseding note may be superseded too
            seen.add(chosen)
            chosen = next((j for j in left if j not in seen and self._replaces(j, chosen)), chosen)
        return chosen, reasons.get(chosen) or self._reason("takes the place of {}", first, chosen)

    def _reason(self, words: str, other: int, place: int) -> Reason | None:
        if other == place:
            return None
        rank = (self._replaces(place, other), not self._is_past[place], self._worth[place])
        dates = self._records[place].date.timestamp
        return Reason(words, self._records[other].path, (*map(float, rank), dates))

    def _compare(self, place: int, other: int) -> Reason | None:
        """Return the reason why a hit goes before another that is ranked above it, or ``None``."""
        if self._notes[place] == self._notes[other] or self._replaces(other, place):
            return None
        if self._is_about(place, other):
            return None
        if self._is_about(other, place) and self._goes_before(place, other):
            return self._reason("is party to {}", other, place)
        if self._replaces(place, other):
            return self._reason("takes the place of {}", other, place)
        if not self._are_alike[place, other]:
            return None
        words = self._weigh(place, other)
        if not words or not self._answer_alike(place, other):
            return None
        return self._reason(f"{words} {{}}, which says about the same", other, place)

    def _replaces(self, place: int, other: int) -> bool:
        """Whether a hit superseded another and has a confidence of ``_ANSWERS`` or more."""
        heirs = self._validities[other].superseded_by
        if not heirs or not self._is_past[other] or self._is_past[place]:
            return False
        note = self._records[place]
        path = f"/{fold_name(note.path)}"
        names = {fold_name(name) for name in (note.title, *note.aliases)}
        is_heir = any(
            fold_target(heir) in names or path.endswith(f"/{fold_target(heir)}") for heir in heirs
        )
        return is_heir and self._sureness(place) >= _ANSWERS

    def _is_about(self, place: int, other: int) -> bool:
        """Whether a hit is an open conflict to which another is a party."""
        return self._records[place].path in self._disputes.get(self._records[other].path, ())

    def _goes_before(self, party: int, conflict: int) -> bool:
        """Whether a party, first or confident, goes before a conflict that is not asked for."""
        if self._evidence.called[self._notes[conflict]]:
            return False
        parties = (place for place in range(len(self.rows)) if self._is_about(conflict, place))
        return party == next(parties) or self._sureness(party) >= _ANSWERS

    def _weigh(self, place: int, other: int) -> str:
        """Return why a hit is preferred: validity, importance or date; empty if it is not."""
        if self._is_past[place] != self._is_past[other]:
            return "holds longer than" if self._is_past[other] else ""
        days = self._days[place] - self._days[other]
        if self._is_copied[place] != self._is_copied[other]:
            days = 0.0  # an mtime and a stated date do not compare
        value = self._importance if abs(days) < NEWER_DAYS else self._worth
        worth = value[place] - value[other]
        if abs(worth) >= _WEIGHS:
            is_newer = days >= NEWER_DAYS and self._importance[place] <= self._importance[other]
            return ("newer than" if is_newer else "more important than") if worth > 0 else ""
        return "newer than" if days >= NEWER_DAYS else ""

    def _compare_all(self) -> NDArray[np.bool_]:
        """Return the matrix of near-duplicates among the hits."""
        evidence = self._evidence
        if evidence.query.vector is None:
            (mean, deviation), likeness = _WORDS, self._compare_words()
        else:
            mean, deviation = evidence.snapshot.null
            vectors = evidence.snapshot.rows_of(self.rows).astype(np.float64)
            likeness = np.round(vectors @ vectors.T, 6)
        hits = likeness[np.triu_indices(len(self.rows), 1)]
        usual = (hits.sum() - likeness + mean) / len(hits)
        has_ended = np.not_equal.outer(self._is_past, self._is_past)
        apart = np.where(self._find_linked(), LINKED, np.where(has_ended, ENDED, ALIKE))
        least = np.minimum(usual, mean + _ODDLY * deviation) + apart * deviation
        alike: NDArray[np.bool_] = likeness >= least
        return alike

    def _find_linked(self) -> NDArray[np.bool_]:
        """Return the matrix of hits of which one links to the other."""
        paths = [fold_name(note.path) for note in self._records]
        ends = [
            {path[i:] for i in (0, *(at + 1 for at, letter in enumerate(path) if letter == "/"))}
            for path in paths
        ]
        names = [
            end | {fold_name(name) for name in note.aliases}
            for end, note in zip(ends, self._records, strict=True)
        ]
        targets = [
            {fold_target(posixpath.normpath(link.target)).lstrip("./") for link in note.links}
            for note in self._records
        ]
        leads = [[not own.isdisjoint(target) for own in names] for target in targets]
        links: NDArray[np.bool_] = np.array(leads, np.bool_)
        return links | links.T

    def _answer_alike(self, place: int, other: int) -> bool:
        """Whether a hit's score and confidence are close to those of the one above it."""
        rest = self._scores[~self._are_alike[other]]
        usual = float(rest.mean()) if len(rest) else 0.0
        if self._scores[place] - usual < SHARE * (self._scores[other] - usual):
            return False
        return self._sureness(place) >= self._sureness(other) - BAND

    def _sureness(self, place: int) -> float:
        return self._judge(self._records[place], self._notes[place], int(self.rows[place]))

    def _is_over(self, note: NoteRecord, holds: Validity) -> bool:
        if holds == ALWAYS:
            return False
        if not self._evidence.dates:
            is_replaced = bool(holds.superseded_by) and holds.valid_until is None
            return is_replaced or not holds.holds_at(self._evidence.query.as_of)
        own = note.date.timestamp if holds.superseded_by else None
        first = own if holds.valid_from is None else holds.valid_from
        last = own if holds.valid_until is None else holds.valid_until
        return not any(
            (first is None or first < (window.last.toordinal() + 1 - _EPOCH) * _DAY_SECONDS)
            and (last is None or last >= (window.first.toordinal() - _EPOCH) * _DAY_SECONDS)
            for window in self._evidence.dates
        )

    def _compare_words(self) -> Exact:
        """Return the idf-weighted cosines of the words in each two passages' previews."""
        words = [self._read_words(row) for row in self.rows.tolist()]
        known, rows = self._evidence.words_in, self._evidence.count
        listed = sorted(set().union(*words))
        known.look_up(listed)
        rare = [expect_idf(word, known.document_frequency(word), rows) for word in listed]
        holds = np.array([[word in own for word in listed] for own in words]) * rare
        lengths = np.linalg.norm(holds, axis=1)
        return holds @ holds.T / np.maximum(np.outer(lengths, lengths), 1.0)

    def _read_words(self, row: int) -> set[str]:
        snapshot = self._evidence.snapshot
        text = snapshot.chunk(row).preview.casefold()
        plain = " ".join(word for word in text.split() if word not in STOPWORDS)
        return set(tokenize(plain, languages=snapshot.languages))

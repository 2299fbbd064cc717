"""A question in, ranked notes out, with the reason for every rank."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypedDict

import numpy as np

from memory_palace.config import PalacePaths
from memory_palace.errors import UsageError
from memory_palace.graph.near import NearLinks
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Hit, ParsedQuery, TimeReading
from memory_palace.notes.excerpt import find_disputes
from memory_palace.retrieval.confidence import ANSWERED, Confidence, agree
from memory_palace.retrieval.context import SearchContext, find_candidates
from memory_palace.retrieval.evidence import Places
from memory_palace.retrieval.excerpts import choose_texts
from memory_palace.retrieval.preference import LOOKED_AT, prefer
from memory_palace.retrieval.profiles import Profile, get_profile
from memory_palace.retrieval.rank import Scored, ScoringRule, rank, score_exactly

_SAME = 1e-5
"""Cosines of equal vectors differ by less, whichever way they were computed."""


class SearchResult(NamedTuple):
    """The hits in the order to show them: that of their scores, and of their confidences too."""

    hits: list[Hit]
    is_answered: bool
    """Whether a hit is as sure as demanded; of a listing, whether it has any."""
    times: tuple[TimeReading, ...]


class RankingOptions(TypedDict, total=False):
    """What ``search`` can be told besides the question; see there."""

    limit: int
    per_note: bool
    gate: bool
    neighbors: int
    budget_bytes: int | None
    min_confidence: float | None
    rerank: str | None


def search(
    query: ParsedQuery,
    snapshot: Snapshot,
    *,
    profile: str | Profile = "compound",
    limit: int = 5,
    per_note: bool = True,
    gate: bool = True,
    half_life_days: float = 30.0,
    neighbors: int = 0,
    paths: PalacePaths | None = None,
    budget_bytes: int | None = None,
    min_confidence: float | None = None,
    rerank: str | None = None,
    disputes: Mapping[str, tuple[str, ...]] | None = None,
) -> SearchResult:
    """Rank the notes that pass the query's filters, one hit per note.

    ``per_note=False`` ranks passages, as many of one note as there are. Without a question the
    filters list notes, ordered by their metadata. ``gate=False`` is the literal formula of the
    profile. Up to ``neighbors`` linked notes follow each hit. ``paths`` lead to the notes, whose
    text is then given, ``budget_bytes`` of it at most. See ``_demand`` for ``min_confidence``, and
    ``_rank_twice`` for ``rerank``. ``disputes`` are the open conflicts of each note, which are read
    where they are not given.
    """
    if limit < 1:
        raise UsageError(f"a query returns at least 1 note, not {limit}; see `palace query --help`")
    chosen = profile if isinstance(profile, Profile) else get_profile(profile)
    context = find_candidates(query, snapshot, half_life_days=half_life_days)
    rule = ScoringRule(chosen, is_gated=gate and not context.is_listing)
    judge = Confidence(query, snapshot, context.evidence)
    if disputes is None:
        disputes = {} if paths is None else find_disputes(paths)
    why: Mapping[int, str] = {}
    if rerank is not None:
        scored, best = _rank_twice(rerank, context, rule, paths, limit=limit, per_note=per_note)
    else:
        scored, best, why = _rank_preferred(
            context, rule, judge, disputes, limit=limit, per_note=per_note
        )
    counts = zip(best.tolist(), count_folded(context, scored, best), strict=True)
    hits = [make_hit(scored, *each, judge, preferred=why.get(each[0], "")) for each in counts]
    hits, is_answered = _demand(hits if context.is_listing else agree(hits), min_confidence)
    if neighbors > 0:
        hits = list(add_neighbors(hits, context, rule, judge, limit=neighbors))
    if paths is not None or snapshot.read_lines:
        ranked, near = scored.context.snapshot, scored.context.evidence.meaning.above
        shown = choose_texts(query.text, hits, ranked, paths, max_bytes=budget_bytes, near=near)
        hits = mark_disputed(disputes, shown)
    return SearchResult(hits, is_answered, rule.read_times(context))


def _demand(hits: list[Hit], min_confidence: float | None) -> tuple[list[Hit], bool]:
    """Return the hits that are as sure as demanded, else the first alone, and whether any is.

    Where nothing is demanded all stay, and ``ANSWERED`` decides.
    """
    least = ANSWERED if min_confidence is None else min_confidence
    sure = [hit for hit in hits if hit.confidence is None or hit.confidence >= least]
    return hits if min_confidence is None else sure or hits[:1], bool(sure)


def _rank_twice(
    model: str,
    context: SearchContext,
    rule: ScoringRule,
    paths: PalacePaths | None,
    *,
    limit: int,
    per_note: bool,
) -> tuple[Scored, Places]:
    """Rank, and let a cross-encoder, by its name or folder, order what is best before it is cut."""
    from memory_palace.retrieval.reranking import RERANKED, rank_again  # delayed

    depth = max(limit, RERANKED)
    scored, best = _rank_guarded(context, rule, limit=depth, per_note=per_note)
    return rank_again(scored, best, model, paths, limit=limit)


def _rank_preferred(
    context: SearchContext,
    rule: ScoringRule,
    judge: Confidence,
    disputes: Mapping[str, Sequence[str]],
    *,
    limit: int,
    per_note: bool,
) -> tuple[Scored, Places, Mapping[int, str]]:
    """Rank, and put first, of what says about the same, what is to be believed.

    More hits are compared than are asked for, unless sources are capped: a share of more is more.
    """
    found, prefers = context.query.anchors, rule.is_gated and rule.profile.prefers
    is_capped = found is not None and found.capped
    depth = max(limit, LOOKED_AT) if prefers and not is_capped else limit
    scored, best = _rank_guarded(context, rule, limit=depth, per_note=per_note)
    if not prefers or len(best) < 2:
        return scored, best[:limit], {}
    scored, best, why = prefer(scored, best, judge, disputes)
    return scored, best[:limit], why


def _rank_guarded(
    context: SearchContext, rule: ScoringRule, *, limit: int, per_note: bool
) -> tuple[Scored, Places]:
    """Rank, and move up or leave out what the profile or the settings ask for."""
    found = context.query.anchors
    if found is not None and found.capped:
        from memory_palace.retrieval.guards import CAPPED_DEPTH, cap_sources  # delayed

        scored, best = rank(context, rule, limit=CAPPED_DEPTH * limit, per_note=per_note)
        return scored, cap_sources(scored, best, found, limit=limit)
    if not rule.profile.preserves_rank:
        return rank(context, rule, limit=limit, per_note=per_note)
    from memory_palace.retrieval.guards import RESCUED_TO, preserve_rank  # delayed: seldom asked

    scored, best = rank(context, rule, limit=max(limit, RESCUED_TO), per_note=per_note)
    return scored, preserve_rank(scored, best, per_note=per_note)[:limit]


def make_hit(
    scored: Scored,
    place: int,
    folded: int,
    judge: Confidence,
    *,
    preferred: str = "",
    linked_from: str | None = None,
) -> Hit:
    """Read what is shown of a candidate. One that is linked from a hit is its neighbor."""
    context = scored.context
    row = int(context.rows[place])
    note_place = int(context.notes[place])
    note = context.snapshot.note(note_place)
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
        preferred=preferred,
        confidence=None if context.is_listing else judge.of(note, note_place, row),
    )


def count_folded(context: SearchContext, scored: Scored, shown: Places) -> list[int]:
    """Count for each hit the other candidate notes that hold its passage and are no hits."""
    if context.is_listing or not len(shown):
        return [0] * len(shown)
    digests, cosines = context.snapshot.row_digests, scored.context.cosines[shown]
    # Equal passages have equal vectors: most candidates cannot be copies of any hit.
    near = np.flatnonzero(context.cosines > cosines.min() - _SAME)
    near_digests, near_notes = digests[context.rows[near]], context.notes[near]
    hits = set(scored.context.notes[shown].tolist())
    return [
        len(set(near_notes[(near_digests == digest).all(axis=1)].tolist()) - hits)
        for digest in digests[scored.context.rows[shown]]
    ]


def add_neighbors(
    hits: Sequence[Hit],
    context: SearchContext,
    rule: ScoringRule,
    judge: Confidence,
    *,
    limit: int,
) -> Iterator[Hit]:
    """Yield every hit, and after it up to ``limit`` linked notes that are not shown elsewhere.

    What a hit links to comes before what links to it, and of either the better score comes
    first. Neighbors pass the query's filters, are never cold, and keep their own score.
    """
    paths = context.snapshot.paths
    links = NearLinks.from_snapshot(context.snapshot)
    linked = links.neighbors_of(hit.path for hit in hits)
    wanted = {path for near in linked.values() for side in near for path in side}
    scored = _score_notes(context, rule, wanted)
    best = _best_places(scored)
    shown = {hit.path for hit in hits}
    passages = {hit.chunk.digest for hit in hits if hit.chunk and not context.is_listing}
    for hit in hits:
        yield hit
        places = [
            best[path]
            for side in linked[hit.path]
            for path in sorted(set(side) & best.keys(), key=lambda path: best[path][0])
        ]
        left = limit
        for _, place in places:
            path = paths[int(scored.context.notes[place])]
            if path in shown or not left:
                continue
            neighbor = make_hit(scored, place, 0, judge, linked_from=hit.path)
            if neighbor.chunk and neighbor.chunk.digest in passages:
                continue
            shown.add(path)
            left -= 1
            yield neighbor


def _score_notes(context: SearchContext, rule: ScoringRule, wanted: set[str]) -> Scored:
    paths = context.snapshot.paths
    is_wanted = np.zeros(len(paths), np.bool_)
    places = [(bisect_left(paths, path), path) for path in wanted]
    is_wanted[[place for place, path in places if paths[place : place + 1] == [path]]] = True
    is_wanted &= ~context.snapshot.cold
    return score_exactly(context.pick_exactly(np.flatnonzero(is_wanted[context.notes])), rule)


def _best_places(scored: Scored) -> dict[str, tuple[int, int]]:
    """Give each note its rank, and the place of its best passage."""
    paths = scored.context.snapshot.paths
    best: dict[str, tuple[int, int]] = {}
    for order, place in enumerate(scored.order().tolist()):
        best.setdefault(paths[int(scored.context.notes[place])], (order, place))
    return best


def mark_disputed(disputes: Mapping[str, tuple[str, ...]], hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, those that are party to an open conflict with its path."""
    return [replace(hit, disputed_in=disputes.get(hit.path, ())) for hit in hits]

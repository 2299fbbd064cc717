"""A question in, ranked notes out, with the reason for every rank."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memory_palace.errors import UsageError
from memory_palace.graph.near import NearLinks
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import AnchorEvidence, Hit, Query
from memory_palace.retrieval.context import SearchContext, find_candidates
from memory_palace.retrieval.evidence import Places
from memory_palace.retrieval.hits import add_neighbors, count_folded, fit_budget, make_hit
from memory_palace.retrieval.profiles import HIERARCHICAL, Profile, get_profile, weigh
from memory_palace.retrieval.rank import Scored, ScoringRule, rank, score_exactly

if TYPE_CHECKING:
    from memory_palace.retrieval.gate import RelevanceGate


class SearchResult(NamedTuple):
    """The hits in the order to show them, and the figures of the gate that was applied."""

    hits: list[Hit]
    gate: dict[str, float]
    """Empty where no gate was applied."""


def search(
    query: Query,
    snapshot: Snapshot,
    *,
    profile: str | Profile = "compound",
    limit: int = 5,
    per_note: bool = True,
    gate: bool = True,
    half_life_days: float = 30.0,
    neighbors: int = 2,
    links: NearLinks | None = None,
    max_bytes: int | None = None,
) -> SearchResult:
    """Rank the notes that pass the query's filters, one hit per note.

    ``per_note=False`` ranks passages, as many of one note as there are.
    Without a question the filters list notes, ordered by their metadata. ``gate=False`` is the
    literal formula of the profile. ``links`` adds up to ``neighbors`` linked notes after each
    hit; ``max_bytes`` bounds the snippets.
    """
    if limit < 1:
        raise UsageError(f"a query returns at least 1 note, not {limit}; see `palace query --help`")
    if query.anchors is not None:
        profile = weigh(query.anchors)
    chosen = profile if isinstance(profile, Profile) else get_profile(profile)
    if chosen.name == HIERARCHICAL:
        from memory_palace.retrieval.routing import narrow  # delayed: only this asks for it

        query = narrow(query, snapshot)
    context = find_candidates(query, snapshot, half_life_days=half_life_days)
    is_gated = gate and bool(chosen.gated) and not context.is_listing
    rule = ScoringRule(chosen, _gate_of(context) if is_gated else None)
    if context.anchored is not None:
        context = _admit_anchored(context, context.anchored, rule)
    scored, best = _rank_guarded(context, rule, limit=limit, per_note=per_note)
    folded = count_folded(context, scored, best)
    hits = [
        make_hit(scored, place, folded=count)
        for place, count in zip(best.tolist(), folded, strict=True)
    ]
    if links is not None and neighbors > 0:
        hits = list(add_neighbors(hits, context, rule, links, limit=neighbors))
    if max_bytes is not None:
        hits = fit_budget(hits, max_bytes)
    return SearchResult(hits, rule.gate.figures() if rule.gate else {})


def rank_anchored(query: Query, snapshot: Snapshot, *, max_bytes: int | None = None) -> list[Hit]:
    """Rank passages that anchors lead to, and nothing where none fired."""
    if query.anchors is None or query.anchors.answered_by == "dense":
        return []
    limit = query.anchors.limit
    found = search(query, snapshot, limit=limit, per_note=False, neighbors=0, max_bytes=max_bytes)
    return found.hits


def _rank_guarded(
    context: SearchContext, rule: ScoringRule, *, limit: int, per_note: bool
) -> tuple[Scored, Places]:
    """Rank, and move up what should not have been displaced, where the profile asks for that."""
    if not rule.profile.preserves_rank:
        return rank(context, rule, limit=limit, per_note=per_note)
    from memory_palace.retrieval.guards import RESCUED_TO, preserve_rank  # delayed: seldom asked

    scored, best = rank(context, rule, limit=max(limit, RESCUED_TO), per_note=per_note)
    return scored, preserve_rank(scored, best, per_note=per_note)[:limit]


def _admit_anchored(
    context: SearchContext, found: AnchorEvidence, rule: ScoringRule
) -> SearchContext:
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


def _gate_of(context: SearchContext) -> RelevanceGate:
    from memory_palace.retrieval.gate import make_gate  # delayed: one profile has a gate

    best = 0.0
    if len(context.cosines):
        place = np.argmax(context.cosines, keepdims=True)
        best = float(context.pick_exactly(place).cosines[0])
    return make_gate(best, context.snapshot.commit.calibration)

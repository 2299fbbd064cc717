"""A question in, ranked notes out, with the reason for every rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memory_palace.errors import UsageError
from memory_palace.graph.near import NearLinks
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Hit, Query
from memory_palace.retrieval.budget import fit_budget
from memory_palace.retrieval.candidates import admit_anchored, find_candidates
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.gate import GATE_SHARE, Gate, make_gate
from memory_palace.retrieval.guards import RESCUED_TO, preserve_rank
from memory_palace.retrieval.hits import count_folded, make_hit
from memory_palace.retrieval.neighbors import add_neighbors
from memory_palace.retrieval.profiles import HIERARCHICAL, Profile, get_profile, weigh
from memory_palace.retrieval.ranking import rank
from memory_palace.retrieval.scoring import Rule


class Found(NamedTuple):
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
    gate_share: float = GATE_SHARE,
    half_life_days: float = 30.0,
    neighbors: int = 2,
    links: NearLinks | None = None,
    max_bytes: int | None = None,
) -> Found:
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
        from memory_palace.retrieval.hierarchical import narrow  # delayed: only this asks for it

        query = narrow(query, snapshot)
    context = find_candidates(query, snapshot, half_life_days=half_life_days)
    is_gated = gate and bool(chosen.gated) and not context.is_listing
    rule = Rule(chosen, _gate_of(context, gate_share) if is_gated else None)
    if context.anchored is not None:
        context = admit_anchored(context, context.anchored, rule)
    depth = max(limit, RESCUED_TO) if chosen.preserves_rank else limit
    scored, best = rank(context, rule, limit=depth, per_note=per_note)
    if chosen.preserves_rank:
        best = preserve_rank(scored, best, per_note=per_note)
    best = best[:limit]
    folded = count_folded(context, scored, best)
    hits = [
        make_hit(scored, place, folded=count)
        for place, count in zip(best.tolist(), folded, strict=True)
    ]
    if links is not None and neighbors > 0:
        hits = list(add_neighbors(hits, context, rule, links, limit=neighbors))
    if max_bytes is not None:
        hits = fit_budget(hits, max_bytes)
    return Found(hits, rule.gate.figures() if rule.gate else {})


def rank_anchored(query: Query, snapshot: Snapshot, *, max_bytes: int | None = None) -> list[Hit]:
    """Rank passages that anchors lead to, and nothing where none fired."""
    if query.anchors is None or query.anchors.answered_by == "dense":
        return []
    limit = query.anchors.limit
    found = search(query, snapshot, limit=limit, per_note=False, neighbors=0, max_bytes=max_bytes)
    return found.hits


def _gate_of(context: SearchContext, share: float) -> Gate:
    best = 0.0
    if len(context.cosines):
        place = np.argmax(context.cosines, keepdims=True)
        best = float(context.pick_exactly(place).cosines[0])
    return make_gate(best, context.snapshot.commit.calibration, share=share)

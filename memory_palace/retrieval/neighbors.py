"""Notes one link away from a hit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np

from memory_palace.graph.near import NearLinks
from memory_palace.models import Hit
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.hits import make_hit
from memory_palace.retrieval.scoring import Rule, Scored, score_exactly


def add_neighbors(
    hits: Sequence[Hit], context: SearchContext, rule: Rule, links: NearLinks, *, limit: int
) -> Iterator[Hit]:
    """Yield every hit, and after it up to ``limit`` linked notes that are not shown elsewhere.

    What a hit links to comes before what links to it, and of either the better score comes
    first. Neighbors pass the query's filters, are never cold, and keep their own score.
    """
    paths = context.snapshot.paths
    linked = links.neighbors_of(hit.path for hit in hits)
    wanted = {path for near in linked.values() for path in (*near.out, *near.back)}
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
            neighbor = make_hit(scored, place, linked_from=hit.path)
            if neighbor.chunk and neighbor.chunk.digest in passages:
                continue
            shown.add(path)
            left -= 1
            yield neighbor


def _score_notes(context: SearchContext, rule: Rule, wanted: set[str]) -> Scored:
    paths = context.snapshot.paths
    is_wanted = np.zeros(len(paths), np.bool_)
    is_wanted[[bisect_left(paths, path) for path in wanted]] = True
    is_wanted &= ~context.snapshot.cold
    return score_exactly(context.pick_exactly(np.flatnonzero(is_wanted[context.notes])), rule)


def _best_places(scored: Scored) -> dict[str, tuple[int, int]]:
    """Give each note its rank, and the place of its best passage."""
    paths = scored.context.snapshot.paths
    best: dict[str, tuple[int, int]] = {}
    for rank, place in enumerate(scored.order().tolist()):
        best.setdefault(paths[int(scored.context.notes[place])], (rank, place))
    return best

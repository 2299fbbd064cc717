"""Hits: from places in arrays to what can be shown, with linked notes, within a budget."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from memory_palace.graph.near import NearLinks
from memory_palace.models import Hit
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.evidence import Places
from memory_palace.retrieval.rank import Scored, ScoringRule, score_exactly

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


def count_folded(context: SearchContext, scored: Scored, shown: Places) -> list[int]:
    """Count for each hit the other candidate notes that hold its passage and are no hits."""
    if context.is_listing or not len(shown):
        return [0] * len(shown)
    digests = context.snapshot.row_digests
    cosines = scored.context.cosines[shown]
    # Equal passages have equal vectors: most candidates cannot be copies of any hit.
    near = np.flatnonzero(context.cosines > cosines.min() - _SAME)
    near_digests, near_notes = digests[context.rows[near]], context.notes[near]
    hits = set(scored.context.notes[shown].tolist())
    return [
        len(set(near_notes[(near_digests == digest).all(axis=1)].tolist()) - hits)
        for digest in digests[scored.context.rows[shown]]
    ]


def add_neighbors(
    hits: Sequence[Hit], context: SearchContext, rule: ScoringRule, links: NearLinks, *, limit: int
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


def _score_notes(context: SearchContext, rule: ScoringRule, wanted: set[str]) -> Scored:
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


def fit_budget(hits: Iterable[Hit], max_bytes: int) -> list[Hit]:
    """Keep hits in order while their snippets fit into ``max_bytes`` of UTF-8.

    The first that does not fit ends the list: a worse hit is never preferred for being shorter.
    Where that is the very first, its snippet is cut, so that there is an answer.
    """
    kept: list[Hit] = []
    left = max_bytes
    for hit in hits:
        snippet = hit.snippet.encode()
        if len(snippet) > left:
            if not kept:
                kept.append(replace(hit, snippet=snippet[: max(left, 0)].decode(errors="ignore")))
            break
        kept.append(hit)
        left -= len(snippet)
    return kept


def fit_passages(hits: Sequence[Hit], passages: Sequence[str], max_bytes: int) -> list[str]:
    """Keep whole passages beside the snippets of their hits while both fit, in order.

    One that does not fit becomes empty: its snippet stands for it.
    """
    left = max_bytes - sum(len(hit.snippet.encode()) for hit in hits)
    kept = []
    for passage in passages:
        size = len(passage.encode())
        kept.append(passage if size <= left else "")
        left -= size if size <= left else 0
    return kept

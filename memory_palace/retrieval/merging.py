"""One answer of several palaces that were asked the same, the surest hits first.

Scores are of one palace and its embedder; a confidence means the same in each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from memory_palace.models import Hit, QueryResult

Group: TypeAlias = tuple[float, list[Hit]]
"""A hit with its linked notes, and how sure it is."""


def merge_results(
    results: Mapping[str, QueryResult], *, limit: int, min_confidence: float | None = None
) -> QueryResult:
    """Return the answer of all palaces; each hit says which one it is of.

    The order within a palace stays: there too the surest come first. Listings go by score. A
    passage that stands in several palaces is one hit. Where a palace holds what the question
    quotes, those that do not hold it are silent, as notes without it are within one palace.
    ``results`` must not be empty.
    """
    unmatched = set.intersection(*(set(found.unmatched_quotes) for found in results.values()))
    heard = {
        name: found for name, found in results.items() if set(found.unmatched_quotes) == unmatched
    }
    heard = heard or dict(results)  # each holds another of the quotes
    groups = [group for name, found in heard.items() for group in _group(name, found)]
    groups = _fold(sorted(groups, key=lambda group: -group[0]))[:limit]
    if min_confidence is not None:
        is_sure = [(hits[0].confidence or 0.0) >= min_confidence for _, hits in groups]
        sure = [group for group, is_kept in zip(groups, is_sure, strict=True) if is_kept]
        is_listing = bool(groups) and groups[0][1][0].confidence is None
        groups = groups if is_listing else sure or groups[:1]
    shown = {hit.palace for _, hits in groups for hit in hits}
    return _join(results, heard, groups, shown, tuple(sorted(unmatched)))


def _join(
    results: Mapping[str, QueryResult],
    heard: Mapping[str, QueryResult],
    groups: Sequence[Group],
    shown: set[str],
    unmatched: tuple[str, ...],
) -> QueryResult:
    every = list(results.values())
    modes = {found.mode for found in every}
    freshness = {found.freshness for found in every}
    embedders = {found.embedder for found in every}
    times = (time for name, found in heard.items() if name in shown for time in found.times)
    return QueryResult(
        text=every[0].text,
        profile=every[0].profile,
        mode="vector" if "vector" in modes else every[0].mode,
        embedder=every[0].embedder if len(embedders) == 1 else None,
        hits=tuple(hit for _, hits in groups for hit in hits),
        is_answered=any(found.is_answered for found in heard.values()),
        freshness="stale"
        if "stale" in freshness
        else "unchecked"
        if "unchecked" in freshness
        else "current",
        behind=sum(found.behind for found in every),
        awaiting=sum(found.awaiting for found in every),
        languages=tuple(dict.fromkeys(name for found in every for name in found.languages)),
        unmatched_quotes=unmatched,
        times=tuple(dict.fromkeys(times)),
    )


def _group(name: str, found: QueryResult) -> Iterator[Group]:
    """Yield the hits of a palace, each with what is linked with it, in their order."""
    groups: list[list[Hit]] = []
    for hit in found.hits:
        if hit.role == "core":
            groups.append([])
        groups[-1].append(replace(hit, palace=name))
    sure = [_sureness(hits[0]) for hits in groups]
    return zip(sure, groups, strict=True)


def _sureness(hit: Hit) -> float:
    return hit.score if hit.confidence is None else hit.confidence


def _fold(groups: Sequence[Group]) -> list[Group]:
    """Return the groups without those whose passage a better one of another palace has."""
    kept: list[Group] = []
    places: dict[str, int] = {}
    for sureness, hits in groups:
        digest = hits[0].chunk.digest if hits[0].chunk and hits[0].confidence is not None else ""
        place = places.get(digest)
        if place is None or kept[place][1][0].palace == hits[0].palace:
            if digest:
                places.setdefault(digest, len(kept))
            kept.append((sureness, list(hits)))
            continue
        first, *linked = kept[place][1]
        more = first.folded + 1 + hits[0].folded
        kept[place] = kept[place][0], [replace(first, folded=more), *linked]
    return kept

"""Ask CORF questions of anchors, their ablations, and the baselines, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.policy import source_of
from memory_palace.bench.corf_data import MODES, Item
from memory_palace.bench.metrics import interval, mcnemar
from memory_palace.embedding.base import embed_query
from memory_palace.errors import UsageError
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Filters, Hit, Query, Vector
from memory_palace.palace import Palace
from memory_palace.retrieval.filters import match_notes
from memory_palace.retrieval.search import rank_anchored

K = 20
LATE = "late"
"""The row of questions on notes that were written after the anchors were built."""
Ranked = tuple[list[str], float]
"""Passages, best first, and the milliseconds it took with the question's vector at hand."""
Ask = Callable[[Item, Vector], Ranked]


@dataclass(frozen=True, slots=True)
class CorfRow:
    """What one system reached on the questions of one mode."""

    system: str
    mode: str
    """A mode, or ``all``."""
    questions: int
    recall: float
    """CORF-Recall@20: the share whose passage is among the first 20."""
    low: float
    high: float
    """95 % bootstrap interval of the recall, over questions."""
    note_recall: float
    irrelevant: float
    """Irrelevant-injection rate: share of what is returned that is not ``relevant``."""
    precision_at_r: float
    """Share of the first R that is relevant, where R passages are."""
    returned: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    scr_eligible: float
    """Share of all sources that hold something relevant to a question, on average."""
    scr_hit: float
    """Share of those that something returned comes from, on average."""
    only_here: int = 0
    only_anchors: int = 0
    p_value: float = 1.0
    """McNemar's exact test against ``anchors``."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    item: Item
    hit: bool
    note_hit: bool
    irrelevant: float
    precision_at_r: float
    returned: int
    milliseconds: float
    eligible: float
    sources: float


def measure_corf(
    palace: Palace, items: Sequence[Item], systems: Sequence[str] = ()
) -> list[CorfRow]:
    """Ask every question of every system; return figures per system and mode, and for all."""
    known = known_systems(palace)
    unknown = set(systems) - known.keys()
    if unknown:
        raise UsageError(f"there is no system {min(unknown)!r}; known: {', '.join(known)}")
    chosen = ["anchors", *(name for name in systems or known if name != "anchors")]
    embedder = palace.embedder()
    vectors = {item.id: embed_query(embedder, item.text) for item in items}
    outcomes = {name: _ask_all(palace, items, vectors, known[name]) for name in chosen}
    return [
        _figures(name, mode, outcomes[name], outcomes["anchors"])
        for mode in ("all", *MODES, LATE)
        for name in chosen
        if any(mode in _modes(item) for item in items)
    ]


def _modes(item: Item) -> tuple[str, ...]:
    """Return the rows of figures that a question counts in."""
    return ("all", *item.modes, LATE) if item.written_after_build else ("all", *item.modes)


def known_systems(palace: Palace) -> dict[str, Ask]:
    """Return anchors and what is left without a part, dense search, BM25 and hybrid.

    Source document 003 names the first four.
    """
    snapshot = palace.snapshot()
    nightly = copy(snapshot)
    nightly.commit = replace(snapshot.commit, anchors=snapshot.commit.anchors[:1])
    sources = np.array([source_of(path, palace.config.sources) for path in snapshot.paths])
    names, counts = np.unique(sources[snapshot.row_note], return_counts=True)
    inside = np.append(sources == names[np.argmax(counts)], np.False_)[snapshot.row_note]
    everything = snapshot.row_note >= 0
    return {
        "anchors": _anchors(palace, snapshot),
        "no-pronoun": _anchors(palace, snapshot, projects=()),
        "no-rerank": _anchors(_with_settings(palace, query_weight=0.0), snapshot),
        "nightly-only": _anchors(palace, nightly),
        "lexical-only": _anchors(_with_settings(palace, sem_theta=2.0), snapshot),
        "dense": _dense(palace, everything),
        "dense-one-source": _dense(palace, everything & inside),
        "bm25-passages": _profile(palace, "bm25-passages"),
        "hybrid": _profile(palace, "hybrid"),
    }


def _with_settings(palace: Palace, **settings: float) -> Palace:
    anchors = replace(palace.config.anchors, **settings)  # type: ignore[arg-type]
    return Palace(palace.paths.root, config=replace(palace.config, anchors=anchors))


def _anchors(palace: Palace, snapshot: Snapshot, *, projects: Sequence[str] | None = None) -> Ask:
    dense = _dense(palace, snapshot.row_note >= 0)
    notes = match_notes(snapshot, Filters())

    def ask(item: Item, vector: Vector) -> Ranked:
        started = time.perf_counter()
        query = palace.anchors.ask(
            Query(item.text, 0.0, vector=vector),
            snapshot,
            notes,
            projects=item.project_anchors if projects is None else projects,
            limit=K,
        )
        hits = rank_anchored(query, snapshot)
        took = (time.perf_counter() - started) * 1000
        return (_chunk_ids(hits), took) if hits else dense(item, vector)

    return ask


def _dense(palace: Palace, allowed: NDArray[np.bool_]) -> Ask:
    rows = np.flatnonzero(allowed)

    def ask(item: Item, vector: Vector) -> Ranked:
        started = time.perf_counter()
        cosines = palace.snapshot().similarities(vector)[rows]
        best = np.argpartition(-cosines, min(K, len(rows) - 1))[:K]
        best = best[np.argsort(-cosines[best], kind="stable")]
        took = (time.perf_counter() - started) * 1000
        return _ids(palace, rows[best]), took

    return ask


def _profile(palace: Palace, profile: str) -> Ask:
    def ask(item: Item, vector: Vector) -> Ranked:
        started = time.perf_counter()
        result = palace.query(item.text, limit=K, profile=profile, per_note=False, neighbors=0)
        took = (time.perf_counter() - started) * 1000
        return _chunk_ids(result.hits), took

    return ask


def _chunk_ids(hits: Iterable[Hit]) -> list[str]:
    chunks = [hit.chunk for hit in hits if hit.chunk]
    return [f"{chunk.path}#{chunk.digest[:16]}" for chunk in chunks]


def _ids(palace: Palace, rows: NDArray[np.int64]) -> list[str]:
    snapshot = palace.snapshot()
    digests = snapshot.row_digests[rows]
    paths = [snapshot.paths[note] for note in snapshot.row_note[rows].tolist()]
    return [f"{path}#{bytes(d)[:8].hex()}" for path, d in zip(paths, digests, strict=True)]


def _ask_all(
    palace: Palace, items: Sequence[Item], vectors: Mapping[str, Vector], ask: Ask
) -> list[_Outcome]:
    ask(items[0], vectors[items[0].id])  # opens what is opened once
    sources = {source_of(path, palace.config.sources) for path in palace.snapshot().paths}
    outcomes = []
    for item in items:
        ranked, took = ask(item, vectors[item.id])
        paths = [chunk.partition("#")[0] for chunk in ranked[:K]]
        near = {source_of(path, palace.config.sources) for path in paths}
        good = {source_of(c.partition("#")[0], palace.config.sources) for c in _relevant(item)}
        shares = len(good) / len(sources), len(good & near) / len(good)
        outcomes.append(_outcome(item, ranked[:K], paths, took, shares))
    return outcomes


def _outcome(
    item: Item, ranked: list[str], paths: list[str], took: float, shares: tuple[float, float]
) -> _Outcome:
    relevant = _relevant(item)
    good = [chunk in relevant for chunk in ranked]
    first = good[: len(relevant)]
    return _Outcome(
        item,
        hit=bool(set(item.ground_truth).intersection(ranked)),
        note_hit=item.ground_truth_path in paths,
        irrelevant=1 - sum(good) / len(good) if good else 0.0,
        precision_at_r=sum(first) / len(relevant),
        returned=len(ranked),
        milliseconds=took,
        eligible=shares[0],
        sources=shares[1],
    )


def _relevant(item: Item) -> set[str]:
    return {*item.relevant, *item.ground_truth}


def _figures(
    system: str, mode: str, outcomes: Sequence[_Outcome], beside: Sequence[_Outcome]
) -> CorfRow:
    chosen = [
        (own, other)
        for own, other in zip(outcomes, beside, strict=True)
        if mode in _modes(own.item)
    ]
    own = [pair[0] for pair in chosen]
    hits = [float(outcome.hit) for outcome in own]
    low, high = interval(hits)
    only_here, only_anchors, p_value = mcnemar(hits, [float(pair[1].hit) for pair in chosen])
    times = np.percentile([outcome.milliseconds for outcome in own], [50, 95, 99])

    def mean(values: Sequence[float]) -> float:
        return float(np.mean(values))

    return CorfRow(
        system=system,
        mode=mode,
        questions=len(own),
        recall=mean(hits),
        low=low,
        high=high,
        note_recall=mean([o.note_hit for o in own]),
        irrelevant=mean([o.irrelevant for o in own]),
        precision_at_r=mean([o.precision_at_r for o in own]),
        returned=mean([o.returned for o in own]),
        p50_ms=float(times[0]),
        p95_ms=float(times[1]),
        p99_ms=float(times[2]),
        scr_eligible=mean([o.eligible for o in own]),
        scr_hit=mean([o.sources for o in own]),
        only_here=only_here,
        only_anchors=only_anchors,
        p_value=p_value,
    )

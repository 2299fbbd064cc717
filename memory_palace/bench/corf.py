"""Ask CORF questions of anchors, their ablations, and the baselines, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.policy import source_of
from memory_palace.bench.corf_data import MODES, CorfQuestion
from memory_palace.bench.metrics import interval, mcnemar
from memory_palace.embedding.base import embed_query
from memory_palace.errors import UsageError
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Filters, Hit, Query, Vector
from memory_palace.palace import Palace
from memory_palace.retrieval.context import match_notes
from memory_palace.retrieval.search import rank_anchored

K = 20
LATE = "late"
"""The row of questions on notes that were written after the anchors were built."""
CorfSystem: TypeAlias = Callable[[CorfQuestion, Vector], list[str]]
"""Gives passages, best first, with the question's vector at hand."""


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
    """What one question got."""

    item: CorfQuestion
    milliseconds: float
    figures: dict[str, float]
    """Named as their means in ``CorfRow``."""


def measure_corf(
    palace: Palace, items: Sequence[CorfQuestion], systems: Sequence[str] = ()
) -> list[CorfRow]:
    """Ask every question of every system; return figures per system and mode, and for all."""
    known = known_systems(palace)
    unknown = set(systems) - known.keys()
    if unknown:
        raise UsageError(f"unknown system {min(unknown)!r}; choose from {', '.join(known)}")
    chosen = ["anchors", *(name for name in systems or known if name != "anchors")]
    embedder = palace.embedder()
    vectors = {item.id: embed_query(embedder, item.text) for item in items}
    outcomes = {name: _ask_all(palace, items, vectors, known[name]) for name in chosen}
    return [
        _row(name, mode, outcomes[name], outcomes["anchors"])
        for mode in ("all", *MODES, LATE)
        for name in chosen
        if any(mode in _modes(item) for item in items)
    ]


def _modes(item: CorfQuestion) -> tuple[str, ...]:
    """Return the rows of figures that a question counts in."""
    return ("all", *item.modes, LATE) if item.written_after_build else ("all", *item.modes)


def known_systems(palace: Palace) -> dict[str, CorfSystem]:
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


def _anchors(
    palace: Palace, snapshot: Snapshot, *, projects: Sequence[str] | None = None
) -> CorfSystem:
    dense = _dense(palace, snapshot.row_note >= 0)
    notes = match_notes(snapshot, Filters())

    def ask(item: CorfQuestion, vector: Vector) -> list[str]:
        query = palace.anchors.ask(
            Query(item.text, 0.0, vector=vector),
            snapshot,
            notes,
            projects=item.project_anchors if projects is None else projects,
            limit=K,
        )
        hits = rank_anchored(query, snapshot, palace.paths)
        return _chunk_ids(hits) if hits else dense(item, vector)

    return ask


def _dense(palace: Palace, allowed: NDArray[np.bool_]) -> CorfSystem:
    rows = np.flatnonzero(allowed)
    snapshot = palace.snapshot()

    def ask(item: CorfQuestion, vector: Vector) -> list[str]:
        cosines = snapshot.similarities(vector)[rows]
        best = np.argpartition(-cosines, min(K, len(rows) - 1))[:K]
        best = rows[best[np.argsort(-cosines[best], kind="stable")]]
        paths = [snapshot.paths[note] for note in snapshot.row_note[best].tolist()]
        digests = [bytes(digest)[:8].hex() for digest in snapshot.row_digests[best]]
        return [f"{path}#{digest}" for path, digest in zip(paths, digests, strict=True)]

    return ask


def _profile(palace: Palace, profile: str) -> CorfSystem:
    def ask(item: CorfQuestion, vector: Vector) -> list[str]:
        result = palace.query(item.text, limit=K, profile=profile, per_note=False, neighbors=0)
        return _chunk_ids(result.hits)

    return ask


def _chunk_ids(hits: Iterable[Hit]) -> list[str]:
    chunks = [hit.chunk for hit in hits if hit.chunk]
    return [f"{chunk.path}#{chunk.digest[:16]}" for chunk in chunks]


def _ask_all(
    palace: Palace, items: Sequence[CorfQuestion], vectors: Mapping[str, Vector], ask: CorfSystem
) -> list[_Outcome]:
    def sources(chunks: Iterable[str]) -> set[str]:
        return {source_of(chunk.partition("#")[0], palace.config.sources) for chunk in chunks}

    everywhere = sources(palace.snapshot().paths)
    ask(items[0], vectors[items[0].id])  # opens what is opened once
    outcomes = []
    for item in items:
        started = time.perf_counter()
        ranked = ask(item, vectors[item.id])[:K]
        took = (time.perf_counter() - started) * 1000
        relevant = {*item.relevant, *item.ground_truth}
        good = [chunk in relevant for chunk in ranked]
        wanted = sources(relevant)
        notes = {chunk.partition("#")[0] for chunk in ranked}
        figures = {
            "recall": float(not set(item.ground_truth).isdisjoint(ranked)),
            "note_recall": float(item.ground_truth_path in notes),
            "irrelevant": 1 - sum(good) / len(good) if good else 0.0,
            "precision_at_r": sum(good[: len(relevant)]) / len(relevant),
            "returned": len(ranked),
            "scr_eligible": len(wanted) / len(everywhere),
            "scr_hit": len(wanted & sources(ranked)) / len(wanted),
        }
        outcomes.append(_Outcome(item, took, figures))
    return outcomes


def _row(
    system: str, mode: str, outcomes: Sequence[_Outcome], beside: Sequence[_Outcome]
) -> CorfRow:
    pairs = zip(outcomes, beside, strict=True)
    own, anchors = zip(*(pair for pair in pairs if mode in _modes(pair[0].item)), strict=True)
    hits = [outcome.figures["recall"] for outcome in own]
    low, high = interval(hits)
    only_here, only_anchors, p_value = mcnemar(hits, [o.figures["recall"] for o in anchors])
    times = np.percentile([outcome.milliseconds for outcome in own], [50, 95, 99]).tolist()
    return CorfRow(
        system,
        mode,
        len(own),
        low=low,
        high=high,
        p50_ms=times[0],
        p95_ms=times[1],
        p99_ms=times[2],
        only_here=only_here,
        only_anchors=only_anchors,
        p_value=p_value,
        **{name: fmean(o.figures[name] for o in own) for name in own[0].figures},
    )

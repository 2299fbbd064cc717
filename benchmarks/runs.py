"""Runs: one system asked every question of a set."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora import open_corpus
from benchmarks.datasets.items import Collection
from benchmarks.metrics import score_ranking
from benchmarks.product import product_ranker
from benchmarks.systems import WORDS_ALONE, Ranker, grep_ranker, mode_profile, profile_ranker
from benchmarks.vectors import RememberingEmbedder
from memory_palace.embedding.registry import NO_VECTORS, Embedder, get_embedder
from memory_palace.retrieval.signals import Profile

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""
_KEPT = 10


@dataclass(frozen=True, slots=True)
class Answer:
    """The ranking that a system gave for one question."""

    id: str
    group: str
    category: str
    is_abstention: bool
    is_incomplete: bool
    gold: tuple[str, ...]
    ranked: tuple[str, ...]
    """The first ten units, best first."""
    scores: dict[str, float]
    """Of every measure; empty where there is no gold."""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run."""

    name: str
    system: str
    answers: tuple[Answer, ...]
    embedder: str = ""
    """Empty where the system makes no vectors."""
    seconds: float = 0.0
    """Of ranking alone, without embedding and making indexes."""


def run_system(
    name: str,
    collections: Sequence[Collection],
    system: str | Profile,
    *,
    embedder: Embedder,
    cache: Path,
    is_product: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> Run:
    """Ask every question; vectors and indexes are kept in ``cache``.

    ``is_product`` asks as ``palace query`` does. A system of words alone makes no vectors.
    """
    recipe: str | Profile = system
    if isinstance(system, str) and system != "grep":
        ranks_passages = bool(collections) and collections[0].ranks_passages
        recipe = mode_profile(system, ranks_passages=ranks_passages)
    if (recipe if isinstance(recipe, str) else recipe.name) in WORDS_ALONE:
        embedder = get_embedder(NO_VECTORS)
    remembering = RememberingEmbedder(
        embedder,
        cache if embedder.dimension else None,
        progress=lambda made, total: progress("embedding", made, total),
    )
    answers: list[Answer] = []
    total, seconds = sum(len(collection.questions) for collection in collections), 0.0
    try:
        for collection in collections:
            ranker = _make_ranker(recipe, collection, cache, remembering, is_product=is_product)
            for answer, spent in _ask(collection, ranker, remembering):
                answers.append(answer)
                seconds += spent
                progress("asking", len(answers), total)
    finally:
        remembering.save()
    made_by = embedder.name if embedder.dimension else ""
    called = system if isinstance(system, str) else system.name
    return Run(name, called, tuple(answers), made_by, seconds)


def _ask(
    collection: Collection, ranker: Ranker, embedder: Embedder
) -> Iterator[tuple[Answer, float]]:
    """Yield each answer, and the seconds of its ranking."""
    matrix = embedder.embed_queries([question.text for question in collection.questions])
    for question, vector in zip(collection.questions, matrix, strict=True):
        started = time.perf_counter()
        found = ranker(question, vector)
        seconds = time.perf_counter() - started
        units = [unit for unit, _ in found.units]
        gains = dict(question.gains)
        scores = score_ranking(units, question.gold, gains) if question.gold else {}
        scores |= found.figures if scores else {}
        answer = Answer(
            question.id,
            collection.group,
            question.category,
            question.is_abstention,
            question.is_incomplete,
            tuple(sorted(question.gold)),
            tuple(units[:_KEPT]),
            {measure: round(value, 6) for measure, value in scores.items()},
        )
        yield answer, seconds


def _make_ranker(
    recipe: str | Profile,
    collection: Collection,
    cache: Path,
    embedder: Embedder,
    *,
    is_product: bool,
) -> Ranker:
    if isinstance(recipe, str):
        return grep_ranker(collection)
    if is_product:
        return product_ranker(recipe, collection, cache, embedder)
    corpus = open_corpus(collection, cache, embedder, detail=recipe.needs)
    return profile_ranker(recipe, collection, corpus, embedder)

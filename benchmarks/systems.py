"""What is measured: profiles of the product, and plain search for words beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from benchmarks.corpora import Corpus
from benchmarks.datasets.items import Collection, EvalQuestion
from memory_palace.embedding.registry import Embedder, embed_question
from memory_palace.language.words import STOPWORDS, tokenize
from memory_palace.models import Filters, ParsedQuery, Vector
from memory_palace.query import Query
from memory_palace.retrieval.search import search
from memory_palace.retrieval.signals import Profile, get_profile
from memory_palace.signals import Extension, ProfileSettings, register

DEPTH = 20
"""How many units are ranked: what lies below counts in no measure but the last of MRR."""
WORDS_ALONE = frozenset({"grep", "bm25", "bm25-passages"})
"""What compares words alone; a profile of them is asked of an index without vectors."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a system gave for a question."""

    units: Sequence[tuple[str, float]]
    """Units that were found and their scores, best first."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """More measures than those of the ranking."""


_BASELINES = Extension(
    "benchmarks",
    profiles={
        "fusion": ProfileSettings("bm25", weights={"dense": 1.0, "lexical": 0}),
        "bm25-passages": ProfileSettings("bm25", weights={"lexical": 1.0, "note_lexical": 0}),
    },
)
Ranker: TypeAlias = Callable[[EvalQuestion, Vector], Found]


def add_baselines() -> None:
    """Register the baselines and ablations through the public hook."""
    register(_BASELINES)


def mode_profile(mode: str, *, ranks_passages: bool) -> Profile:
    """Return the profile of a mode. BM25 ranks passages by passages, and notes by notes."""
    add_baselines()
    if mode == "bm25" and ranks_passages:
        return get_profile("bm25-passages")
    return get_profile("raw" if mode == "vector" else mode)


def profile_ranker(
    profile: Profile, collection: Collection, corpus: Corpus, embedder: Embedder
) -> Ranker:
    """Return how a profile ranks the units of a collection."""
    unit = partial(corpus.unit, is_passage=collection.ranks_passages)

    def rank(question: EvalQuestion, vector: Vector) -> Found:
        query = ParsedQuery(" ".join(question.text.split()), question.as_of, Filters())
        query = embed_question(query, embedder) if embedder.dimension else query
        found = search(
            query,
            corpus.snapshot,
            Query(limit=DEPTH, per_note=not collection.ranks_passages),
            profile=profile,
        )
        units: dict[str, float] = {}
        for hit in found.hits:  # of a passage that was cut, the best piece counts
            units.setdefault(unit(hit.path, hit.chunk.first_line), hit.score)
        return Found(list(units.items()))

    return rank


def grep_ranker(collection: Collection) -> Ranker:
    """Return how somebody would do without any tool: most of the question's words first."""
    units = [
        (unit, set(tokenize(text, stems=False)))
        for document in collection.documents
        for unit, text in (
            [(p.id, p.text) for p in document.passages]
            if collection.ranks_passages
            else [(document.id, " ".join((document.text, *(p.text for p in document.passages))))]
        )
    ]

    def rank(question: EvalQuestion, vector: Vector) -> Found:
        words = set(tokenize(question.text, stems=False)) - STOPWORDS
        counts = [(-len(words & held), place) for place, (_, held) in enumerate(units)]
        best = sorted(counts)[:DEPTH]
        return Found([(units[place][0], -count) for count, place in best if count])

    return rank

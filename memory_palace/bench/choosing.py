"""Which embedder does better on somebody's own notes, and at what cost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np

from memory_palace.bench.made_questions import Sample, draw_sample
from memory_palace.bench.metrics import interval, paired_interval
from memory_palace.embedding.base import Embedder
from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import UsageError
from memory_palace.index.npz import Array
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import bm25_idf, drop_stop_stems
from memory_palace.models import Matrix, Vector
from memory_palace.palace import Palace

MOST_PASSAGES = 200
"""Embedded with each model, unless the index has their vectors."""
LEAST_QUESTIONS = 10
WORDS = "words"
"""What is compared beside the models: BM25."""
_SLICE = 16
"""Texts that are embedded at a time."""
_K1, _B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class ModelScore:
    """How one model, or words alone, found the notes that the questions mean."""

    name: str
    at_1: float
    at_5: float
    mrr: float
    low: float
    high: float
    """The 95 % interval of the mean reciprocal rank."""
    embedded: int = 0
    """Passages; the others have their vectors in the index."""
    seconds: float = 0.0
    """Wall time of one of them."""
    megabytes: float = 0.0
    """Of the vectors of all passages of the palace."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What a comparison of models on the notes of a palace found."""

    sample: Sample
    scores: Sequence[ModelScore]
    """The best first."""
    best: str
    """The model with the highest mean reciprocal rank, and the next after it."""
    other: str
    difference: tuple[float, float, float]
    """In mean reciprocal rank between them, with its 95 % interval."""

    @property
    def is_clear(self) -> bool:
        """Whether the difference is more than chance."""
        return self.difference[1] > 0


def compare_models(
    palace: Palace,
    names: Sequence[str],
    *,
    most: int = MOST_PASSAGES,
    progress: Callable[[str, int, int], None] = lambda doing, done, total: None,
    clock: Callable[[], float] = time.monotonic,
) -> ModelChoice:
    """Ask each model, and words alone, the same questions. Nothing is written into the palace.

    Raise ``UsageError`` where the notes give fewer than ten questions.
    """
    sample = draw_sample(palace, most=most)
    if len(sample.questions) < LEAST_QUESTIONS:
        raise UsageError(
            f"these notes have too few titles and links of their own to compare models by: "
            f"{len(sample.questions)} questions, of {LEAST_QUESTIONS} at least"
        )
    ranks = {WORDS: rank_by_words(sample)}
    scores = [_score(WORDS, ranks[WORDS])]
    rows = palace.snapshot().commit.rows
    for name in names:
        embedder = get_embedder(name)
        passages, embedded, seconds = _embed(palace, embedder, sample.texts, progress, clock)
        questions = embedder.embed_queries([question.text for question in sample.questions])
        ranks[name] = _ranks(sample, questions @ passages.T)
        score = _score(name, ranks[name])
        megabytes = rows * embedder.dimension * 4 / 1e6
        scores.append(replace(score, embedded=embedded, seconds=seconds, megabytes=megabytes))
    scores.sort(key=lambda score: -score.mrr)
    best, *others = [score.name for score in scores if score.name != WORDS]
    other = others[0] if others else WORDS
    first, second = (1 / np.array(ranks[name]) for name in (best, other))
    return ModelChoice(sample, scores, best, other, paired_interval(second, first))


def _score(name: str, ranks: Sequence[float]) -> ModelScore:
    found = np.array(ranks)
    at_1, at_5 = (float(np.mean(found <= most)) for most in (1, 5))
    low, high = interval(1 / found)
    return ModelScore(name, at_1, at_5, float(np.mean(1 / found)), low, high)


def _embed(
    palace: Palace,
    embedder: Embedder,
    texts: Sequence[str],
    progress: Callable[[str, int, int], None],
    clock: Callable[[], float],
) -> tuple[Matrix, int, float]:
    """Return a unit vector per text, how many were embedded, and the seconds of one of them."""
    vectors: Matrix = np.zeros((len(texts), embedder.dimension), np.float32)
    known = _known_vectors(palace.snapshot(), embedder.name)
    new: list[int] = []
    for place, text in enumerate(texts):
        vector = known(text)
        if vector is None:
            new.append(place)
        else:
            vectors[place] = vector
    if new:
        embedder.embed_passages([texts[new[0]][:40]])  # the weights are read with the first text
    started = clock()
    for start in range(0, len(new), _SLICE):
        progress(f"embedding with {embedder.name}", start, len(new))
        part = new[start : start + _SLICE]
        vectors[part] = embedder.embed_passages([texts[place] for place in part])
    seconds = (clock() - started) / max(len(new), 1)
    progress(f"embedding with {embedder.name}", len(new), len(new))
    return vectors, len(new), seconds


def _known_vectors(snapshot: Snapshot, name: str) -> Callable[[str], Vector | None]:
    """Return how to look up the vector that the index has of a text, by its digest."""
    if name != snapshot.commit.embedder or not snapshot.commit.dimension:
        return lambda text: None
    rows = {bytes(digest): row for row, digest in enumerate(snapshot.row_digests)}

    def find(text: str) -> Vector | None:
        row = rows.get(sha256(text.encode()).digest()[:16])
        return None if row is None else snapshot.rows_of(np.array([row]))[0]

    return find


def rank_by_words(sample: Sample) -> list[float]:
    """Return the rank of each question's note, by the BM25 of its best passage."""
    words = [Counter(tokenize(text)) for text in sample.texts]
    having = Counter(word for held in words for word in held)
    sizes = np.array([held.total() for held in words], np.float64)
    norms = _K1 * (1 - _B + _B * sizes / max(sizes.mean(), 1))
    scores = np.zeros((len(sample.questions), len(words)))
    for row, question in enumerate(sample.questions):
        for term in drop_stop_stems(tokenize(question.text)):
            held = np.array([count[term] for count in words], np.float64)
            scores[row] += bm25_idf(having[term], len(words)) * held * (_K1 + 1) / (held + norms)
    return _ranks(sample, scores)


def _ranks(sample: Sample, scores: Array) -> list[float]:
    """Return the rank of each question's note by its best passage; the middle one among equals."""
    ranks: list[float] = []
    for row, question in enumerate(sample.questions):
        best = np.full(len(sample.paths), -np.inf)
        np.maximum.at(best, sample.owners, scores[row])
        own = best[question.note]
        if question.source is not None:
            best[question.source] = -np.inf
        ahead = np.count_nonzero(best > own)
        ranks.append(float(1 + ahead + (np.count_nonzero(best == own) - 1) / 2))
    return ranks

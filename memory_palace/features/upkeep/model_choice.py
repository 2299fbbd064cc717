"""Compare embedders on a palace's own notes, by questions that the notes themselves pose.

A title asks for its own note by its text alone: no passage shows the title of its note. The words
around a link ask for the note that the link leads to, without the name that the link shows.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import UsageError
from memory_palace.features.upkeep.models import ModelChoice, ModelScore
from memory_palace.graph.resolve import Resolver, fold_name
from memory_palace.index.npz import Array
from memory_palace.language.sentences import find_units
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import bm25_idf, drop_stop_stems
from memory_palace.markdown.markup import Markup
from memory_palace.markdown.prose import strip_markup
from memory_palace.notes.note import Chunk, Note
from memory_palace.notes.parsing import parse_note
from memory_palace.palace import Palace

MOST_PASSAGES = 200
"""Passages to embed with each model."""
PER_NOTE = 2
LEAST_QUESTIONS = 10
WORDS = "words"
"""The system beside the models: BM25."""
_LEAST_TITLE, _LEAST_SENTENCE = 4, 30
"""Letters; a character of Chinese, Japanese or Korean counts as three."""
_LINKED = 2
"""Questions of links to one note."""
_DENSE = 3
_SLICE = 16
_K1, _B = 1.2, 0.75
_SEED, _DRAWS = 7, 2_000


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question made of the notes; notes are places in the sample."""

    text: str
    kind: str
    """``title`` or ``link``."""
    note: int
    source: int | None = None
    """The note it was taken from, which is no answer."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Some notes, two passages of each without the title, and questions about them."""

    paths: Sequence[str]
    texts: Sequence[str]
    owners: Array
    """The note of each text."""
    questions: Sequence[MadeQuestion]


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
    ranks = {WORDS: _rank(sample, _score_words(sample))}
    scores = [ModelScore(WORDS, *_summarise(ranks[WORDS]))]
    rows, count = palace.snapshot().commit.rows, len(sample.texts)
    for name in names:
        embedder = get_embedder(name)
        embedder.embed_passages([sample.texts[0][:40]])  # the weights are read with the first text
        started, parts = clock(), []
        for start in range(0, count, _SLICE):
            progress(f"embedding with {name}", start, count)
            parts.append(embedder.embed_passages(sample.texts[start : start + _SLICE]))
        seconds = (clock() - started) / count
        progress(f"embedding with {name}", count, count)
        questions = embedder.embed_queries([question.text for question in sample.questions])
        ranks[name] = _rank(sample, questions @ np.concatenate(parts).T)
        size = round(rows * embedder.dimension * 4 / 1e6, 1)
        scores.append(ModelScore(name, *_summarise(ranks[name]), count, round(seconds, 4), size))
    scores.sort(key=lambda score: -score.mrr)
    best, *others = [score.name for score in scores if score.name != WORDS]
    other = others[0] if others else WORDS
    gained = 1 / np.array(ranks[best]) - 1 / np.array(ranks[other])
    low, high = _interval(gained)
    kinds = Counter(question.kind for question in sample.questions)
    return ModelChoice(
        notes=len(sample.paths),
        passages=count,
        titles=kinds["title"],
        links=kinds["link"],
        models=tuple(scores),
        better=best if low > 0 else None,
        best=best,
        next=other,
        difference=round(float(gained.mean()), 4),
        low=low,
        high=high,
    )


def draw_sample(palace: Palace, *, most: int) -> Sample:
    """Choose notes evenly by path, and make questions of their titles and of links to them."""
    snapshot = palace.snapshot()
    places = [place for place in range(len(snapshot.paths)) if not snapshot.private[place]]
    count = min(len(places), most // PER_NOTE)
    chosen = [places[place * len(places) // count] for place in range(count)]
    texts: list[str] = []
    owners: list[int] = []
    titles: list[str] = []
    for number, place in enumerate(chosen):
        note = _read(palace, snapshot.paths[place])
        titles.append(note.title)
        passages = (untitled(chunk, note.title) for chunk in note.chunks)
        for text in islice(filter(None, passages), PER_NOTE):
            texts.append(text)
            owners.append(number)
    known = Counter(map(fold_name, titles))
    questions = [
        MadeQuestion(title, "title", number)
        for number, title in enumerate(titles)
        if number in set(owners) and known[fold_name(title)] == 1 and _weigh(title) >= _LEAST_TITLE
    ]
    questions += _ask_links(palace, {place: number for number, place in enumerate(chosen)})
    return Sample([snapshot.paths[place] for place in chosen], texts, np.array(owners), questions)


def _read(palace: Palace, path: str) -> Note:
    embedder = palace.embedder()
    count, limit = embedder.count_tokens, embedder.token_limit
    if not embedder.dimension:  # about as many tokens as the models count
        count = lambda text: _weigh(text) // _DENSE + text.count("\n")  # noqa: E731
    try:
        data = (palace.paths.root / path).read_bytes()
    except OSError:  # it went, or was closed, since it was indexed
        data = b""
    return parse_note(path, data, count_tokens=count, token_limit=limit)


def _weigh(text: str) -> int:
    """Count letters; one of Chinese, Japanese or Korean says as much as three."""
    return sum(_DENSE if ord(letter) > 0x1100 else 1 for letter in text if letter.isalpha())


def untitled(chunk: Chunk, title: str) -> str:
    """Return a passage as an embedder sees it, without the title of its note."""
    name = fold_name(title)
    above = [part for part in chunk.heading_path if fold_name(part) != name]
    lines = chunk.text.split("\n")
    kept = "\n".join(line for line in lines if fold_name(line.strip("# \t")) != name).strip()
    if not _weigh(kept):
        return ""
    return "\n".join([" > ".join(above), kept]) if above else kept


def _ask_links(palace: Palace, numbers: dict[int, int]) -> Iterator[MadeQuestion]:
    snapshot = palace.snapshot()
    resolver = Resolver(snapshot.paths, snapshot.aliases())
    asked: Counter[int] = Counter()
    for place, path in enumerate(snapshot.paths):
        if snapshot.private[place] or not snapshot.link_targets()[place]:
            continue
        for target, question in _find_links(_read(palace, path).body):
            found = resolver.resolve(target, path)
            number = numbers.get(found.places[0]) if found.state == "resolved" else None
            if number is None or found.places[0] == place or asked[number] >= _LINKED:
                continue
            asked[number] += 1
            yield MadeQuestion(question, "link", number, numbers.get(place))


def _find_links(body: str) -> Iterator[tuple[str, str]]:
    """Yield the target of each wiki link, and the prose around it without the name it shows."""
    links = [link for link in Markup(body).links if link.form == "wiki" and not link.is_image]
    for unit in find_units(body) if links else ():
        for link in links if unit.kind in ("text", "turn") else ():
            if unit.start <= link.start < unit.end:
                rest = body[unit.start : link.start] + body[link.end : unit.end]
                question = " ".join(strip_markup(rest).split())
                if _weigh(question) >= _LEAST_SENTENCE:
                    inside = body[link.target_start : link.target_end]
                    yield inside.partition("|")[0].partition("#")[0].strip(), question


def _score_words(sample: Sample) -> Array:
    """Return the BM25 of each passage for each question."""
    words = [Counter(tokenize(text)) for text in sample.texts]
    having = Counter(word for held in words for word in held)
    sizes = np.array([held.total() for held in words], np.float64)
    norms = _K1 * (1 - _B + _B * sizes / max(sizes.mean(), 1))
    scores = np.zeros((len(sample.questions), len(words)))
    for row, question in enumerate(sample.questions):
        for term in drop_stop_stems(tokenize(question.text)):
            held = np.array([count[term] for count in words], np.float64)
            scores[row] += bm25_idf(having[term], len(words)) * held * (_K1 + 1) / (held + norms)
    return scores


def _rank(sample: Sample, scores: Array) -> list[float]:
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


def _summarise(ranks: Sequence[float]) -> tuple[float, float, float, float, float]:
    found = np.array(ranks)
    at_1, at_5 = (float(np.mean(found <= most)) for most in (1, 5))
    at_1, at_5, mrr = (round(value, 4) for value in (at_1, at_5, float(np.mean(1 / found))))
    return at_1, at_5, mrr, *_interval(1 / found)


def _interval(values: Array) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the mean (Efron 1979)."""
    drawn = np.random.default_rng(_SEED).integers(0, len(values), (_DRAWS, len(values)))
    low, high = np.percentile(np.asarray(values)[drawn].mean(axis=1), [2.5, 97.5])
    return round(float(low), 4), round(float(high), 4)

"""Compare embedders on a palace's own notes: the title of each asks for its note.

It asks for the text alone: no passage shows the title of its note.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import UsageError
from memory_palace.graph.resolve import fold_name
from memory_palace.index.npz import Array
from memory_palace.models import Scores
from memory_palace.notes.note import Chunk, Note
from memory_palace.notes.parsing import parse_note
from memory_palace.palace import Palace
from memory_palace.shown import Shown, plural

MOST_PASSAGES = 200
"""Passages to embed with each model."""
PER_NOTE = 2
LEAST_QUESTIONS = 10
_LEAST_TITLE = 4
"""Letters; a character of Chinese, Japanese or Korean counts as three."""
_DENSE = 3
_SLICE = 16
_SEED, _DRAWS = 7, 2_000


@dataclass(frozen=True, slots=True)
class ModelScore:
    """How one model found the notes that the titles mean."""

    name: str
    any_at_1: float
    any_at_5: float
    mrr: float
    seconds_a_passage: float
    megabytes: float
    """Of the vectors of all passages of the palace."""


@dataclass(frozen=True, slots=True)
class ModelChoice(Shown):
    """The scores of all models, best first, and the difference of the best two."""

    notes: int
    """Notes of the sample."""
    passages: int
    """Passages of the sample, each without the title of its note."""
    titles: int
    """Questions: titles of notes."""
    models: tuple[ModelScore, ...]
    better: str | None
    """The model that does better here beyond chance."""
    difference: float
    """In mean reciprocal rank between the best two, with its 95 % interval; 0 of one model."""
    low: float
    high: float

    def lines(self) -> Iterable[str]:
        yield (
            f"{plural(self.notes, 'note')}, {plural(self.passages, 'passage')}; asked for by "
            f"{plural(self.titles, 'title')}"
        )
        yield ""
        yield f"{'':<10}  first  in five    MRR  s a passage     MB"
        for one in self.models:
            shares = f"{one.any_at_1:>7.2f}{one.any_at_5:>9.2f}{one.mrr:>7.2f}"
            yield f"{one.name:<10}{shares}{one.seconds_a_passage:>13.3f}{one.megabytes:>7.1f}"
        if len(self.models) > 1:
            best, other = self.models[0].name, self.models[1].name
            difference = f"MRR {self.difference:+.2f}, 95 % {self.low:+.2f} to {self.high:+.2f}"
            same = f"no difference here between {best} and {other} beyond chance"
            better = f"{best} does better here than {other}"
            yield ""
            yield f"{better if self.better else same} ({difference})"


@dataclass(frozen=True, slots=True)
class Sample:
    """Some notes, two passages of each without the title, and the titles that ask for them."""

    paths: Sequence[str]
    texts: Sequence[str]
    owners: Array
    """The note of each text."""
    titles: Sequence[str]
    meant: Sequence[int]
    """The note of each title."""


def compare_models(
    palace: Palace,
    names: Sequence[str],
    *,
    progress: Callable[[str, int, int], None] = lambda doing, done, total: None,
    clock: Callable[[], float] = time.monotonic,
) -> ModelChoice:
    """Ask each model the same questions. Nothing is written into the palace.

    Raise ``UsageError`` where the notes give fewer than ten questions.
    """
    sample = draw_sample(palace)
    if len(sample.titles) < LEAST_QUESTIONS:
        raise UsageError(
            f"these notes have too few titles of their own to compare models by: "
            f"{len(sample.titles)}, of {LEAST_QUESTIONS} at least"
        )
    found: list[tuple[ModelScore, Array]] = []
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
        ranks = _rank(sample, embedder.embed_queries(sample.titles) @ np.concatenate(parts).T)
        at_1, at_5, mrr = ((ranks <= 1).mean(), (ranks <= 5).mean(), (1 / ranks).mean())
        figures = (round(float(value), 4) for value in (at_1, at_5, mrr, seconds))
        size = round(rows * embedder.dimension * 4 / 1e6, 1)
        found.append((ModelScore(name, *figures, size), ranks))
    found.sort(key=lambda pair: -pair[0].mrr)
    gained = 1 / found[0][1] - 1 / found[min(1, len(found) - 1)][1]
    low, high = _interval(gained)
    return ModelChoice(
        notes=len(sample.paths),
        passages=count,
        titles=len(sample.titles),
        models=tuple(score for score, _ in found),
        better=found[0][0].name if low > 0 else None,
        difference=round(float(gained.mean()), 4),
        low=low,
        high=high,
    )


def draw_sample(palace: Palace) -> Sample:
    """Choose notes evenly by path; titles that two of them have ask nothing."""
    snapshot = palace.snapshot()
    places = [place for place in range(len(snapshot.paths)) if not snapshot.private[place]]
    count = min(len(places), MOST_PASSAGES // PER_NOTE)
    paths = [snapshot.paths[places[place * len(places) // count]] for place in range(count)]
    notes = [_read(palace, path) for path in paths]
    texts: list[str] = []
    owners: list[int] = []
    for number, note in enumerate(notes):
        passages = (untitled(chunk, note.title) for chunk in note.chunks)
        for text in islice(filter(None, passages), PER_NOTE):
            texts.append(text)
            owners.append(number)
    known = Counter(fold_name(note.title) for note in notes)
    meant = [
        number
        for number, note in enumerate(notes)
        if number in owners
        and known[fold_name(note.title)] == 1
        and _weigh(note.title) >= _LEAST_TITLE
    ]
    return Sample(paths, texts, np.array(owners), [notes[n].title for n in meant], meant)


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


def _rank(sample: Sample, scores: Scores) -> Array:
    """Return the rank of each title's note by its best passage; the middle one among equals."""
    ranks = np.zeros(len(sample.meant))
    for row, note in enumerate(sample.meant):
        best = np.full(len(sample.paths), -np.inf)
        np.maximum.at(best, sample.owners, scores[row])
        equal = np.count_nonzero(best == best[note]) - 1
        ranks[row] = 1 + np.count_nonzero(best > best[note]) + equal / 2
    return ranks


def _interval(values: Array) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the mean (Efron 1979)."""
    drawn = np.random.default_rng(_SEED).integers(0, len(values), (_DRAWS, len(values)))
    low, high = np.percentile(np.asarray(values)[drawn].mean(axis=1), [2.5, 97.5])
    return round(float(low), 4), round(float(high), 4)

"""What is shown of an answer: does it hold a right turn, whole? Asked as ``palace query`` asks.

Every document is a note, of one turn a paragraph. Beside what the product shows stand simpler ways
of spending the same bytes on the same hits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from math import log1p
from pathlib import Path

import numpy as np

from benchmarks.datasets.items import Collection, EvalDocument, EvalQuestion
from benchmarks.generate import scratch_folder
from benchmarks.metrics import interval
from benchmarks.product import write_note
from benchmarks.runs import Progress
from memory_palace.embedding.registry import Embedder
from memory_palace.features.asking.answers import Answer
from memory_palace.features.asking.screen import lay_out
from memory_palace.language.words import drop_stop_stems, tokenize
from memory_palace.models import QueryResult
from memory_palace.palace import Palace
from memory_palace.retrieval.excerpts import SHARE_BYTES

HITS, COLUMNS = 5, 80
SHOWN = ("text in JSON", "terminal of 80 columns")
BASELINES = ("best BM25 window",)
WHOLE = "whole passages"
_FOLDER = "palace/project_rooms"
_K1, _B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One way of showing five hits, over the questions of one kind."""

    system: str
    group: str
    """A collection or a category, or ``all``."""
    questions: int
    held: float
    """Share of the questions for which a right turn is shown wholly."""
    low: float
    high: float
    """95 % interval."""
    bytes: float
    """Of UTF-8, on average."""


@dataclass(frozen=True, slots=True)
class _Shown:
    system: str
    group: str
    category: str
    held: float
    bytes: int


def measure_shown(
    collections: Sequence[Collection],
    *,
    embedder: Embedder,
    progress: Progress = lambda what, done, total: None,
) -> list[ShownRow]:
    """Ask every question, and give a row for each way of showing: all, then each group and kind.

    A collection's gold names passages, of which none may be in two documents.
    """
    seen: list[_Shown] = []
    total = sum(len(collection.questions) for collection in collections)
    for collection in collections:
        with scratch_folder() as root:
            palace = _make_palace(root, collection, embedder)
            for question in collection.questions:
                seen += _ask(palace, collection, question)
                progress("asking", len(seen) // (len(SHOWN) + len(BASELINES) + 1), total)
    return list(_rows(seen))


def _make_palace(root: Path, collection: Collection, embedder: Embedder) -> Palace:
    palace = Palace.init(root)
    for document in collection.documents:
        (root / _FOLDER / f"{document.id}.md").write_text(write_note(document), "utf-8")
    palace.index(embedder=embedder.name)
    return palace


def _ask(palace: Palace, collection: Collection, question: EvalQuestion) -> Iterator[_Shown]:
    found = palace.query(question.text, limit=HITS)
    core = [hit for hit in found if hit.role == "core"]
    documents = {f"{_FOLDER}/{document.id}.md": document for document in collection.documents}
    notes = [documents[hit.path] for hit in core]
    lines = [(hit.chunk.first_line, hit.chunk.last_line) for hit in core]
    passages = [
        "\n".join((palace.paths.root / hit.path).read_text("utf-8").split("\n")[a - 1 : b])
        for hit, (a, b) in zip(core, lines, strict=True)
    ]
    shown: Mapping[str, Sequence[str]] = {
        SHOWN[0]: [hit.text for hit in core],
        SHOWN[1]: [draw_answer(palace.paths.root, found)],
        BASELINES[0]: _windows(notes, _bm25_scorer(notes, question.text)),
        WHOLE: passages,
    }
    right = [
        _flat(passage.text)
        for document in collection.documents
        for passage in document.passages
        if passage.id in question.gold
    ]
    for system, texts in shown.items():
        flat = [_flat(text) for text in texts]
        held = any(turn in text for turn in right for text in flat)
        size = sum(len(text.encode()) for text in texts)
        yield _Shown(system, collection.group, question.category, float(held), size)


def draw_answer(root: Path, result: QueryResult) -> str:
    """Return an answer as a terminal of 80 columns shows it."""
    with chdir(root):  # paths are shown as they open from there
        rows = lay_out(
            Answer.of(result, root=root).arrange(), result.text, width=COLUMNS, environ={}
        )
    return "\n".join(row.plain for row in rows)


def _turns(document: EvalDocument) -> list[str]:
    return [passage.text for passage in document.passages]


def _bm25_scorer(
    documents: Sequence[EvalDocument], question: str
) -> Callable[[Sequence[str]], Sequence[float]]:
    """Score turns by BM25 among the turns of the hits."""
    words = [Counter(tokenize(turn)) for document in documents for turn in _turns(document)]
    having = Counter(word for held in words for word in held)
    mean = sum(map(Counter.total, words)) / max(len(words), 1)
    terms = drop_stop_stems(tokenize(question))

    def score(turns: Sequence[str]) -> list[float]:
        scores = []
        for turn in turns:
            held = Counter(tokenize(turn))
            norm = _K1 * (1 - _B + _B * held.total() / mean)
            scores.append(
                sum(
                    log1p((len(words) - having[term] + 0.5) / (having[term] + 0.5))
                    * held[term]
                    * (_K1 + 1)
                    / (held[term] + norm)
                    for term in terms
                )
            )
        return scores

    return score


def _windows(
    documents: Sequence[EvalDocument], score: Callable[[Sequence[str]], Sequence[float]]
) -> list[str]:
    """Return of each note the turns around its best one that fit into its share of the bytes."""
    return [_window(_turns(document), score(_turns(document))) for document in documents]


def _window(turns: Sequence[str], scores: Sequence[float]) -> str:
    first = last = max(range(len(turns)), key=scores.__getitem__)
    while True:
        sides = [side for side in (first - 1, last + 1) if 0 <= side < len(turns)]
        for side in sorted(sides, key=lambda place: -scores[place]):
            low, high = min(first, side), max(last, side)
            if len("\n".join(turns[low : high + 1]).encode()) <= SHARE_BYTES:
                first, last = low, high
                break
        else:
            return _head("\n".join(turns[first : last + 1]), SHARE_BYTES)


def _head(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore")


def _flat(text: str) -> str:
    return " ".join(text.split())


def _rows(seen: Sequence[_Shown]) -> Iterator[ShownRow]:
    for system in (*SHOWN, *BASELINES, WHOLE):
        mine = [one for one in seen if one.system == system]
        yield _row(system, "all", mine)
        groups = {one.group: [o for o in mine if o.group == one.group] for one in mine}
        kinds = {one.category: [o for o in mine if o.category == one.category] for one in mine}
        parts = [_row(system, name, part) for name, part in {**kinds, **groups}.items() if name]
        yield from sorted(parts, key=lambda row: row.held)


def _row(system: str, group: str, seen: Sequence[_Shown]) -> ShownRow:
    held = [one.held for one in seen]
    size = sum(one.bytes for one in seen) / len(seen)
    return ShownRow(system, group, len(held), float(np.mean(held)), *interval(held), bytes=size)

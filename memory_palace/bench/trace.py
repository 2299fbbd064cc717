"""TRACe by overlap: four measures of an answer from documents, by shared words and nothing else.

RAGBench (Friel, Belyi and Sanyal 2024) defines relevance, utilization, completeness and adherence
by marks that a large model sets on sentences. Here words stand in for the model, and the figures
are named so: they say how much is shared, not what is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from memory_palace.bench.datasets.reading import read_jsonl, take, take_list
from memory_palace.errors import UsageError
from memory_palace.language.sentences import split_sentences
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import STOP_STEMS

RELEVANT = 1 / 3
"""Share of the question's words that makes a sentence relevant."""
USED = 0.5
"""Share of a sentence's words in the response that makes it used; and of a response's sentence in
one or two sentences of the documents that makes it adhere."""
MEASURES = ("relevance", "utilization", "completeness", "adherence")


@dataclass(frozen=True, slots=True)
class TracedAnswer:
    """One line: a question, the documents given, the response; and marks where there are any."""

    id: str
    question: str
    documents: tuple[str, ...]
    response: str
    marks: Mapping[str, float]
    """By measure; RAGBench calls them ``relevance_score`` and so on."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The four measures of one item, each from 0 to 1."""

    id: str
    relevance: float
    """Share of the documents' words that stand in relevant sentences."""
    utilization: float
    """Share of them in used sentences."""
    completeness: float
    """Share of the relevant words that were used; 1 where nothing is relevant."""
    adherence: float
    """Share of the response's sentences that the documents bear out; 1 where it says nothing."""


def read_items(path: Path) -> list[TracedAnswer]:
    """Read JSON lines with ``question``, ``documents`` and ``response``.

    Documents are texts, or lists of sentences. Raise ``UsageError`` with the line that has none.
    """
    return [_read(record, f"{path}:{number}") for number, record in read_jsonl(path)]


def trace(item: TracedAnswer) -> Trace:
    """Measure one item by the words that its texts share."""
    question, response = _words(item.question), _words(item.response)
    sentences = [_words(s) for text in item.documents for s in split_sentences(text)]
    relevant = [_share(question, sentence) >= RELEVANT for sentence in sentences]
    used = [_share(sentence, response) >= USED for sentence in sentences]
    sizes = np.array([len(sentence) for sentence in sentences], np.float64)
    both = [r and u for r, u in zip(relevant, used, strict=True)]
    return Trace(
        item.id,
        _weigh(sizes, relevant),
        _weigh(sizes, used),
        _ratio(_weigh(sizes, both), _weigh(sizes, relevant)),
        _adhere(item.response, sentences),
    )


def agree(
    items: Sequence[TracedAnswer], traces: Sequence[Trace]
) -> Iterator[tuple[str, int, float]]:
    """Yield each measure that is marked, how many items are, and how near it is to the marks.

    Root mean squared error; for adherence the area under the ROC curve of what is marked as
    adhering, as in RAGBench.
    """
    for measure in MEASURES:
        pairs = [
            (item.marks[measure], float(getattr(found, measure)))
            for item, found in zip(items, traces, strict=True)
            if measure in item.marks
        ]
        if not pairs:
            continue
        marked, found_ = np.array(pairs).T
        if measure != "adherence":
            value = float(np.sqrt(np.mean((marked - found_) ** 2)))
        else:
            value = _area(marked >= 0.5, found_)
        yield measure, len(pairs), value


def _read(record: dict[str, Any], where: str) -> TracedAnswer:
    texts = tuple(
        document if isinstance(document, str) else " ".join(_strings(document, where))
        for document in take_list(record, "documents", where)
    )
    question, response = (str(take(record, key, where)) for key in ("question", "response"))
    names = ((measure, record.get(f"{measure}_score", record.get(measure))) for measure in MEASURES)
    marks = {name: float(mark) for name, mark in names if isinstance(mark, int | float | bool)}
    return TracedAnswer(str(record.get("id", where)), question, texts, response, marks)


def _strings(value: object, where: str) -> Iterable[str]:
    """Return the texts in a list; RAGBench pairs each sentence with a key."""
    if not isinstance(value, list):
        raise UsageError(f"{where}: a document is a text or a list of sentences")
    return (str(part[-1] if isinstance(part, list) and part else part) for part in value)


def _words(text: str) -> frozenset[str]:
    return frozenset(tokenize(text)) - STOP_STEMS


def _share(words: frozenset[str], others: frozenset[str]) -> float:
    return len(words & others) / len(words) if words else 0.0


def _weigh(sizes: np.ndarray, chosen: Sequence[bool]) -> float:
    return _ratio(float(sizes[np.array(chosen, bool)].sum()), float(sizes.sum()), empty=0.0)


def _ratio(part: float, whole: float, *, empty: float = 1.0) -> float:
    return part / whole if whole else empty


def _adhere(response: str, sentences: Sequence[frozenset[str]]) -> float:
    """Return the share of a response's sentences that one or two neighbours hold half of."""
    said = [words for words in map(_words, split_sentences(response)) if words]
    pairs = [one | next for one, next in pairwise(sentences)]
    near = [max((_share(words, s) for s in (*sentences, *pairs)), default=0.0) for words in said]
    return _ratio(float(sum(share >= USED for share in near)), float(len(said)))


def _area(marked: np.ndarray, values: np.ndarray) -> float:
    """Return the area under the ROC curve; ties count half, and one class alone gives 0.5."""
    positive, negative = values[marked], values[~marked]
    if not len(positive) or not len(negative):
        return 0.5
    above = (positive[:, None] > negative).mean() + (positive[:, None] == negative).mean() / 2
    return float(above)

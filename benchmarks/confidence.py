"""How far confidence can be trusted: questions asked where they are answered, and where not.

Questions of one collection are asked of the notes of another, which do not answer them. They are
compared with the collection's own whose answer is among the first five hits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

import numpy as np

from benchmarks.corpora import open_corpus
from benchmarks.datasets.beir import load_beir
from benchmarks.datasets.items import Collection, EvalDocument, EvalQuestion
from benchmarks.datasets.locomo import load_locomo
from benchmarks.datasets.meetings import load_meetings
from benchmarks.datasets.reading import read_jsonl
from benchmarks.golden import read_pairs
from benchmarks.metrics import share_interval
from benchmarks.vectors import RememberingEmbedder
from memory_palace.embedding.registry import Embedder
from memory_palace.models import Filters, ParsedQuery
from memory_palace.query import Query
from memory_palace.retrieval.search import ANSWERED, search
from memory_palace.signals import DEFAULT_PROFILE

HITS = 5
BINS = 10
NAMED = ", named"
"""What stands behind a collection whose questions were given the names of the palace."""
MANY_TURNS = 20
_SPEAKER = re.compile(r"^([A-Z]\w+):", re.MULTILINE)
MOST = 200
"""Questions of a collection that are asked, at even steps through all of them."""


@dataclass(frozen=True, slots=True)
class CrossPair:
    """A palace, and the questions of another collection that were asked of it."""

    palace: str
    source: str
    auc: float
    """How often an answer is surer than one to a question that nothing here answers."""
    own: float
    """Share of the palace's own questions, those with gold among the hits, that are answered."""
    foreign: float
    """Share of the others that count as answered."""
    own_asked: int
    foreign_asked: int
    lost: float | None
    """Share of the own questions that count as answered without gold among the hits."""
    named: float | None
    """Share of the foreign questions answered with the palace's speakers put for their own."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of like confidence, half of them to questions that nothing here answers."""

    confidence: float
    """Their mean."""
    right: float
    """Share of them whose question is answered here, with gold among the hits."""
    low: float
    high: float
    """Wilson's 95 % interval of the share, of as many answers as the weights leave (Kish 1965)."""
    count: int


Answers = Mapping[tuple[str, str], Sequence[tuple[float, bool]]]
"""By palace and collection: the confidence of each answer, and whether gold is among its hits."""


def read_groups(data: Path, checkout: Path) -> Iterator[list[Collection]]:
    """Yield collections of which each is asked the questions of the others in its list."""
    gold = data / "locomo" / "gold_dev.jsonl"
    talks = load_locomo(data / "locomo" / "locomo_dev.json", unit="session", gold=gold)
    yield [_as_notes(talk) for talk in talks]
    sample = _collect(
        "sample",
        checkout / "palace",
        [(p.question, p.path) for p in read_pairs(checkout / "tests/golden/sample_palace.md")],
        prefix="palace/",
    )
    pages = data / "multilingual-help"
    asked = [r for _, r in read_jsonl(pages / "questions.jsonl") if r["lang"] == "en"]
    pairs = [(str(r["question"]), str(r["note"]).removeprefix("en/")) for r in asked]
    yield [_collect("help", pages / "notes" / "en", pairs), sample]
    science = replace(load_beir(data / "beir" / "scifact"), group="scifact")
    yield [science, replace(load_meetings(data / "qmsum" / "val.jsonl"), group="qmsum")]


def ask_across(group: Sequence[Collection], embedder: Embedder, cache: Path) -> Answers:
    """Ask every collection of a group its own questions and those of the others."""
    remembering = RememberingEmbedder(embedder, cache)
    answers: dict[tuple[str, str], list[tuple[float, bool]]] = {}
    for palace in group:
        corpus = open_corpus(palace, cache, remembering)
        asked = [(source, source.group, _thin(source.questions)) for source in group]
        asked += [
            (source, f"{source.group}{NAMED}", _put_names(questions, source, palace))
            for source, _, questions in asked
            if source is not palace
        ]
        for source, name, questions in asked:
            if not questions:
                continue
            matrix = remembering.embed_queries([q.text for q in questions])
            found = answers.setdefault((palace.group, name), [])
            for question, vector in zip(questions, matrix, strict=True):
                text = " ".join(question.text.split())
                query = ParsedQuery(text, question.as_of, Filters(), vector)
                hits = search(
                    query, corpus.snapshot, Query(limit=HITS), profile=DEFAULT_PROFILE
                ).hits
                units = {corpus.unit(hit.path, 1, is_passage=False) for hit in hits}
                sure = max((hit.confidence or 0.0 for hit in hits), default=0.0)
                found.append((sure, source is palace and bool(units & question.gold)))
    remembering.save()
    return answers


def compare(answers: Answers) -> list[CrossPair]:
    """Return a row for every ordered pair, the worst first."""
    rows = []
    for palace, source in permutations(dict.fromkeys(name for name, _ in answers), 2):
        if (palace, source) not in answers:
            continue
        own = np.array([sure for sure, is_found in answers[palace, palace] if is_found])
        lost = [sure for sure, is_found in answers[palace, palace] if not is_found]
        named = [sure for sure, _ in answers.get((palace, f"{source}{NAMED}"), ())]
        foreign = np.array([sure for sure, _ in answers[palace, source]])
        rows.append(
            CrossPair(
                palace,
                source,
                round(find_auc(own, foreign), 3),
                round(float((own >= ANSWERED).mean()), 3),
                round(float((foreign >= ANSWERED).mean()), 3),
                len(own),
                len(foreign),
                _share_answered(lost),
                _share_answered(named),
            )
        )
    return sorted(rows, key=lambda row: row.auc)


def _share_answered(sure: Sequence[float]) -> float | None:
    return round(float((np.array(sure) >= ANSWERED).mean()), 3) if sure else None


def _put_names(
    questions: Sequence[EvalQuestion], source: Collection, palace: Collection
) -> Sequence[EvalQuestion]:
    """Return the questions that name a speaker of their collection, with the palace's for those."""
    names = dict(zip(_list_speakers(source), _list_speakers(palace), strict=False))
    if not names:
        return []
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    return [
        replace(question, text=pattern.sub(lambda name: names[name[0]], question.text))
        for question in questions
        if pattern.search(question.text)
    ]


def _list_speakers(talk: Collection) -> list[str]:
    """Return the two who speak most often."""
    spoken = Counter(name for d in talk.documents for name in _SPEAKER.findall(d.text))
    return [name for name, count in spoken.most_common(2) if count >= MANY_TURNS]


def find_auc(better: np.ndarray, worse: np.ndarray) -> float:
    """Return how often one of ``better`` is above one of ``worse``; ties count half."""
    higher = (better[:, None] > worse[None, :]).mean()
    return float(higher + (better[:, None] == worse[None, :]).mean() / 2)


def find_bins(answers: Answers) -> list[Bin]:
    """Return what is right of answers of like confidence: own and foreign count alike.

    Own questions whose gold is not among the hits are not right, however sure.
    """
    values, is_right, weights = [], [], []
    for palace in dict.fromkeys(name for name, _ in answers):
        sources = [s for name, s in answers if name == palace != s and not s.endswith(NAMED)]
        for source in (palace, *sources):
            found = answers[palace, source]
            share = (1.0 if source == palace else 1 / len(sources)) / max(len(found), 1)
            values += [sure for sure, _ in found]
            is_right += [right for _, right in found]
            weights += [share] * len(found)
    sure, right, weight = np.array(values), np.array(is_right, float), np.array(weights)
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    bins = []
    for number in np.unique(place).tolist():
        inside = place == number
        mean, share = (np.average(a[inside], weights=weight[inside]) for a in (sure, right))
        counted = float(weight[inside].sum() ** 2 / (weight[inside] ** 2).sum())
        low, high = share_interval(float(share), counted)
        mean, share, low, high = (round(float(value), 3) for value in (mean, share, low, high))
        bins.append(Bin(mean, share, low, high, int(inside.sum())))
    return bins


def _thin(questions: Sequence[EvalQuestion]) -> Sequence[EvalQuestion]:
    return questions[:: -(-len(questions) // MOST)] if questions else questions


def _as_notes(talk: Collection) -> Collection:
    """Return a conversation with each session as the note that somebody would write of it."""
    documents = tuple(
        EvalDocument(d.id, "\n\n".join(p.text for p in d.passages), (), d.timestamp)
        for d in talk.documents
    )
    return replace(talk, documents=documents)


def _collect(
    name: str, folder: Path, pairs: Iterable[tuple[str, str]], *, prefix: str = ""
) -> Collection:
    files = [path for path in sorted(folder.rglob("*.md")) if "archive_basement" not in path.parts]
    documents = tuple(
        EvalDocument(prefix + path.relative_to(folder).as_posix(), path.read_text("utf-8"))
        for path in files
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    asked = (EvalQuestion(f"q{n}", text, frozenset([note])) for n, (text, note) in enumerate(pairs))
    return Collection(name, documents, tuple(asked))

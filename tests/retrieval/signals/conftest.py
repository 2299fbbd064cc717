"""Passages in memory, with the facts and words that would be indexed of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial

import numpy as np
import pytest

from memory_palace.facts import extract_dates
from memory_palace.features.structure.facts import extract_structure
from memory_palace.index.snapshot import Statistics
from memory_palace.language.words import tokenize
from memory_palace.models import ParsedQuery
from memory_palace.retrieval.question import AskedWords, read_question
from memory_palace.retrieval.signals import measure
from memory_palace.signals import SIGNALS, structure

ASKED = datetime(2026, 5, 28, 12, tzinfo=UTC).timestamp()
OLD = "2001-01-01"


class FactTable:
    def __init__(self, held, known):
        self._held, self._known = held, set(known)

    def is_held(self, kind, key):
        return key in self._known

    def rows(self, kind, key):
        return np.flatnonzero([(kind, key) in facts for facts in self._held])

    def document_frequency(self, kind, key):
        return len(self.rows(kind, key))


class WordTable:
    def __init__(self, held):
        self._held = held

    def rows(self, word):
        return np.flatnonzero([word in words for words in self._held])


@dataclass(frozen=True)
class Notes:
    dates: np.ndarray
    date_sources: np.ndarray
    days: np.ndarray
    paths: list
    row_note: np.ndarray
    are_talks = False

    @property
    def statistics(self):
        return Statistics(self)

    @property
    def told_dates(self):
        return self.dates


@dataclass(frozen=True)
class Context:
    question: AskedWords
    facts_in: FactTable
    words_in: WordTable
    snapshot: Notes
    rows: np.ndarray

    @property
    def note_of(self):
        return self.snapshot.row_note

    def mark(self, found, rows):
        marked = np.zeros(len(self.snapshot.row_note), np.bool_)
        marked[found] = True
        return marked[rows]


def _ordinals(spans):
    ordinals = [date.fromisoformat(day).toordinal() for span in spans for day in span]
    return ordinals + [0] * (4 - len(ordinals))


def make_context(
    question, passages, *, dates=None, days=None, source=0, notes=None, order=None, known=()
) -> Context:
    """One note per passage unless ``notes`` says which; ``order`` lists the candidates.

    ``days`` are the spans that each note is of, ``dates`` when it was changed.
    """
    changed = [date.fromisoformat(day) for day in dates or [OLD] * len(passages)]
    notes = np.array(notes if notes is not None else range(len(passages)))
    stamps = [datetime(d.year, d.month, d.day, 9, tzinfo=UTC).timestamp() for d in changed]
    facts = [
        {(str(fact.kind), fact.key) for fact in (*extract_structure(text), *extract_dates(text))}
        for text in passages
    ]
    rows = np.array(range(len(passages)) if order is None else order, np.int64)
    return Context(
        question=read_question(ParsedQuery(question, ASKED)),
        facts_in=FactTable(facts, known),
        words_in=WordTable([set(tokenize(text)) for text in passages]),
        snapshot=Notes(
            np.array(stamps),
            np.full(len(stamps), source),
            np.array([_ordinals(spans) for spans in days or [()] * len(stamps)]),
            [f"{place}.md" for place in range(len(stamps))],
            notes,
        ),
        rows=rows,
    )


@pytest.fixture(scope="session")
def context():
    return make_context


def find_signal(name):
    """Return the function of a signal, be it the engine's or that of structure."""
    return partial(measure, name) if name in SIGNALS else structure().signals[name].measure


def scores(signal, question, passages: Sequence[str], **options) -> list[float]:
    made = make_context(question, passages, **options)
    return [round(float(x), 4) for x in find_signal(signal)(made, made.rows)]


@pytest.fixture(scope="session")
def score():
    return scores

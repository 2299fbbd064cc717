"""Gather: the passages that may answer a question, and what it finds in every one of them.

Values of different kinds are made comparable by standardising: how many standard deviations above
the mean of all rows a row lies, and 0 below it. Means and deviations do not depend on the order in
which an index grew: cosines are sampled by text digest, and sums of BM25 are sums of whole numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import UsageError
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import (
    BM25,
    LEAST,
    PostingLookup,
    expect,
    read_null,
    stand_above,
    stand_out,
)
from memory_palace.language.words import expect_idf
from memory_palace.models import ParsedQuery, Scores
from memory_palace.retrieval.question import (
    AskedWords,
    match_names,
    match_notes,
    match_times,
    read_question,
)
from memory_palace.signals import SIGNALS

if TYPE_CHECKING:
    from memory_palace.language.time_spans import Window

Exact = NDArray[np.float64]

Places = NDArray[np.int64]
"""Positions in another array: rows of a snapshot, its notes, or candidates."""

SURE = 0.5
"""Below this certainty an expression of time may be what is asked about, and not when."""

_FOREIGN, _OWN = 0.06, 0.12
"""Share of the passages that hold a word of the question, on average over its words. In the
language of the notes 19 questions of 20 reach .11 on LoCoMo and QMSum, .05 on Russian pages and
more on others; of 20 English ones over pages in German, Japanese or Russian one reaches .07."""
_HELD, _STEEPNESS = 0.8, 6
"""Share of the question's words, rare ones counting more, that some note holds, which is enough
whatever the language: a list of rare words is in no language. In that of the notes it is .75 to 1
in the median of a set, in another one .38."""
_FEW_ROWS = 20
"""Passages that are too few to say so: in a small palace most words are missing by chance."""

NEAREST = 28
"""Passages: enough for the seven nearest notes, which the guards of source document 001 look at,
unless most of the nearest passages are of one note."""
_BEST = 3
_NEAR = 4
"""Times as many are compared in double precision as are looked for."""
_DECIMALS = 6
_WORDS = {"lexical", "replied", "beside_words", "statement", "asked_kind", "question_words"}


@dataclass(frozen=True, slots=True)
class VectorEvidence:
    """The question's vector beside those of passages; zeros where there is none."""

    cosines: Scores
    """Cosine of each row, in single precision but where ``sharpen`` made it exact."""
    above: Scores
    """Standardised cosine of each row."""
    notes: Scores
    """Mean of ``above`` over the best three passages of each note."""
    questions: Scores
    """By how much the nearest question that each note answers exceeds its nearest passage."""
    sample: Exact
    """Cosines of the rows that stand for all, see ``Snapshot.sample``."""


class AskedTerm(NamedTuple):
    """A word of a question that carries meaning, and where it stands."""

    term: str
    having: int
    """Passages of all notes outside the cold zone that hold it."""
    weight: float
    """The rarer, the more: ``expect_idf``."""
    rows: Places
    """Passages, and questions of notes, that hold it."""
    named: Places
    """Notes that have it in a name."""


@dataclass(frozen=True, slots=True)
class WordEvidence:
    """The question's words in passages and notes."""

    bearing: np.float32
    """How much words count beside meaning, in [0, 1]: little in another language."""
    above: Scores
    """Standardised BM25 of each row, over all words of the question."""
    notes: Scores
    """Standardised BM25 of each note, over the words that carry meaning."""
    questions: Scores
    """By how much the best question that each note answers exceeds its best passage."""
    in_names: Scores
    """Share of the question's words that each note's names hold, the rarer the more."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """One question beside one snapshot. Every signal reads it and gives one score per row."""

    query: ParsedQuery
    question: AskedWords
    snapshot: Snapshot
    half_life_days: float
    signals: frozenset[str]
    """Those that the arrays are filled for; others are zeros."""
    words_in: PostingLookup
    """Rows by the words in them."""
    names_in: PostingLookup
    """Rows by the words in the names of their notes."""
    facts_in: PostingLookup
    """Rows by what was extracted from them."""
    rows: Places
    """The candidates; in a listing the first row of each note."""
    words: WordEvidence
    meaning: VectorEvidence
    terms: tuple[AskedTerm, ...]
    """The words of the question that carry meaning; none of a listing."""
    is_asking: NDArray[np.bool_]
    """Whether each row ends in a question mark, where a signal asks for that."""
    called: Scores
    """How surely the question is the name of each note, in [0, 1]."""
    note_of: Places
    """The note of each row, -1 of a dead one."""
    count: int
    """Live passages of all notes outside the cold zone."""
    is_listing: bool
    """Whether there is no question, so that only metadata can order the notes."""
    dates: tuple[Window, ...]
    """The times in the question that are surely no topic."""

    def mark(self, found: Places, rows: Places) -> NDArray[np.bool_]:
        """Say of each of ``rows`` whether it is among those that were found."""
        everywhere = np.zeros(len(self.note_of), np.bool_)
        everywhere[found] = True
        marked: NDArray[np.bool_] = everywhere[rows]
        return marked


def gather(
    query: ParsedQuery, snapshot: Snapshot, *, signals: Collection[str], half_life_days: float
) -> Evidence:
    """Return the candidates of a question and what ``signals`` read of every row and note.

    Signals of other packages may read anything. BM25 and the names of all notes take time that
    grows with the palace: what no signal reads is left out.
    """
    question = read_question(query, snapshot.languages)
    words_in, names_in, facts_in = (
        PostingLookup(snapshot, field) for field in ("words", "names", "facts")
    )
    read = frozenset(signals)
    read = read if read <= SIGNALS else read | SIGNALS
    rows, count = find_candidates(query, snapshot), snapshot.passages
    note_of = snapshot.row_note.astype(np.int64)
    terms = []
    for term in question.content_terms if query.text else ():
        having = words_in.document_frequency(term)
        held, named = words_in.find_all(term)[0], note_of[names_in.rows(term)]
        terms.append(AskedTerm(term, having, expect_idf(term, having, count), held, named))
    words = score_words(query, question, words_in, terms, read, count)
    meaning = compare_vectors(query, snapshot, words, read)
    is_asking = np.zeros(len(note_of), np.bool_)
    if read & {"replied", "statement"}:
        is_asking[facts_in.rows("form", "question")] = True
    called: Scores = np.zeros(len(snapshot.paths), np.float32)
    if query.text and "called" in read:
        fields = (words_in, names_in)
        is_known = all(any(field.is_held(term) for field in fields) for term in question.terms)
        called = match_names(query.text, snapshot, is_known=is_known)
    sure = (item.windows for item in question.times if item.certainty >= SURE)
    return Evidence(
        query,
        question,
        snapshot,
        half_life_days,
        read,
        words_in,
        names_in,
        facts_in,
        rows=rows,
        words=words,
        meaning=meaning,
        terms=tuple(terms),
        is_asking=is_asking,
        called=called,
        note_of=note_of,
        count=count,
        is_listing=not query.text,
        dates=tuple(window for windows in sure for window in windows),
    )


def find_candidates(query: ParsedQuery, snapshot: Snapshot) -> Places:
    """Return the rows that pass the filters; without a question the first row of each note."""
    if not query.text:
        if not query.filters:
            raise UsageError(
                'ask a question, such as `palace query "why did we drop Kafka"`, '
                "or give a filter such as `--type project` to list notes"
            )
        live = np.flatnonzero(snapshot.row_note >= 0)[::-1]
        first_rows = np.full(len(snapshot.paths), -1, np.int64)
        # Of several assignments to one place the last one stays: the note's first passage.
        first_rows[snapshot.row_note[live]] = live
        listed = first_rows[match_notes(snapshot, query.filters)]
        return listed[listed >= 0]
    # The place after the last note answers for dead rows, whose note is -1.
    allowed = np.append(match_notes(snapshot, query.filters), False)
    for copy, originals in snapshot.copies.items():
        allowed[copy] &= not allowed[originals].all()
    rows = np.flatnonzero(allowed[snapshot.row_note])
    if query.rows is not None:
        rows = query.rows[allowed[snapshot.row_note[query.rows]]]
    if query.filters.when:
        rows = rows[match_times(snapshot, query.filters)[rows]]
    return rows


def score_words(
    query: ParsedQuery,
    question: AskedWords,
    words_in: PostingLookup,
    terms: Sequence[AskedTerm],
    read: frozenset[str],
    count: int,
) -> WordEvidence:
    """Return what the words of a question find in ``count`` passages."""
    snapshot, bm25 = words_in.snapshot, BM25(words_in)
    figures, size = snapshot.statistics, len(snapshot.paths)
    above, notes = np.zeros(len(snapshot.row_note), np.float32), np.zeros(size, np.float32)
    questions, in_names = np.zeros(size, np.float32), np.zeros(size, np.float32)
    bearing = np.float32(1)
    if query.vector is not None and read & (_WORDS | {"note_lexical", "covered"}):
        bearing = find_bearing(bm25, question, count)
    if read & _WORDS or snapshot.lacking is not None:
        scores = bm25.passages(question.terms)
        # Where no passage does, only a question that a note answers holds any of them.
        counted = snapshot.row_note >= 0, snapshot.row_owner >= 0
        above = bearing * stand_out(scores, figures.spread("words", scores, *counted))
    if "note_lexical" in read:
        scores = bm25.notes(question.content_terms)
        findable = ~snapshot.private  # what is never found changes no score
        notes = bearing * stand_out(scores, figures.spread("note_words", scores, findable))
    if "question_words" in read:
        questions = _exceed(above, snapshot)
    if "titled" in read:
        whole, share = 0.0, np.zeros(size)
        for term in terms:
            whole += term.weight
            share[term.named] += term.weight
        in_names = (share / max(whole, LEAST)).astype(np.float32)
    return WordEvidence(bearing, above, notes, questions, in_names)


def find_bearing(bm25: BM25, question: AskedWords, rows: int) -> np.float32:
    """Return how much words count beside meaning, in [0, 1].

    In another language than the notes' a question finds names and numbers by chance, which stand
    out all the more because nothing else is found.
    """
    common, held = bm25.familiarity(question.terms)
    own = min(max(common - _FOREIGN, 0.0) / (_OWN - _FOREIGN), 1.0)
    share = max(own, min(held / _HELD, 1.0) ** _STEEPNESS)
    return np.float32(1 - (1 - share) * rows / (rows + _FEW_ROWS))


def compare_vectors(
    query: ParsedQuery, snapshot: Snapshot, words: WordEvidence, read: frozenset[str]
) -> VectorEvidence:
    """Return what the vector of a question finds; a row without a vector is like its words."""
    if query.vector is None or not query.text:
        rows = np.zeros(len(snapshot.row_note), np.float32)
        notes = np.zeros(len(snapshot.paths), np.float32)
        return VectorEvidence(rows, rows, notes, notes, np.zeros(0))
    cosines = snapshot.similarities(query.vector)
    if (lacking := snapshot.lacking) is not None:
        known = ~lacking & (snapshot.row_note >= 0)
        if known.any():
            mean, spread = float(words.above[known].mean()), float(words.above[known].var())
            level = float(cosines[known].mean())
            both = float(((words.above[known] - mean) * (cosines[known] - level)).mean())
            slope = both / spread if spread else 0.0
            cosines[lacking] = level + (words.above[lacking] - mean) * slope
    sample = snapshot.statistics.sample(query.vector)
    return _standardise(cosines, sample, snapshot, read)


def _standardise(
    cosines: Scores, sample: Exact, snapshot: Snapshot, read: frozenset[str]
) -> VectorEvidence:
    """Return what cosines say, of rows and of notes."""
    mean, deviation = expect(sample, read_null(snapshot.commit.calibration))
    above = stand_above(cosines, mean, deviation)
    notes = questions = np.zeros(len(snapshot.paths), np.float32)
    if "note_dense" in read:
        notes = _average_best(above, snapshot)
    if "questions" in read:
        questions = _exceed(above, snapshot)
    return VectorEvidence(cosines, above, notes, questions, sample)


def sharpen(evidence: Evidence, notes: Places) -> Evidence:
    """Return the evidence with cosines in double precision in all rows of some notes.

    A matrix-vector product in single precision depends in its last bits on where a row stands.
    What is shown must not: an index that grew by updates answers like a fresh one. Words are whole
    numbers, and exact from the start.
    """
    snapshot = evidence.snapshot
    if evidence.query.vector is None or evidence.is_listing:
        return evidence
    is_wanted = np.zeros(len(snapshot.paths) + 1, np.bool_)  # the last is for dead rows
    is_wanted[notes] = True
    rows = np.flatnonzero(is_wanted[snapshot.row_owner])
    cosines = evidence.meaning.cosines.copy()
    cosines[rows] = multiply(evidence, rows)
    meaning = _standardise(cosines, evidence.meaning.sample, snapshot, evidence.signals)
    return replace(evidence, meaning=meaning)


def multiply(evidence: Evidence, rows: Places) -> Exact:
    """Return the cosines of some rows in double precision."""
    snapshot, vector = evidence.snapshot, evidence.query.vector
    if vector is None or evidence.is_listing:
        return np.zeros(len(rows))
    found = snapshot.cosines_of(rows, vector)
    if (lacking := snapshot.lacking) is not None:
        found[lacking[rows]] = evidence.meaning.cosines[rows[lacking[rows]]]
    return found


def find_nearest(evidence: Evidence) -> Places:
    """Return the candidates of highest cosine, nearest first; ties by row. None without vectors."""
    near = evidence.rows
    if evidence.query.vector is None or evidence.is_listing:
        return near[:0]
    if len(near) > (far := _NEAR * NEAREST):
        near = near[np.argpartition(-evidence.meaning.cosines[near], far)[:far]]
    order = np.lexsort((near, -np.round(multiply(evidence, near), _DECIMALS)))
    nearest: Places = near[order[:NEAREST]]
    return nearest


def _average_best(above: Scores, snapshot: Snapshot) -> Scores:
    """Return the mean over the ``_BEST`` passages of each note with most of it."""
    note_of, size = snapshot.row_note, len(snapshot.paths)
    rows = np.flatnonzero((note_of >= 0) & (above > 0))
    sums = np.zeros(size)
    for _ in range(_BEST):
        if not len(rows):
            break
        best = np.zeros(size, np.float32)
        np.maximum.at(best, note_of[rows], above[rows])
        sums += best
        left = np.flatnonzero(above[rows] == best[note_of[rows]])
        firsts = left[np.unique(note_of[rows[left]], return_index=True)[1]]
        rows = np.delete(rows, firsts)
    counts = np.bincount(note_of[note_of >= 0], minlength=size)
    means: Scores = (sums / np.clip(counts, 1, _BEST)).astype(np.float32)
    return means


def _exceed(found: Scores, snapshot: Snapshot) -> Scores:
    """Return by how much the best question of each note is above its best passage, or 0."""
    best = np.zeros((2, len(snapshot.paths)), np.float32)
    asked = snapshot.question_rows
    if len(asked):
        rows = np.flatnonzero(snapshot.row_note >= 0)
        np.maximum.at(best[0], snapshot.row_owner[asked], found[asked])
        np.maximum.at(best[1], snapshot.row_note[rows], found[rows])
    exceeding: Scores = np.maximum(best[0] - best[1], np.float32(0))
    return exceeding

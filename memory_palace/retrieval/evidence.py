"""Gather the evidence of one question: candidate rows, BM25, cosines and note names.

Scores of different kinds are standardised: deviations above the mean of all rows, 0 below it. Means
and deviations do not depend on the order in which an index grew: cosines are sampled by text
digest, and BM25 scores are summed as whole numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import UsageError
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import BM25, LEAST, PostingLookup, expect, stand_above, stand_out
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
"""Certainty from which an expression of time counts as a time, not as the topic."""

ROLES = {"user": True, "human": True, "assistant": False, "ai": False, "chatgpt": False}
"""Labels of chats with a machine, each with whether it is the person's own."""

_FOREIGN, _OWN = 0.06, 0.12
"""Bounds of the mean share of passages with a word of the question: foreign up to the first, in the
notes' language from the second. There 19 questions of 20 reach .11 on LoCoMo and QMSum, .05 on
Russian pages, more on others; of 20 English ones over German, Japanese or Russian pages one .07."""
_HELD, _STEEPNESS = 0.8, 6
"""Idf-weighted share of the question's words in one note from which words count fully, whatever the
language, and the exponent below it. Its median over a question set is .75 to 1 in the notes'
language, .38 in another one."""
_FEW_ROWS = 20
"""Passages at which that discount is halved: in a small palace most words are missing by chance."""

NEAREST = 28
"""Nearest passages: enough for the seven nearest notes, which the guards of source document 001
compare, unless most of the passages are of one note."""
_BEST = 3
_NEAR = 4
"""Candidates compared in double precision per nearest passage returned."""
_DECIMALS = 6
_WORDS = {"lexical", "replied", "beside_words", "statement", "asked_kind", "question_words"}


@dataclass(frozen=True, slots=True)
class VectorEvidence:
    """Cosines of the question's vector with the rows; zeros without a vector."""

    cosines: Scores
    """Cosine of each row, float32; computed in double precision where ``sharpen`` recomputed it."""
    above: Scores
    """Standardised cosine of each row."""
    notes: Scores
    """Mean of ``above`` over the best three passages of each note."""
    questions: Scores
    """Excess of each note's best stored question over its best passage in ``above``, or 0."""
    sample: Exact
    """Cosines of the sampled rows, see ``Snapshot.sample``."""


class AskedTerm(NamedTuple):
    """A content word of the question and its postings."""

    term: str
    having: int
    """Document frequency: passages of all notes outside the cold zone that hold it."""
    weight: float
    """Idf by ``expect_idf``: higher for rarer words."""
    rows: Places
    """Rows that hold it, stored questions included."""
    named: Places
    """Notes that have it in a name."""


@dataclass(frozen=True, slots=True)
class WordEvidence:
    """Scores of the question's words, per row and per note."""

    bearing: np.float32
    """Weight of word evidence, in [0, 1]: low if the question is not in the notes' language."""
    above: Scores
    """Standardised BM25 of each row, over all words of the question."""
    notes: Scores
    """Standardised BM25 of each note, over the words that carry meaning."""
    questions: Scores
    """Excess of each note's best stored question over its best passage in ``above``, or 0."""
    in_names: Scores
    """Idf-weighted share of the question's content words in each note's names."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Evidence of one question in one snapshot; a signal maps it to one score per row."""

    query: ParsedQuery
    question: AskedWords
    snapshot: Snapshot
    half_life_days: float
    signals: frozenset[str]
    """Signals whose arrays are filled; the arrays of others are zeros."""
    words_in: PostingLookup
    """Posting lists of the words of passages."""
    names_in: PostingLookup
    """Posting lists of the words of note names."""
    facts_in: PostingLookup
    """Posting lists of extracted facts, by kind and key."""
    rows: Places
    """Candidate rows; in a listing the first row of each note."""
    words: WordEvidence
    meaning: VectorEvidence
    terms: tuple[AskedTerm, ...]
    """Content words of the question; empty for a listing."""
    is_asking: NDArray[np.bool_]
    """Whether each row ends in a question mark; all false unless a signal reads it."""
    called: Scores
    """Score of the question as a name of each note, in [0, 1]."""
    note_of: Places
    """Note of each row, -1 for dead rows and stored questions."""
    count: int
    """Live passages of all notes outside the cold zone."""
    is_listing: bool
    """Whether there is no question, so that only metadata can order the notes."""
    dates: tuple[Window, ...]
    """Windows of the time expressions with a certainty of ``SURE`` or more."""

    def mark(self, found: Places, rows: Places) -> NDArray[np.bool_]:
        """Return a mask over ``rows``: whether each one is in ``found``."""
        everywhere = np.zeros(len(self.note_of), np.bool_)
        everywhere[found] = True
        return everywhere[rows]


def gather(
    query: ParsedQuery, snapshot: Snapshot, *, signals: Collection[str], half_life_days: float
) -> Evidence:
    """Return the evidence of a question: its candidates, and the arrays that ``signals`` read.

    Arrays that no signal reads stay zeros: BM25 and name matching take time that grows with the
    palace. Signals of other packages may read any array; with one of them all are filled.
    """
    question = read_question(query, snapshot)
    words_in, names_in, facts_in = (
        PostingLookup(snapshot, field) for field in ("words", "names", "facts")
    )
    read = frozenset(signals)
    read = read if read <= SIGNALS else read | SIGNALS
    for field in (words_in, names_in):
        field.look_up(question.terms)
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
        for role in ROLES:  # who asks a machine tells by asking: BEAM dev nDCG@10 .351 to .418
            is_asking[facts_in.rows("speaker", role)] = False
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
        # With repeated indices the last assignment stays: the note's first passage.
        first_rows[snapshot.row_note[live]] = live
        listed = first_rows[match_notes(snapshot, query.filters)]
        return listed[listed >= 0]
    # One more entry at the end is for dead rows, whose note is -1.
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
    """Return the word evidence of a question over ``count`` passages."""
    snapshot, bm25 = words_in.snapshot, BM25(words_in)
    figures, size = snapshot.statistics, len(snapshot.paths)
    above, notes = np.zeros(len(snapshot.row_note), np.float32), np.zeros(size, np.float32)
    questions, in_names = np.zeros(size, np.float32), np.zeros(size, np.float32)
    bearing = np.float32(1)
    if query.vector is not None and read & (_WORDS | {"note_lexical", "covered"}):
        bearing = find_bearing(bm25, question, count) ** np.float32(query.vote)
    if read & _WORDS or snapshot.lacking is not None:
        scores = bm25.passages(question.terms)
        # If every passage scores 0, the spread is that of all live rows, stored questions too.
        counted = snapshot.row_note >= 0, snapshot.row_owner >= 0
        above = bearing * stand_out(scores, figures.spread("words", scores, *counted))
    if "note_lexical" in read:
        scores = bm25.notes(question.content_terms)
        findable = ~snapshot.private  # private notes change no score
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
    """Return the weight of word evidence, in [0, 1].

    A question in another language than the notes matches names and numbers alone, by chance, with
    high standardised scores because nothing else matches.
    """
    common, held = bm25.familiarity(question.terms)
    own = min(max(common - _FOREIGN, 0.0) / (_OWN - _FOREIGN), 1.0)
    share = max(own, min(held / _HELD, 1.0) ** _STEEPNESS)
    return np.float32(1 - (1 - share) * rows / (rows + _FEW_ROWS))


def compare_vectors(
    query: ParsedQuery, snapshot: Snapshot, words: WordEvidence, read: frozenset[str]
) -> VectorEvidence:
    """Return the vector evidence; a row without a vector gets a cosine regressed on its BM25."""
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
    return _standardise(cosines, sample, snapshot, read, query.vote)


def _standardise(
    cosines: Scores, sample: Exact, snapshot: Snapshot, read: frozenset[str], vote: float
) -> VectorEvidence:
    """Return vector evidence: cosines standardised by sample and null, weighed by ``vote``."""
    mean, deviation = expect(sample, snapshot.null)
    above = stand_above(cosines, mean, deviation) * np.float32(vote)
    notes = questions = np.zeros(len(snapshot.paths), np.float32)
    if "note_dense" in read:
        notes = _average_best(above, snapshot)
    if "questions" in read:
        questions = _exceed(above, snapshot)
    return VectorEvidence(cosines, above, notes, questions, sample)


def sharpen(evidence: Evidence, notes: Places) -> Evidence:
    """Return the evidence with double-precision cosines for all rows of some notes.

    The last bits of a single-precision matrix-vector product depend on the position of a row. Shown
    scores must not: an index that grew by updates answers like a fresh one. BM25 needs no such
    step, as its mean and deviation come from sums of whole numbers.
    """
    snapshot = evidence.snapshot
    if evidence.query.vector is None or evidence.is_listing:
        return evidence
    is_wanted = np.zeros(len(snapshot.paths) + 1, np.bool_)  # the last is for dead rows
    is_wanted[notes] = True
    rows = np.flatnonzero(is_wanted[snapshot.row_owner])
    cosines = evidence.meaning.cosines.copy()
    cosines[rows] = multiply(evidence, rows)
    sample, vote = evidence.meaning.sample, evidence.query.vote
    meaning = _standardise(cosines, sample, snapshot, evidence.signals, vote)
    return replace(evidence, meaning=meaning)


def multiply(evidence: Evidence, rows: Places) -> Exact:
    """Return the cosines of some rows in double precision; zeros without a vector."""
    snapshot, vector = evidence.snapshot, evidence.query.vector
    if vector is None or evidence.is_listing:
        return np.zeros(len(rows))
    found = snapshot.cosines_of(rows, vector)
    if (lacking := snapshot.lacking) is not None:
        found[lacking[rows]] = evidence.meaning.cosines[rows[lacking[rows]]]
    return found


def find_nearest(evidence: Evidence) -> Places:
    """Return the ``NEAREST`` candidates by falling cosine, ties by row; none without a vector."""
    near = evidence.rows
    if evidence.query.vector is None or evidence.is_listing:
        return near[:0]
    if len(near) > (far := _NEAR * NEAREST):
        near = near[np.argpartition(-evidence.meaning.cosines[near], far)[:far]]
    order = np.lexsort((near, -np.round(multiply(evidence, near), _DECIMALS)))
    return near[order[:NEAREST]]


def _average_best(above: Scores, snapshot: Snapshot) -> Scores:
    """Return each note's mean over its ``_BEST`` highest passages, or over all if it has fewer."""
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
    return (sums / np.clip(counts, 1, _BEST)).astype(np.float32)


def _exceed(found: Scores, snapshot: Snapshot) -> Scores:
    """Return each note's excess of its best stored question over its best passage, or 0."""
    best = np.zeros((2, len(snapshot.paths)), np.float32)
    asked = snapshot.question_rows
    if len(asked):
        rows = np.flatnonzero(snapshot.row_note >= 0)
        np.maximum.at(best[0], snapshot.row_owner[asked], found[asked])
        np.maximum.at(best[1], snapshot.row_note[rows], found[rows])
    exceeding: Scores = np.maximum(best[0] - best[1], np.float32(0))
    return exceeding

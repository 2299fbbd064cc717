"""The signals by name, and those of evidence: what a passage says about the question.

A new signal is a function here or in a module beside this one, and a name in
``memory_palace.ranking.SIGNALS``; outside of the engine it is registered, see
``memory_palace.signals``.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace import signals
from memory_palace.errors import UsageError
from memory_palace.index.calibration import LEAST, stand_out
from memory_palace.index.segment import PRIORITIES
from memory_palace.index.words import NO_ROWS
from memory_palace.language.time.lexicon import may_name_time
from memory_palace.language.tokens import UNSPACED_RUN, squeeze_all, tokenize
from memory_palace.language.word_lists import STOPWORDS, answer_stems, expect_idf
from memory_palace.models import Scores
from memory_palace.ranking import SIGNALS
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.question import is_mistyped

_Measure: TypeAlias = Callable[[SearchContext], Scores]

_SETTLED = frozenset({"time", "covered", "replied", "beside_words"})
"""Modules, and signals of this one, that look at words, facts and dates alone, so that their values
are computed once, for all candidates."""


LISTED = np.float32(0.5)
"""What every note gets where nothing was asked (source document 002)."""
BESIDE = {1: (0.5, 0.3), 2: (0.2, 0.15)}
"""How much a passage borrows from the one that many places before it, and after it. What comes
before sets the topic, a question for one, and counts for more (chosen on LoCoMo dev)."""
AROUND = {-2: 0.6, 1: 0.6, -1: 0.8, 0: 1.0}
"""What a word of the question counts, by how many places after a passage it stands; ascending."""
ANCHORING = (1.0, 0.75, 0.5625, 0.421875, 0.31640625)
"""By rank: 10 % falling to 3.2 % over the first five in source document 001, which is .75 to the
power of the rank."""
SPOKEN = 0.2
"""Share of the passages of a note that a speaker has a word in, at least."""
HEADED = 0.15
"""For a heading that is the question: less than for any name of a note."""
_DAY_SECONDS = 86_400.0
IMPORTANCE = {"": 0.5, "low": 0.3, "medium": 0.6, "high": 1.0}
"""Source document 002; 0.5 where nobody said."""
_BY_CODE = np.array([IMPORTANCE[name] for name in PRIORITIES], np.float32)


def measure(signal: str, context: SearchContext) -> Scores:
    """Return the values of a signal, computed or as settled before."""
    module = SIGNALS.get(signal)
    if module is None:
        return _measure_extension(signal, context)
    if module == "time" and not may_name_time(context.query.text):
        return context.silence()
    if _SETTLED.isdisjoint((module, signal)):
        return find_signal(signal)(context)
    if signal not in context.settled:
        context.settled[signal] = find_signal(signal)(context)
    return context.settled[signal]


def _measure_extension(name: str, context: SearchContext) -> Scores:
    """Return the values of a registered signal; raise ``UsageError`` where they are no scores.

    A share is measured in standard deviations: what few passages have counts for more, on the scale
    that words and meaning have.
    """
    signal = signals.find_signal(name)
    if signal is None:
        raise UsageError(f"the signal {name} is not registered; install the package that has it")
    if signal.needs_vectors or name not in context.settled:
        asked = context.everywhere() if signal.is_share else context
        found = np.asarray(signal.measure(asked), np.float32)
        if found.shape != asked.rows.shape or not np.isfinite(found).all() or (found < 0).any():
            raise UsageError(f"the signal {name} gives no score of 0 or more for each candidate")
        context.settled[name] = _stand_out(name, found, context) if signal.is_share else found
    return context.settled[name]


@cache
def find_signal(name: str) -> _Measure:
    """Return the function of a signal of the engine."""
    found: _Measure = getattr(import_module(f"{__package__}.{SIGNALS[name]}"), name)
    return found


def _stand_out(signal: str, found: Scores, context: SearchContext) -> Scores:
    """Return by how many deviations the value of a signal is above its mean per candidate, or 0.

    Of all rows, candidates or not, as for words: what a filter leaves out changes no score.
    """
    shares, snapshot = found.astype(np.float64), context.snapshot
    spread = snapshot.statistics.spread(signal, shares, snapshot.row_note >= 0)
    scores: Scores = stand_out(shares, spread)[context.rows]
    return scores


def semantic(context: SearchContext) -> Scores:
    """Return max(0, cosine) per candidate, in [0, 1]."""
    if context.is_listing:
        return np.full(len(context.cosines), LISTED)
    # Rounding may carry the cosine of equal texts past 1.
    scores: Scores = np.clip(context.cosines, 0, 1)
    return scores


def dense(context: SearchContext) -> Scores:
    """Return the standard deviations by which each candidate's cosine is above the mean, or 0."""
    scores: Scores = context.evidence.meaning.above[context.rows]
    return scores


def note_dense(context: SearchContext) -> Scores:
    """Return the mean dense evidence of the best three passages of each candidate's note.

    The best alone: a long note on something else has one passage that is near to anything. All: a
    long page is about much besides what it is asked for.
    """
    scores: Scores = context.evidence.meaning.notes_above[context.notes]
    return scores


def lexical(context: SearchContext) -> Scores:
    """Return the standard deviations by which each candidate's BM25 is above the mean, or 0."""
    scores: Scores = context.evidence.words[context.rows]
    return scores


def note_lexical(context: SearchContext) -> Scores:
    """Return the standard deviations by which BM25 of each candidate's note is above the mean."""
    scores: Scores = context.evidence.note_words[context.notes]
    return scores


def covered(context: SearchContext) -> Scores:
    """Return the share of the question's words in each candidate or just around it, in [0, 1].

    Rare words count more, each counts once, and less where only a passage beside it has it: "I
    bought it in Paris" may answer what was said of the ring before.
    """
    note_of, words = context.snapshot.row_note, context.words
    rows = context.snapshot.statistics.rows
    found: Scores = np.zeros(len(note_of), np.float32)
    whole = LEAST
    for term in context.evidence.question.content_terms:
        weight = expect_idf(term, words.document_frequency(term), rows)
        whole += weight
        holders, reached = words.rows(term), np.zeros(len(note_of), np.float32)
        for step, share in AROUND.items():
            near = np.clip(holders - step, 0, len(note_of) - 1)
            reached[near[note_of[near] == note_of[holders]]] = share
        found += np.float32(weight) * reached
    scores: Scores = found[context.rows] * (context.evidence.bearing / np.float32(whole))
    return scores


def replied(context: SearchContext) -> Scores:
    """Return what the words of the passage before each candidate found, where that one asks.

    An answer need not repeat them: "How long have you had the hut?" "Four years."
    """
    note_of, words = context.snapshot.row_note, context.evidence.words
    asking = context.facts.rows("form", "question")
    asking = asking[asking + 1 < len(note_of)]
    asking = asking[note_of[asking] == note_of[asking + 1]]
    found: Scores = np.zeros(len(note_of), np.float32)
    found[asking + 1] = words[asking]
    scores: Scores = found[context.rows]
    return scores


def asked_kind(context: SearchContext) -> Scores:
    """Return 1 for a passage with a time, span or number where the question asks for one, else 0.

    It is a prior: where the question found nothing else, it is 0.
    """
    rows = [context.words.rows(stem) for stem in sorted(answer_stems(context.query.text))]
    has_one = context.mark(np.concatenate([NO_ROWS, *rows]))
    scores: Scores = (has_one & _is_found(context)).astype(np.float32)
    return scores


def called(context: SearchContext) -> Scores:
    """Return how surely the question is the name of each candidate's note, in [0, 1].

    A passage that has the question for a heading gets ``HEADED`` at least, unless it is one word:
    any note on anything may have a section of that name.
    """
    scores: Scores = context.evidence.called[context.notes]
    (asked,) = squeeze_all([context.query.text])
    if asked and len(context.evidence.question.terms) > 1:
        headed = context.mark(context.facts.rows("heading", asked))
        scores = np.maximum(scores, np.float32(HEADED) * headed)
    return scores


def titled(context: SearchContext) -> Scores:
    """Return the share of the question that each candidate's names hold, squared, in [0, 1].

    Names are titles, file names, aliases, tags and folders. Squared, because one word of many
    says little: it may be in a name by chance (on a garden of 792 notes).
    """
    share = context.evidence.in_names[context.notes]
    scores: Scores = share * share
    return scores


def beside_words(context: SearchContext) -> Scores:
    """Return what each candidate borrows from the words of the passages around it."""
    return _borrow(context, context.evidence.words)


def beside_meaning(context: SearchContext) -> Scores:
    """Return what each candidate borrows from the meaning of the passages around it."""
    return _borrow(context, context.evidence.meaning.above)


def _borrow(context: SearchContext, evidence: Scores) -> Scores:
    """Return the shares ``BESIDE`` of what the rows around each candidate found.

    Passages of other notes lend nothing.
    """
    note_of = context.snapshot.row_note
    borrowed = np.zeros(len(note_of), np.float32)
    for step, (before, after) in BESIDE.items():
        is_same = note_of[step:] == note_of[:-step]
        borrowed[step:] += np.float32(before) * evidence[:-step] * is_same
        borrowed[:-step] += np.float32(after) * evidence[step:] * is_same
    scores: Scores = borrowed[context.rows]
    return scores


def speaker(context: SearchContext) -> Scores:
    """Return 1 where a line of the passage begins with a label such as ``Anna:``, else 0.

    The label's words are compared with the question's whole words, not with their stems. Less where
    few passages of the note have such a label: nobody speaks in the one line ``Obsidian: the app``
    of a page. A word that no note holds is the name of a speaker who is spelt alike.
    """
    text, languages = context.query.text, context.snapshot.languages
    known = sorted(context.snapshot.speakers)
    words = set(tokenize(text, stems=False)) - STOPWORDS
    names = words.union(name for name in known if name in text and UNSPACED_RUN.fullmatch(name))
    for word in words.difference(known) if known else ():
        if not any(map(context.words.is_held, tokenize(word, languages=languages))):
            near = [name for name in known if is_mistyped(word, name)]
            names.update(near or get_close_matches(word, known, 1, cutoff=0.7))
    rows = [context.facts.rows("speaker", name) for name in sorted(names)]
    said = np.unique(np.concatenate([NO_ROWS, *rows]))
    if not len(said):
        return context.silence()
    size, note_of = len(context.snapshot.paths), context.snapshot.row_note
    spoken = np.bincount(note_of[said], minlength=size)
    passages = np.bincount(note_of[note_of >= 0], minlength=size)
    share = np.minimum(spoken / np.maximum(passages * SPOKEN, LEAST), 1)
    scores: Scores = (context.mark(said) * share[context.notes]).astype(np.float32)
    return scores


def statement(context: SearchContext) -> Scores:
    """Return 1 for a passage that does not end in a question mark, 0 for one that does.

    It is a prior: where the question found nothing, neither in meaning nor in words, it is 0.
    """
    is_asked = context.mark(context.facts.rows("form", "question"))
    scores: Scores = (_is_found(context) & ~is_asked).astype(np.float32)
    return scores


def _is_found(context: SearchContext) -> NDArray[np.bool_]:
    evidence = context.evidence
    found: NDArray[np.bool_] = evidence.meaning.found | (evidence.words > 0)
    return found[context.rows]


def anchor(context: SearchContext) -> Scores:
    """Return the best score of any fired anchor per candidate, in [0, 1]; 0 where none fired."""
    scores: Scores = np.zeros(len(context.rows), np.float32)
    found = context.query.anchors
    if found is None or not len(found.rows):
        return scores
    places = np.minimum(np.searchsorted(found.rows, context.rows), len(found.rows) - 1)
    is_listed = found.rows[places] == context.rows
    scores[is_listed] = found.scores[places[is_listed]]
    return scores


def anchoring(context: SearchContext) -> Scores:
    """Return 1 for the candidate nearest in meaning, less for the next four, 0 for the rest."""
    scores: Scores = np.zeros(len(context.rows), np.float32)
    for row, share in zip(context.nearest, ANCHORING, strict=False):
        scores[context.rows == row] = share
    return scores


def questions(context: SearchContext) -> Scores:
    """Return by how much a question that each candidate's note answers is nearer than its passages.

    In deviations of meaning. Such questions stand in front matter: what is found is the note.
    """
    scores: Scores = context.evidence.questions[context.notes]
    return scores


def question_words(context: SearchContext) -> Scores:
    """Return the same in deviations of BM25."""
    scores: Scores = context.evidence.question_words[context.notes]
    return scores


def recency(context: SearchContext) -> Scores:
    """Return 0.5 ** (age / half-life) per candidate, in [0, 1].

    A note from the future is new, and an evergreen note always; one that a copy dates is a
    half-life old, as nobody knows its age. A true half-life, as source
    document 002 says in words: its formula exp(-age / 30) has one of 20.8 days.
    """
    snapshot = context.snapshot
    dates = snapshot.told_dates[context.notes]
    age_days = np.maximum(context.query.as_of - dates, 0) / _DAY_SECONDS
    age_days[dates == 0] = context.half_life_days
    age_days[snapshot.evergreen[context.notes]] = 0
    scores: Scores = np.exp2((-age_days / context.half_life_days).astype(np.float32))
    return scores


def importance(context: SearchContext) -> Scores:
    """Return the importance that front matter or manifest give each candidate, in [0, 1]."""
    scores: Scores = _BY_CODE[context.snapshot.priorities[context.notes]]
    return scores

"""Profiles, which weight the signals, and the signals: functions of evidence to a score per row.

A new signal is a function here, and a name in ``memory_palace.signals.SIGNALS``; one of another
package is registered, see ``memory_palace.signals``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import Config
from memory_palace.embedding.registry import Embedder, embed_question
from memory_palace.errors import UsageError, did_you_mean
from memory_palace.index.commit import Commit, Detail
from memory_palace.index.segment import PRIORITIES
from memory_palace.index.words import LEAST, NO_ROWS, stand_out
from memory_palace.language.words import (
    STOPWORDS,
    UNSPACED_RUN,
    answer_stems,
    squeeze_all,
    tokenize,
)
from memory_palace.models import ParsedQuery, Scores
from memory_palace.query import Query
from memory_palace.retrieval.evidence import ROLES, Evidence, Places, find_nearest
from memory_palace.retrieval.question import is_mistyped
from memory_palace.signals import (
    DEFAULT_PROFILE,
    METADATA,
    OF_VECTORS,
    SIGNALS,
    ProfileSettings,
    Signal,
    extensions,
    find_profile,
    find_signal,
)

# --- Profiles: which signals count, and how much --------------------------------------------------


@dataclass(frozen=True, slots=True)
class Profile:
    """A weight per signal; the score of a passage is their weighted sum."""

    name: str
    weights: Mapping[str, float]
    gated: frozenset[str] = frozenset()
    """Signals that the relevance gate leaves out, as they do not depend on the question."""
    capped: frozenset[str] = frozenset()
    """Signals of low precision: together they add no more than ``cap``."""
    cap: float = 0.0
    preserves_rank: bool = False
    """Whether ``rank._preserve_rank`` may move a hit up."""
    prefers: bool = True
    """Whether ``rank`` reorders near-duplicate hits, and passages of one note."""

    @property
    def needs(self) -> Detail:
        """The index detail that its signals need."""
        needs = any(signal.needs_structure for signal in self._registered())
        return Detail.STRUCTURED if needs else Detail.PLAIN

    @property
    def reads_words(self) -> bool:
        """Whether it can answer without vectors."""
        own = self.weights.keys() & SIGNALS
        return not own <= OF_VECTORS | METADATA or any(
            not signal.needs_vectors for signal in self._registered()
        )

    def share_out(self, vote: float) -> Profile:
        """Return it with the weight that a model's vote lacks given to BM25."""
        if vote == 1:
            return self
        weights = dict(self.weights)
        for words, meaning in (("lexical", "dense"), ("note_lexical", "note_dense")):
            if words in weights:
                weights[words] += (1 - vote) * weights.get(meaning, 0.0)
        return replace(self, weights=weights)

    def _registered(self) -> list[Signal]:
        """Return those of its signals that other packages registered."""
        names = (name for name in self.weights if name not in SIGNALS)
        return [signal for name in names if (signal := find_signal(name))]

    @property
    def lists_notes(self) -> bool:
        """Whether it can rank a listing, which has no question."""
        return self.weights.keys() <= METADATA | {"semantic"}


HYBRID: Mapping[str, float] = {
    "dense": 0.85,
    "note_dense": 1.0,
    "lexical": 0.3,
    "note_lexical": 0.6,
    "covered": 7.0,
    "replied": 0.4,
    "asked_kind": 2.0,
    "beside_words": 0.15,
    "beside_meaning": 0.3,
    "speaker": 2.5,
    "statement": 1.8,
    "temporal": 5.0,
    "dated": 30.0,
    "called": 200.0,
    "titled": 8.0,
    "questions": 3.0,
    "question_words": 1.5,
}

PROFILES: Mapping[str, Profile] = {
    "compound": Profile(
        "compound",
        {"semantic": 0.5, "recency": 0.25, "importance": 0.25},
        gated=frozenset({"recency", "importance"}),
    ),
    "raw": Profile("raw", {"semantic": 1.0}, prefers=False),
    "hybrid": Profile("hybrid", HYBRID),
    "anchors": Profile("anchors", {**HYBRID, "anchor": 2.0}),
    "bm25": Profile("bm25", {"note_lexical": 1.0, "lexical": 0.01}, prefers=False),
}
"""Weights of ``compound`` and ``raw`` are those of source document 002. ``anchors`` has the largest
weight that kept the first five notes of all 169 utterances; at 4 it lost one note, at 8 six."""


_UNASKED = ("asked_kind", "dated", "statement")
RECALL = Profile(
    "recall",
    {name: weight for name, weight in HYBRID.items() if name not in _UNASKED}
    | {name: 3 * HYBRID[name] for name in ("dense", "note_dense")}
    | {"speaker": 1.0, "temporal": 1.0},
)
"""``hybrid`` for an utterance that asks nothing: more weight of vectors, no priors of answers."""

Mode: TypeAlias = Literal["vector", "lexical", "listing"]
"""Evidence that ranks notes: vectors and words, words alone, or metadata without a question."""


@dataclass(frozen=True, slots=True)
class RankingPlan:
    """The profile and mode that rank the notes for one question."""

    profile: Profile
    mode: Mode
    unread_by: str
    """The index's embedder if it cannot read the language of the question, else empty."""


def plan_ranking(
    asked: Query,
    query: ParsedQuery,
    commit: Commit,
    config: Config,
    embedder: Callable[[Commit], Embedder],
) -> tuple[ParsedQuery, RankingPlan]:
    """Return the query with its vector, and the profile and mode asked for, or those possible.

    ``query`` is without its filters: an empty one lists notes by metadata. Without vectors, or if
    the embedder reads too little of it to have a vote, words alone rank.
    """
    unread_by = ""
    mode: Mode = "vector" if commit.dimension and not asked.lexical else "lexical"
    mode = mode if query.text else "listing"
    if mode == "vector":
        query = embed_question(query, embedder(commit), always=bool(asked.profile))
        if query.vector is None:
            mode, unread_by = "lexical", commit.embedder
    profile = get_profile(asked.profile or config.profile or DEFAULT_PROFILE)
    if mode == "listing" and not profile.lists_notes:
        profile = PROFILES["compound"]
    if mode == "lexical" and not profile.reads_words:
        profile = PROFILES[DEFAULT_PROFILE]
    return query, RankingPlan(profile, mode, unread_by)


def get_profile(name: str) -> Profile:
    """Return a profile by name, built in or of an extension; raise ``UsageError`` if unknown."""
    if name in PROFILES:
        return PROFILES[name]
    if given := find_profile(name):
        return _make(name, given)
    known = (*PROFILES, *(name for each in extensions() for name in each.profiles))
    hint = did_you_mean(name, known, ".")
    raise UsageError(f"there is no profile {name!r}{hint} The profiles are {', '.join(known)}.")


def _make(name: str, given: ProfileSettings) -> Profile:
    """Return the profile of an extension: its base profile with its changes.

    Metadata signals are gated, and with a cap imprecise ones are capped, unless it names others.
    Raise ``UsageError`` if no weight is left, or none for a signal that is gated or capped.
    """
    base = get_profile(given.extends) if given.extends else Profile("", {})
    changed = {**base.weights, **given.weights}
    weights = {signal: weight for signal, weight in changed.items() if weight}
    if not weights:
        raise UsageError(f"the profile {name} leaves no weight above 0")
    for signal in (*(given.gated or ()), *(given.capped or ())):
        if signal not in weights:
            raise UsageError(f"the profile {name} gates or caps {signal}, and gives it no weight")
    gated = METADATA if given.gated is None else frozenset(given.gated)
    capped = base.capped if given.capped is None else frozenset(given.capped)
    if given.cap is not None and given.capped is None:
        known = ((name, find_signal(name)) for name in weights if name not in SIGNALS)
        capped |= {name for name, signal in known if signal and signal.is_imprecise}
    return replace(
        base,
        name=name,
        weights=weights,
        gated=gated & weights.keys(),
        capped=capped & weights.keys(),
        cap=base.cap if given.cap is None else given.cap,
        preserves_rank=base.preserves_rank if given.preserve_rank is None else given.preserve_rank,
    )


# --- Signals --------------------------------------------------------------------------------------

_Measure: TypeAlias = Callable[[Evidence, Places], Scores]

LISTED = np.float32(0.5)
"""Score of every note in a listing (source document 002)."""
BESIDE = {1: (0.5, 0.3), 2: (0.2, 0.15)}
"""By distance, the shares of the scores of the passage before and after that are added. The one
before sets the topic, as a question does, and counts for more (chosen on LoCoMo dev)."""
AROUND = {-2: 0.6, 1: 0.6, -1: 0.8, 0: 1.0}
"""Weight of a question word by its offset from the passage; ascending, for the last one stays."""
ANCHORING = (1.0, 0.75, 0.5625, 0.421875, 0.31640625)
"""By rank of cosine: .75 to the power of the rank, as 10 % falling to 3.2 % over the first five in
source document 001."""
SPOKEN = 0.2
"""Share of a note's passages from which a speaker's label counts fully."""
_PRONOUN = re.compile(r"(?<!can )(?<!could )(?<!would )(?<!will )\b(?:I|[Mm][ey]|[Yy]our?)\b")
"""The first one tells whose turns are meant; "can you" asks for a favor."""
HEADED = 0.15
"""Score of a heading equal to the question: less than for any exact name of a note."""
_DAY_SECONDS = 86_400.0
IMPORTANCE = {"": 0.5, "low": 0.3, "medium": 0.6, "high": 1.0}
"""By priority, from source document 002; 0.5 without one."""
_BY_CODE = np.array([IMPORTANCE[name] for name in PRIORITIES], np.float32)


def measure(signal: str, evidence: Evidence, rows: Places) -> Scores:
    """Return the values of a signal for some rows."""
    if signal in _MEASURES:
        return _MEASURES[signal](evidence, rows)
    if signal not in SIGNALS:
        return _measure_extension(signal, evidence, rows)
    if not evidence.question.times:
        return np.zeros(len(rows), np.float32)
    from memory_palace.retrieval import times  # delayed: reading times takes as long as a question

    of_time: _Measure = getattr(times, signal)
    return of_time(evidence, rows)


def reads_vectors(signal: str) -> bool:
    """Whether a signal depends on cosines and is measured again with exact ones."""
    if signal in SIGNALS:
        return signal in OF_VECTORS | {"statement", "asked_kind"}
    found = find_signal(signal)
    return found is None or found.needs_vectors


def _measure_extension(name: str, evidence: Evidence, rows: Places) -> Scores:
    """Return the values of a registered signal; raise ``UsageError`` if unregistered or no scores.

    A share is standardised, like BM25: rare values count for more, on the scale of words and
    meaning. Mean and deviation are those of all rows, candidates or not: a filter changes no score.
    """
    signal = find_signal(name)
    if signal is None:
        raise UsageError(f"the signal {name} is not registered; install the package that has it")
    row_note = evidence.note_of
    asked = np.arange(len(row_note)) if signal.is_share else rows
    found = np.asarray(signal.measure(evidence, asked), np.float32)
    if found.shape != asked.shape or not np.isfinite(found).all() or (found < 0).any():
        raise UsageError(f"the signal {name} gives no score of 0 or more for each candidate")
    if not signal.is_share:
        return found
    shares = found.astype(np.float64)
    spread = evidence.snapshot.statistics.spread(name, shares, row_note >= 0)
    return stand_out(shares, spread)[rows]


def semantic(evidence: Evidence, rows: Places) -> Scores:
    """Return max(0, cosine) per candidate, in [0, 1]."""
    if evidence.is_listing:
        return np.full(len(rows), LISTED)
    # Rounding may carry the cosine of equal texts past 1.
    return np.clip(evidence.meaning.cosines[rows], 0, 1)


def dense(evidence: Evidence, rows: Places) -> Scores:
    """Return the standardised cosine of each candidate: deviations above the mean, or 0."""
    return evidence.meaning.above.take(rows)


def note_dense(evidence: Evidence, rows: Places) -> Scores:
    """Return the mean dense evidence of the best three passages of each candidate's note.

    The best one alone would favour long notes, which have a passage near to anything; the mean of
    all would penalise long pages on many subjects.
    """
    return evidence.meaning.notes.take(evidence.note_of[rows])


def lexical(evidence: Evidence, rows: Places) -> Scores:
    """Return the standardised BM25 of each candidate: deviations above the mean, or 0."""
    return evidence.words.above.take(rows)


def note_lexical(evidence: Evidence, rows: Places) -> Scores:
    """Return the standardised BM25 of each candidate's note: deviations above the mean, or 0."""
    return evidence.words.notes.take(evidence.note_of[rows])


def covered(evidence: Evidence, rows: Places) -> Scores:
    """Return the idf-weighted share of content words in or around each candidate, in [0, 1].

    Each word counts once, and less if only a nearby passage holds it: "I bought it in Paris" may
    answer a question about the ring that was named before.
    """
    note_of = evidence.note_of
    found: Scores = np.zeros(len(note_of), np.float32)
    whole, places = LEAST, np.arange(len(note_of))
    shares = [(np.clip(places - step, 0, places[-1:]), share) for step, share in AROUND.items()]
    nearby = [(np.where(note_of[n] == note_of, n, places), share) for n, share in shares]
    for _, _, weight, held, _ in evidence.terms:
        whole += weight
        if not len(held):
            continue
        holders, reached = held[note_of[held] >= 0], np.zeros(len(note_of), np.float32)
        for near, share in nearby:  # its own place comes last
            reached[near[holders]] = share
        found += np.float32(weight) * reached
    return found[rows] * (evidence.words.bearing / np.float32(whole))


def replied(evidence: Evidence, rows: Places) -> Scores:
    """Return the standardised BM25 of the passage before each candidate if that asks, else 0.

    An answer need not repeat its words: "How long have you had the hut?" "Four years."
    """
    note_of, words = evidence.note_of, evidence.words.above
    asking = np.flatnonzero(evidence.is_asking[:-1])
    asking = asking[note_of[asking] == note_of[asking + 1]]
    found: Scores = np.zeros(len(note_of), np.float32)
    found[asking + 1] = words[asking]
    return found.take(rows)


def asked_kind(evidence: Evidence, rows: Places) -> Scores:
    """Return 1 for a passage with a time, span or number where the question asks for one, else 0.

    It is a prior: 0 for passages that match the question neither in meaning nor in words.
    """
    stems = sorted(answer_stems(evidence.query.text))
    having = [evidence.words_in.rows(stem) for stem in stems]
    has_one = evidence.mark(np.concatenate([NO_ROWS, *having]), rows)
    return (has_one & _is_found(evidence, rows)).astype(np.float32)


def called(evidence: Evidence, rows: Places) -> Scores:
    """Return the score of the question as a name of each candidate's note, in [0, 1].

    A passage with the question as a heading gets ``HEADED`` at least, unless the question is one
    word: many notes may have a section of that name.
    """
    scores: Scores = evidence.called[evidence.note_of[rows]]
    (asked,) = squeeze_all([evidence.query.text])
    if asked and len(evidence.question.terms) > 1:
        headed = evidence.mark(evidence.facts_in.rows("heading", asked), rows)
        scores = np.maximum(scores, np.float32(HEADED) * headed)
    return scores


def titled(evidence: Evidence, rows: Places) -> Scores:
    """Return the squared share of the question's words in the names of each candidate, in [0, 1].

    Names are titles, file names, aliases, tags and folders. The share is squared, as one word of
    many may be in a name by chance (on a garden of 792 notes).
    """
    share = evidence.words.in_names[evidence.note_of[rows]]
    return share * share


def beside_words(evidence: Evidence, rows: Places) -> Scores:
    """Return the standardised BM25 of the passages around each candidate, by ``BESIDE``."""
    return _borrow(evidence.words.above, evidence, rows)


def beside_meaning(evidence: Evidence, rows: Places) -> Scores:
    """Return the standardised cosines of the passages around each candidate, by ``BESIDE``."""
    return _borrow(evidence.meaning.above, evidence, rows)


def _borrow(found: Scores, evidence: Evidence, rows: Places) -> Scores:
    """Return the sum of the scores of the rows around each candidate, weighted by ``BESIDE``.

    Only rows of the same note count.
    """
    note_of = evidence.note_of
    borrowed = np.zeros(len(note_of), np.float32)
    for step, (before, after) in BESIDE.items():
        is_same = note_of[step:] == note_of[:-step]
        borrowed[step:] += np.float32(before) * found[:-step] * is_same
        borrowed[:-step] += np.float32(after) * found[step:] * is_same
    return borrowed.take(rows)


def speaker(evidence: Evidence, rows: Places) -> Scores:
    """Return 1 where a line of the passage begins with a label such as ``Anna:``, else 0.

    The label's words are compared with the question's whole words, not with their stems. The score
    is lower if few passages of the note have the label: the one line ``Obsidian: the app`` of a
    page is no speaker. A word that no note holds matches speakers of similar spelling. "Did I say"
    asks for the turns of a chat's ``User``, "did you recommend" for those of its ``Assistant``.
    """
    text, languages = evidence.query.text, evidence.snapshot.languages
    known = sorted(evidence.snapshot.speakers - ROLES.keys())
    words = set(tokenize(text, stems=False)) - STOPWORDS - ROLES.keys()
    names = words.union(name for name in known if name in text and UNSPACED_RUN.fullmatch(name))
    for word in words.difference(known) if known else ():
        if not any(map(evidence.words_in.is_held, tokenize(word, languages=languages))):
            near = [name for name in known if is_mistyped(word, name)]
            names.update(near or get_close_matches(word, known, 1, cutoff=0.7))
    if pronoun := _PRONOUN.search(text):
        is_own = not pronoun[0].casefold().startswith("you")
        names |= {role for role, is_user in ROLES.items() if is_user == is_own}
    found = [evidence.facts_in.rows("speaker", name) for name in sorted(names)]
    said = np.unique(np.concatenate([NO_ROWS, *found]))
    if not len(said):
        return np.zeros(len(rows), np.float32)
    size, note_of = len(evidence.snapshot.paths), evidence.note_of
    spoken = np.bincount(note_of[said], minlength=size)
    passages = np.bincount(note_of[note_of >= 0], minlength=size)
    share = np.minimum(spoken / np.maximum(passages * SPOKEN, LEAST), 1)
    scores: Scores = (evidence.mark(said, rows) * share[evidence.note_of[rows]]).astype(np.float32)
    return scores


def statement(evidence: Evidence, rows: Places) -> Scores:
    """Return 1 for a passage that does not end in a question mark, 0 for one that does.

    It is a prior: 0 for passages that match the question neither in meaning nor in words.
    """
    is_asking = evidence.is_asking[rows]
    return (_is_found(evidence, rows) & ~is_asking).astype(np.float32)


def _is_found(evidence: Evidence, rows: Places) -> NDArray[np.bool_]:
    return (evidence.meaning.above[rows] > 0) | (evidence.words.above[rows] > 0)


def anchor(evidence: Evidence, rows: Places) -> Scores:
    """Return the best score of any fired anchor per candidate, in [0, 1]; 0 where none fired."""
    scores: Scores = np.zeros(len(rows), np.float32)
    found = evidence.query.anchors
    if found is None or not len(found.rows):
        return scores
    places = np.minimum(np.searchsorted(found.rows, rows), len(found.rows) - 1)
    is_listed = found.rows[places] == rows
    scores[is_listed] = found.scores[places[is_listed]]
    return scores


def anchoring(evidence: Evidence, rows: Places) -> Scores:
    """Return 1 for the candidate nearest in meaning, less for the next four, 0 for the rest."""
    scores: Scores = np.zeros(len(rows), np.float32)
    for row, share in zip(find_nearest(evidence), ANCHORING, strict=False):
        scores[rows == row] = share
    return scores


def questions(evidence: Evidence, rows: Places) -> Scores:
    """Return the excess in cosine of the best stored question of each note over its best passage.

    In standard deviations, 0 if below. Front matter stores the questions that a note answers.
    """
    return evidence.meaning.questions.take(evidence.note_of[rows])


def question_words(evidence: Evidence, rows: Places) -> Scores:
    """Return the excess in BM25 of the best stored question of each note over its best passage."""
    return evidence.words.questions.take(evidence.note_of[rows])


def recency(evidence: Evidence, rows: Places) -> Scores:
    """Return 0.5 ** (age / half-life) per candidate, in [0, 1].

    Future and evergreen notes have age 0; a note that a copy dates is one half-life old, as its age
    is unknown. The half-life is a true one, as in the text of source document 002, whose formula
    exp(-age / 30) has one of 20.8 days.
    """
    snapshot, notes = evidence.snapshot, evidence.note_of[rows]
    dates = snapshot.told_dates[notes]
    age_days = np.maximum(evidence.query.as_of - dates, 0) / _DAY_SECONDS
    age_days[dates == 0] = evidence.half_life_days
    age_days[snapshot.evergreen[notes]] = 0
    return np.exp2((-age_days / evidence.half_life_days).astype(np.float32))


def importance(evidence: Evidence, rows: Places) -> Scores:
    """Return the importance that front matter or manifest give each candidate, in [0, 1]."""
    return _BY_CODE.take(evidence.snapshot.priorities[evidence.note_of[rows]])


_MEASURES: Mapping[str, _Measure] = {
    name: globals()[name] for name in SIGNALS - {"temporal", "dated"}
}
"""The functions above by name; ``temporal`` and ``dated`` are in ``retrieval.times``."""

"""The extension of source document 001: signals over phrases, names, relations, wishes, quotes.

Precision is low where a signal is silent of right passages too, or speaks of many wrong ones; the
sum of those is capped (``LOW_PRECISION``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from memory_palace.features.structure.facts import (
    ANY,
    Kind,
    Relation,
    describe,
    find_object,
    find_phrases,
    find_verb,
    lemma,
    phrase_keys,
    preference_key,
    relation_keys,
    text_key,
)
from memory_palace.index.words import PostingLookup
from memory_palace.language.tagged_words import Name, Word, find_names, split_words
from memory_palace.language.words import STOPWORDS, is_english, stem_word
from memory_palace.models import Scores
from memory_palace.notes.note import ASKED
from memory_palace.retrieval.evidence import Evidence, Places
from memory_palace.retrieval.question import AskedWords
from memory_palace.retrieval.quotes import find_quoted
from memory_palace.retrieval.times import temporal
from memory_palace.signals import STRUCTURE as NAME
from memory_palace.signals import Extension, ProfileSettings, Signal

_PREFERENCE = re.compile(
    r"\b(?:recommend\w*|suggest\w*|prefer\w*|favou?rite|like|likes|liked|love|loves|enjoy\w*|hate|"
    r"hates|dislike\w*|advice|tips?|ideas?|should i|interested|interests?|hobb(?:y|ies)|want|wants|"
    r"plan|plans|planning|goals?|dreams?|wish|wishes)\b",
    re.I,
)
_LIKENESS = re.compile(
    r"\b(?:look|looks|looked|feel|feels|sound|sounds|be|is|was|seem\w*) like\b", re.I
)
_SHORTEST_WORD = 3


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question after reading, as keys of facts; empty unless it is English.

    ``phrases`` are the keys of each noun phrase, ``words`` stems of three letters or more that are
    no stop words, ``relations`` have their unknown part left open.
    """

    is_english: bool
    phrases: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    asks_preference: bool = False


def analyse(text: str, *, known_entities: Container[str] = ()) -> Analysis:
    """Read a question; ``known_entities`` are keys as ``name_key`` makes them."""
    text = unicodedata.normalize("NFKC", text)
    if not is_english(text):
        return Analysis(is_english=False)
    words = split_words(text)
    names = ASKED.read("names", lambda: find_names(words, known_entities), ())
    return Analysis(
        is_english=True,
        phrases=tuple(dict.fromkeys(phrase_keys(p) for p in find_phrases(words))),
        names=tuple(dict.fromkeys(" ".join(word.key for word in name) for name in names)),
        words=_content_words(words),
        quotes=tuple(key for quote in find_quoted(text) if (key := text_key(quote))),
        relations=ASKED.read("relations", lambda: _relations(words, names), ()),
        asks_preference=bool(_PREFERENCE.search(_LIKENESS.sub(" ", text))),
    )


class _KnownEntities:
    def __init__(self, facts: PostingLookup) -> None:
        self._facts = facts

    def __contains__(self, entity: object) -> bool:
        return self._facts.is_held(Kind.ENTITY, str(entity))


def _content_words(words: Sequence[Word]) -> tuple[str, ...]:
    keys = (w.key for w in words if len(w.key) >= _SHORTEST_WORD and w.key not in STOPWORDS)
    return tuple(dict.fromkeys(stem_word(key) for key in keys if "'" not in key))


def _relations(words: Sequence[Word], names: Sequence[Name]) -> tuple[str, ...]:
    """Return what is asked of each subject: "what does Anna play" leaves the object open."""
    people = {word.key for name in names for word in name} | {"i", "we"}
    keys: list[str] = []
    for place, word in enumerate(words):
        verb_place = find_verb(words, place + 1) if word.key in people else None
        if verb_place is None or word.is_possessive:
            continue
        subject = "i" if word.key == "we" else word.key
        found = find_object(words, verb_place + 1)
        whole, any_object, any_subject = relation_keys(
            Relation(subject, lemma(words[verb_place].key), found)
        )
        keys += [whole, any_object, any_subject] if found else [any_object]
    if not keys and words and words[0].key == "who":  # plays the violin
        verb_place = find_verb(words, 1)
        if verb_place is not None and (found := find_object(words, verb_place + 1)):
            keys.append(relation_keys(Relation("", lemma(words[verb_place].key), found))[2])
    return tuple(dict.fromkeys(keys))


RELATION, OPEN, ENTITY = 1.0, 0.6, 0.3
"""What a whole relation, one with an open part, and an entity add (chosen, not tuned)."""
OF_HOLDER, OF_ANYBODY, SOME = 1.0, 0.7, 0.3
"""What a passage gets for a preference of the one that is asked about for the thing that is asked
about, for one of anybody, and for any other preference of the former (chosen, not tuned)."""
_WRITER = "i"
_QUOTED_AS = (Kind.QUOTE, Kind.PHRASE, Kind.ENTITY, Kind.LINK, Kind.TAG)
ALL_WORDS = 0.6
"""For a passage that holds all words of a quote of two or more, perhaps apart (chosen)."""
_NAMED_AS = (Kind.ENTITY, Kind.LINK, Kind.TAG)
WORDS_ALONE = 0.8
"""For all words of a name that is no entity there: written small, or first in a sentence."""
PARTIAL = (1.0, 0.7, 0.4)
"""What a passage gets for a whole phrase, for its last two words, and for its head alone."""


@lru_cache(maxsize=1)
def _read(question: AskedWords, facts: PostingLookup) -> Analysis:
    read = partial(analyse, question.text, known_entities=_KnownEntities(facts))
    return ASKED.read("grammar", read, Analysis(is_english=False))


def _analysis(evidence: Evidence) -> Analysis:
    return _read(evidence.question, evidence.facts_in)


def logic(evidence: Evidence, rows: Places) -> Scores:
    """Return the weighted share of the question's facts, in [0, 1]. Precision: low."""
    wanted = [
        (Kind.RELATION, k, OPEN if ANY in k else RELATION) for k in _analysis(evidence).relations
    ]
    wanted += [(Kind.ENTITY, key, ENTITY) for key in _analysis(evidence).names]
    scores, total = np.zeros(len(rows), np.float32), 0.0
    for kind, key, weight in wanted:
        total += weight
        value = weight * _rarity(evidence, kind, key)
        if value:
            scores += np.float32(value) * evidence.mark(evidence.facts_in.rows(kind, key), rows)
    if total:
        scores /= np.float32(total)
    return np.minimum(scores, np.float32(1), out=scores)


def preference(evidence: Evidence, rows: Places) -> Scores:
    """Return how well a stated preference answers, in [0, 1]; silent unless one is asked for."""
    analysis = _analysis(evidence)
    scores = np.zeros(len(rows), np.float32)
    if not analysis.asks_preference:
        return scores
    holders = analysis.names or (_WRITER,)
    for holder in holders:
        _raise(evidence, rows, scores, preference_key(holder, ANY), SOME)
    for subject in analysis.words:
        _raise(evidence, rows, scores, preference_key(ANY, subject), OF_ANYBODY)
        for holder in holders:
            _raise(evidence, rows, scores, preference_key(holder, subject), OF_HOLDER)
    return scores


def _raise(evidence: Evidence, rows: Places, scores: Scores, key: str, value: float) -> None:
    having = evidence.facts_in.rows(Kind.PREFERENCE, key)
    if len(having):
        np.maximum(scores, np.float32(value) * evidence.mark(having, rows), out=scores)


def noun_phrase(evidence: Evidence, rows: Places) -> Scores:
    """Return the share of the question's noun phrases in each candidate, the rarer the more.

    In [0, 1]. The bridge of source document 001 compares phrase embeddings; this one stems.
    """
    total, scores = 0.0, np.zeros(len(rows), np.float32)
    for keys in _analysis(evidence).phrases:
        found = np.zeros(len(rows), np.float32)
        best = 0.0
        shares = (PARTIAL[0], *(PARTIAL[1] if " " in key else PARTIAL[2] for key in keys[1:]))
        for key, share in zip(keys, shares, strict=True):
            weight = _rarity(evidence, Kind.PHRASE, key)
            if weight:
                best = max(best, weight)
                has = evidence.mark(evidence.facts_in.rows(Kind.PHRASE, key), rows)
                np.maximum(found, np.float32(share * weight) * has, out=found)
        scores += found
        total += best or 1.0
    if total:
        scores /= np.float32(total)
    return np.minimum(scores, np.float32(1), out=scores)


def quoted(evidence: Evidence, rows: Places) -> Scores:
    """Return the share of the question's quotes that each candidate holds, in [0, 1]."""
    quotes = _analysis(evidence).quotes
    scores = np.zeros(len(rows), np.float32)
    for quote in quotes:
        words = [word for word in quote.split() if word not in STOPWORDS]
        holds = _holds_all(evidence, rows, words if len(words) > 1 else ())
        scores += np.maximum(
            _is_kept(evidence, rows, _QUOTED_AS, quote), np.float32(ALL_WORDS) * holds
        )
    if quotes:
        scores /= np.float32(len(quotes))
    return scores


def _is_kept(
    evidence: Evidence, rows: Places, kinds: Sequence[Kind], key: str
) -> NDArray[np.bool_]:
    """Say for each candidate whether it has a fact of that key, of any of some kinds."""
    having = [evidence.facts_in.rows(kind, key) for kind in kinds]
    return evidence.mark(np.concatenate(having), rows)


def _holds_all(evidence: Evidence, rows: Places, words: Collection[str]) -> NDArray[np.bool_]:
    """Say for each candidate whether it holds all of some stems; of none, no candidate does."""
    holds = np.full(len(rows), bool(words))
    for word in words:
        holds &= evidence.mark(evidence.words_in.rows(word), rows)
    return holds


def name(evidence: Evidence, rows: Places) -> Scores:
    """Return the share of the question's names that each candidate holds, in [0, 1]."""
    names = _analysis(evidence).names
    scores = np.zeros(len(rows), np.float32)
    for name in names:
        holds = _holds_all(evidence, rows, [stem_word(word) for word in name.split()])
        scores += np.maximum(
            _is_kept(evidence, rows, _NAMED_AS, name), np.float32(WORDS_ALONE) * holds
        )
    if names:
        scores /= np.float32(len(names))
    return scores


def temporal_phrase(evidence: Evidence, rows: Places) -> Scores:
    """Return nearness in time times the share of phrases: tells apart the notes of one day."""
    if not (evidence.question.times and _analysis(evidence).phrases):
        return np.zeros(len(rows), np.float32)
    scores: Scores = np.multiply(
        temporal(evidence, rows), noun_phrase(evidence, rows), dtype=np.float32
    )
    return scores


def _rarity(evidence: Evidence, kind: str, key: str) -> float:
    """Return how telling a fact is, in (0, 1]: ``1 / (1 + ln(frequency))``; 0 if nothing has it."""
    frequency = evidence.facts_in.document_frequency(kind, key)
    return 1 / (1 + float(np.log(frequency))) if frequency else 0.0


LOW_PRECISION = ("logic", "preference", "noun_phrase")
"""Signals whose sum source document 001 caps."""
WEIGHTS = {
    "quoted": 0.1,
    "logic": 0.0209,
    "preference": 0.0841,
    "name": 0.0452,
    "temporal_phrase": 0.1007,
}
"""What the profile adds to ``hybrid``. ``quoted`` speaks in less than one question of a hundred,
too few for a fit: it adds what a cosine three deviations above the mean does. The others are fitted
beside ``hybrid``; the rest ended without weight."""

STRUCTURE = Extension(
    NAME,
    signals={
        each.__name__: Signal(
            each, is_share=True, needs_structure=True, is_imprecise=each.__name__ in LOW_PRECISION
        )
        for each in (logic, preference, noun_phrase, quoted, name, temporal_phrase)
    },
    profiles={
        "structured": ProfileSettings(
            "hybrid",
            weights=WEIGHTS,
            capped=tuple(each for each in LOW_PRECISION if each in WEIGHTS),
            cap=0.25,
        )
    },
    facts=describe,
    version="facts-12",
)

"""Signals of source document 001 over noun phrases, names, relations, preferences and quotes.

Signals that miss right passages or match many wrong ones have low precision; their sum is capped
(``LOW_PRECISION``).
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
    """A parsed question as fact keys; empty unless it is English.

    ``phrases`` are the keys of each noun phrase, ``words`` stems of words of three letters or more
    except stop words, ``relations`` keys with ``ANY`` for the unknown part.
    """

    is_english: bool
    phrases: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    asks_preference: bool = False


def analyse(text: str, *, known_entities: Container[str] = ()) -> Analysis:
    """Return the analysis of a question; ``known_entities`` are keys from ``name_key``."""
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
    """Return the relation keys of a question: "what does Anna play" has any object."""
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
    if not keys and words and words[0].key == "who":  # "who plays the violin" has any subject
        verb_place = find_verb(words, 1)
        if verb_place is not None and (found := find_object(words, verb_place + 1)):
            keys.append(relation_keys(Relation("", lemma(words[verb_place].key), found))[2])
    return tuple(dict.fromkeys(keys))


RELATION, OPEN, ENTITY = 1.0, 0.6, 0.3
"""Weights of a whole relation, a relation with ``ANY``, and an entity (chosen, not tuned)."""
OF_HOLDER, OF_ANYBODY, SOME = 1.0, 0.7, 0.3
"""Scores of a passage for the asked holder's preference for an asked subject, anybody's preference
for it, and any preference of the asked holder (chosen, not tuned)."""
_WRITER = "i"
_QUOTED_AS = (Kind.QUOTE, Kind.PHRASE, Kind.ENTITY, Kind.LINK, Kind.TAG)
ALL_WORDS = 0.6
"""Score of a passage with all words of a quote of two or more, perhaps not adjacent (chosen)."""
_NAMED_AS = (Kind.ENTITY, Kind.LINK, Kind.TAG)
WORDS_ALONE = 0.8
"""Score of a passage with all words of a name but no such entity, as when in lower case."""
PARTIAL = (1.0, 0.7, 0.4)
"""Scores of a passage for a whole noun phrase, its last two words, and its head alone."""


@lru_cache(maxsize=1)
def _read(question: AskedWords, facts: PostingLookup) -> Analysis:
    read = partial(analyse, question.text, known_entities=_KnownEntities(facts))
    return ASKED.read("grammar", read, Analysis(is_english=False))


def _analysis(evidence: Evidence) -> Analysis:
    return _read(evidence.question, evidence.facts_in)


def logic(evidence: Evidence, rows: Places) -> Scores:
    """Return the weighted share of the question's relations and names, in [0, 1]; low precision."""
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
    """Return the preference score in [0, 1]; 0 unless the question asks for a preference."""
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
    """Return the share of the question's noun phrases in each candidate, weighted by rarity.

    In [0, 1]. Source document 001 compares phrase embeddings; this signal compares stems.
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
    """Return a mask: whether each candidate has a fact with a key, of any of ``kinds``."""
    having = [evidence.facts_in.rows(kind, key) for kind in kinds]
    return evidence.mark(np.concatenate(having), rows)


def _holds_all(evidence: Evidence, rows: Places, words: Collection[str]) -> NDArray[np.bool_]:
    """Return a mask: whether each candidate has all of the stems; all false without stems."""
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
    """Return the temporal signal times the noun phrase signal, to rank notes of the same day."""
    if not (evidence.question.times and _analysis(evidence).phrases):
        return np.zeros(len(rows), np.float32)
    return np.multiply(temporal(evidence, rows), noun_phrase(evidence, rows), dtype=np.float32)


def _rarity(evidence: Evidence, kind: str, key: str) -> float:
    """Return the rarity of a fact, ``1 / (1 + ln(document frequency))`` in (0, 1]; 0 if absent."""
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
"""Weights added to ``hybrid``. ``quoted`` applies to under 1 % of questions, too few to fit: its
weight equals that of a cosine three deviations above the mean. The others are fitted together with
``hybrid``; signals not listed were fitted to no weight."""

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

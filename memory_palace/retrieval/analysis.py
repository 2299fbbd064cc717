"""What a question asks for, as far as that needs grammar: read for signals of structure alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Sequence
from dataclasses import dataclass

from memory_palace.facts.fact import FactKind
from memory_palace.facts.keys import relation_keys, text_key
from memory_palace.fence import ASKED
from memory_palace.index.postings import PostingLookup
from memory_palace.language.detect import is_english
from memory_palace.language.names import Name, find_names
from memory_palace.language.phrases import find_phrases, phrase_keys
from memory_palace.language.quotes import find_quotes
from memory_palace.language.relations import Relation, find_object, find_verb, lemma
from memory_palace.language.tagged_words import Word, split_words
from memory_palace.language.themes import find_themes
from memory_palace.language.time.weekdays import find_weekdays
from memory_palace.language.tokens import stem_word
from memory_palace.language.vocabulary import word_set
from memory_palace.language.word_lists import STOPWORDS

_PREFERENCE = re.compile(
    r"\b(?:recommend\w*|suggest\w*|prefer\w*|favou?rite|like|likes|liked|love|loves|enjoy\w*|hate|"
    r"hates|dislike\w*|advice|tips?|ideas?|should i|interested|interests?|hobb(?:y|ies)|want|wants|"
    r"plan|plans|planning|goals?|dreams?|wish|wishes)\b",
    re.I,
)
_LIKENESS = re.compile(
    r"\b(?:look|looks|looked|feel|feels|sound|sounds|be|is|was|seem\w*) like\b", re.I
)
_QUESTION_WORDS = word_set("what who where when why how which did does do is was were are")
_THEME = re.compile(r"\b(?:memories|remember(?:ing)? (?:fondly|the old|from)|looking back)\b", re.I)
_ORDER = re.compile(
    r"\b(?:first|last|before|after|earlier|earliest|later|latest|sooner|order|sequence|since)\b",
    re.I,
)
_SHORTEST_WORD = 3


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question after reading. Everything that needs grammar is empty unless it is English."""

    is_english: bool
    phrases: tuple[tuple[str, ...], ...] = ()
    """Keys of each noun phrase: the whole, its last two words, its head."""
    names: tuple[str, ...] = ()
    """Keys of entities, as passages keep them."""
    words: tuple[str, ...] = ()
    """Distinct stemmed words of three letters or more that are no stop words."""
    weekdays: tuple[int, ...] = ()
    """0 is Monday."""
    quotes: tuple[str, ...] = ()
    """Keys of quoted phrases."""
    relations: tuple[str, ...] = ()
    """Keys of relations, the unknown part left open."""
    themes: tuple[str, ...] = ()
    asks_preference: bool = False
    """Whether it asks what somebody likes, wants or plans, or for advice."""
    asks_order: bool = False
    """Whether it asks what came before what."""


def analyse(text: str, *, known_entities: Container[str] = ()) -> Analysis:
    """Read a question. Quotes are found in every language, the rest in English only.

    ``known_entities`` holds keys as ``language.names.name_key`` makes them; a set, for each run
    of words is looked up in it.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    quotes = tuple(key for quote in find_quotes(text) if (key := text_key(quote)))
    if not is_english(text):
        return Analysis(is_english=False, quotes=quotes)
    words = split_words(text)
    names = ASKED.read("names", lambda: find_names(words, known_entities), ())
    return Analysis(
        is_english=True,
        phrases=tuple(dict.fromkeys(phrase_keys(p) for p in find_phrases(words))),
        names=tuple(dict.fromkeys(" ".join(word.key for word in name) for name in names)),
        words=_content_words(words),
        weekdays=ASKED.read("weekdays", lambda: find_weekdays(text), ()),
        quotes=quotes,
        relations=ASKED.read("relations", lambda: _relations(words, names), ()),
        themes=ASKED.read("themes", lambda: _themes(text), ()),
        asks_preference=bool(_PREFERENCE.search(_LIKENESS.sub(" ", text))),
        asks_order=bool(_ORDER.search(text)),
    )


class KnownEntities:
    """Keys of entities that some passage names."""

    def __init__(self, facts: PostingLookup) -> None:
        self._facts = facts

    def __contains__(self, entity: object) -> bool:
        return self._facts.is_held(FactKind.ENTITY, str(entity))


def _content_words(words: Sequence[Word]) -> tuple[str, ...]:
    keys = (w.key for w in words if len(w.key) >= _SHORTEST_WORD and w.key not in STOPWORDS)
    return tuple(dict.fromkeys(stem_word(key) for key in keys if "'" not in key))


def _themes(text: str) -> tuple[str, ...]:
    themes = find_themes(text)
    if not themes and _THEME.search(text):
        return ("nostalgia",)
    return themes


def _relations(words: Sequence[Word], names: Sequence[Name]) -> tuple[str, ...]:
    """Return what is asked of each subject: "what does Anna play" leaves the object open."""
    people = {word.key for name in names for word in name} | {"i", "we"}
    is_open = any(word.key in _QUESTION_WORDS for word in words)
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
    if not keys and is_open and words and words[0].key == "who":
        keys += _asked_subject(words)
    return tuple(dict.fromkeys(keys))


def _asked_subject(words: Sequence[Word]) -> list[str]:
    """Return the relation of "who plays the violin", its subject left open."""
    verb_place = find_verb(words, 1)
    found = find_object(words, verb_place + 1) if verb_place is not None else ""
    if verb_place is None or not found:
        return []
    verb = lemma(words[verb_place].key)
    return [relation_keys(Relation("", verb, found))[2]]

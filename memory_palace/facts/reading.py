"""Names, phrases and relations of a passage: by patterns, or by spaCy where the settings say so.

Keys are made as the patterns make them, because questions are always read by patterns: loading a
pipeline takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from memory_palace.errors import MissingPartError
from memory_palace.index.recipes import PATTERNS, need_pipeline
from memory_palace.language.names import Name, find_known, find_names
from memory_palace.language.phrases import find_phrases
from memory_palace.language.relations import FIRST_PERSON, Relation, find_relations, lemma
from memory_palace.language.tagged_words import END, Part, Word, split_words
from memory_palace.language.tokens import stem_word

_NO_NAMES = frozenset(("DATE", "TIME", "CARDINAL", "ORDINAL", "PERCENT", "MONEY", "QUANTITY"))
_SUBJECTS = frozenset(("nsubj",))
_OBJECTS = frozenset(("dobj", "obj", "attr"))
_LEFT_OUT = frozenset((Part.FUNCTION, Part.DETERMINER, Part.NUMBER, Part.BREAK))
_LONGEST = 4


class Utterance(NamedTuple):
    """A part of a passage, and who says it."""

    who: str
    text: str
    words: list[Word]


class Reading(NamedTuple):
    """What was found in the parts of a passage, in order."""

    names: Sequence[Name]
    phrases: Sequence[tuple[Word, ...]]
    """The last word of each is its head."""
    relations: Sequence[Relation]


Reader: TypeAlias = Callable[[Sequence[Utterance], Collection[str]], Reading]
"""Reads the parts of a passage, given the keys of names that are known."""


def read_by_patterns(said: Sequence[Utterance], known: Collection[str]) -> Reading:
    """Read a passage without any model."""
    words = [word for part in said for word in (*part.words, END)]
    names = find_names(words, known)
    people = frozenset(word.key for name in names for word in name)
    relations = [
        relation
        for part in said
        for relation in find_relations(part.words, people, writer=part.who)
    ]
    return Reading(names, find_phrases(words), relations)


def choose_reader(structure: str) -> Reader:
    """Return the reader that the setting names: patterns, or spaCy.

    Raise ``MissingPartError`` where spaCy or its pipeline is not here, or does not load.
    """
    return read_by_patterns if structure == PATTERNS else _load(need_pipeline())


@cache
def _load(pipeline: str) -> Reader:
    spacy = import_module("spacy")
    try:
        nlp = spacy.load(pipeline)
    except (OSError, ValueError) as error:
        raise MissingPartError(
            f"the spaCy pipeline {pipeline} is installed and cannot be loaded: {error}; install "
            "it again, or take `structure: spacy` out of the settings"
        ) from error

    def read(said: Sequence[Utterance], known: Collection[str]) -> Reading:
        return read_documents(said, list(nlp.pipe(part.text for part in said)), known)

    return read


def read_documents(
    said: Sequence[Utterance], docs: Sequence[Any], known: Collection[str]
) -> Reading:
    """Turn what spaCy found in each part (a parsed ``Doc``) into a reading."""
    names: list[Name] = []
    phrases: list[tuple[Word, ...]] = []
    relations: list[Relation] = []
    for part, doc in zip(said, docs, strict=True):
        names += [words for entity in doc.ents if (words := _name(entity))]
        names += find_known(part.words, known)
        phrases += [words for chunk in doc.noun_chunks if (words := _phrase(chunk))]
        relations += _relations(doc, part.who)
    return Reading(list(dict.fromkeys(names)), phrases, relations)


def _name(entity: Any) -> Name:
    if entity.label_ in _NO_NAMES:
        return ()
    words = [word for word in split_words(str(entity.text)) if word.key]
    while words and words[0].part == Part.DETERMINER:
        words.pop(0)
    return tuple(words)


def _phrase(chunk: Any) -> tuple[Word, ...]:
    """Return the words of a noun chunk up to its head, articles and numbers left out."""
    end = int(chunk.root.i) - int(chunk.start) + 1
    words = split_words(str(chunk[:end].text))
    kept = [word for word in words if word.part not in _LEFT_OUT]
    return tuple(kept[-_LONGEST:]) if kept and words and kept[-1] is words[-1] else ()


def _relations(doc: Any, who: str) -> Iterator[Relation]:
    for token in doc:
        if token.dep_ not in _SUBJECTS or token.head.pos_ not in ("VERB", "AUX"):
            continue
        subject = str(token.text).casefold()
        found = _object(token.head)
        if found and (subject in FIRST_PERSON or token.pos_ in ("PROPN", "NOUN")):
            name = who if subject in FIRST_PERSON else subject
            yield Relation(name, lemma(str(token.head.text).casefold()), found)


def _object(verb: Any) -> str:
    """Return the stem of the object of a verb, else of the first preposition behind it."""
    for child in verb.children:
        if child.dep_ in _OBJECTS and child.pos_ != "PRON":
            return stem_word(str(child.text).casefold())
    for child in verb.children:
        if child.dep_ == "prep":
            for inner in child.children:
                if inner.dep_ == "pobj" and inner.pos_ != "PRON":
                    return stem_word(str(inner.text).casefold())
    return ""

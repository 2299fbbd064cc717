"""Names, noun phrases and relations by spaCy, where it and an English pipeline are installed.

Keys are made as the patterns make them, because questions are always read by patterns: loading a
pipeline takes seconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from memory_palace.errors import MissingPartError
from memory_palace.facts.reading import Reader, Reading, Said, read_by_patterns
from memory_palace.index.recipes import english_pipeline
from memory_palace.language.names import Name, find_known
from memory_palace.language.relations import FIRST_PERSON, Relation, lemma
from memory_palace.language.stemming import stem_word
from memory_palace.language.words import Part, Word, split_words

_NO_NAMES = frozenset(("DATE", "TIME", "CARDINAL", "ORDINAL", "PERCENT", "MONEY", "QUANTITY"))
_SUBJECTS = frozenset(("nsubj",))
_OBJECTS = frozenset(("dobj", "obj", "attr"))
_LEFT_OUT = frozenset((Part.FUNCTION, Part.DETERMINER, Part.NUMBER, Part.BREAK))
_LONGEST = 4


def choose_reader() -> Reader:
    """Return the reader that ``recipes.facts_recipe`` names: spaCy if it is here, or patterns."""
    pipeline = english_pipeline()
    return read_by_patterns if pipeline is None else _load(pipeline)


@cache
def _load(pipeline: str) -> Reader:
    spacy = import_module("spacy")
    try:
        nlp = spacy.load(pipeline)
    except (OSError, ValueError) as error:
        raise MissingPartError(
            f"the spaCy pipeline {pipeline} is installed and cannot be loaded: {error}; install "
            f"it again, or run `pip uninstall {pipeline}` to use the built-in patterns"
        ) from error

    def read(said: Sequence[Said], known: Collection[str]) -> Reading:
        return read_documents(said, list(nlp.pipe(part.text for part in said)), known)

    return read


def read_documents(said: Sequence[Said], docs: Sequence[Any], known: Collection[str]) -> Reading:
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

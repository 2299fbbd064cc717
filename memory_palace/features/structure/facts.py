"""Facts of a passage, and the keys under which they are kept and asked for."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from memory_palace.config import Config
from memory_palace.facts.fact import Fact
from memory_palace.features.structure.grammar import (
    Relation,
    find_phrases,
    find_preferences,
    find_relations,
    phrase_keys,
)
from memory_palace.index.values import Derived
from memory_palace.language.sentences import split_speakers
from memory_palace.language.tagged_words import END, Part, Word, find_names, name_key, split_words
from memory_palace.language.words import is_english, stem_word
from memory_palace.markdown.prose import strip_markup
from memory_palace.notes.note import Chunk, Note, stem_of
from memory_palace.retrieval.quotes import find_quoted

ANY = "*"
"""Stands for the part of a relation or preference that is left open."""
_SHORTEST_PART = 3


class Utterance(NamedTuple):
    """A part of a passage, and who says it."""

    who: str
    text: str
    words: list[Word]


class Kind(StrEnum):
    """What a fact is about. The value is what postings are kept under."""

    ENTITY = "entity"
    PHRASE = "phrase"
    RELATION = "relation"
    PREFERENCE = "preference"
    QUOTE = "quote"
    TAG = "tag"
    LINK = "link"


def text_key(text: str) -> str:
    """Return the key of a phrase or quote: its words in NFKC, casefolded and stemmed."""
    words = split_words(text if text.isascii() else unicodedata.normalize("NFKC", text))
    return " ".join(stem_word(word.key) for word in words if word.key)


def relation_keys(relation: Relation) -> tuple[str, str, str]:
    """Return the key of a whole relation, then those with object and subject left open."""
    subject, verb, found = relation
    return f"{subject}|{verb}|{found}", f"{subject}|{verb}|{ANY}", f"{ANY}|{verb}|{found}"


def preference_key(holder: str, subject: str) -> str:
    """Return the key of a preference of somebody (or ``ANY``) for a stemmed phrase or ``ANY``."""
    return f"{holder}|{subject}"


def describe(note: Note, chunk: Chunk, config: Config) -> Derived:
    """Return the structure of a chunk."""
    links = (link for link in note.links if chunk.first_line <= link.line <= chunk.last_line)
    facts = extract_structure(
        chunk.text,
        title=note.title,
        headings=chunk.heading_path,
        tags=note.tags,
        links=[link.target for link in links if link.target],
        entities=note.entities,
    )
    return Derived(facts=tuple((fact.kind.value, fact.key) for fact in facts))


def extract_structure(
    text: str,
    *,
    title: str = "",
    headings: Sequence[str] = (),
    tags: Sequence[str] = (),
    links: Sequence[str] = (),
    entities: Sequence[str] = (),
) -> tuple[Fact, ...]:
    """Return the structure of one passage, each fact once, in order of appearance.

    ``tags`` and ``entities`` are those of its note, ``links`` the targets of its own wikilinks.
    What needs grammar is looked for in English only.
    """
    named = (tag.lstrip("#").replace("-", " ").replace("_", " ") for tag in tags)
    facts = [Fact(Kind.TAG, name_key(tag)) for tag in named]
    facts += [Fact(Kind.LINK, name_key(stem_of(target))) for target in links]
    facts += [Fact(Kind.ENTITY, name_key(entity)) for entity in entities]
    prose = strip_markup(text if text.isascii() else unicodedata.normalize("NFKC", text))
    facts += [Fact(Kind.QUOTE, text_key(quote)) for quote in find_quoted(prose)]
    said = [Utterance(who, part, split_words(part)) for who, part in split_speakers(prose)]
    keys = [word.key for part in said for word in part.words if word.key]
    if is_english(prose):
        known = {name_key(entity) for entity in entities}
        facts += _spoken(said, known, frozenset(keys))
        facts += _phrases(find_phrases(split_words(". ".join((title, *headings)))))
    return tuple(dict.fromkeys(fact for fact in facts if fact.key))


def _spoken(
    said: Sequence[Utterance], known: Collection[str], keys: frozenset[str]
) -> Iterator[Fact]:
    """Yield names, phrases, relations and preferences, given the keys of names that are known."""
    words = [word for part in said for word in (*part.words, END)]
    names = find_names(words, known)
    for name in names:
        yield Fact(Kind.ENTITY, " ".join(word.key for word in name))
        for word in name if len(name) > 1 else ():
            if word.is_capital and len(word.key) >= _SHORTEST_PART:
                yield Fact(Kind.ENTITY, word.key)
    yield from _phrases(find_phrases(words))
    people = frozenset(word.key for name in names for word in name)
    for part in said:
        for relation in find_relations(part.words, people, writer=part.who):
            yield from (Fact(Kind.RELATION, key) for key in relation_keys(relation))
    for part in said:
        for preference in find_preferences(part.text, writer=part.who, keys=keys):
            yield from _preference(*preference)


def _phrases(phrases: Iterable[tuple[Word, ...]]) -> Iterator[Fact]:
    for phrase in phrases:
        yield from (Fact(Kind.PHRASE, key) for key in phrase_keys(phrase))


def _preference(holder: str, wanted: str) -> Iterator[Fact]:
    """Yield nothing for "I like it": what is liked stands elsewhere."""
    words = split_words(wanted)
    subjects = {text_key(word.key) for word in words if word.part in (Part.NOUN, Part.VERB)}
    if not subjects:
        return
    yield Fact(Kind.PREFERENCE, preference_key(holder, ANY))
    for subject in sorted(subjects):
        yield Fact(Kind.PREFERENCE, preference_key(ANY, subject))
        yield Fact(Kind.PREFERENCE, preference_key(holder, subject))

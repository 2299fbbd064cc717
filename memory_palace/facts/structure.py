"""Structure of a passage, after source document 001: names, phrases, relations, wishes, themes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import repeat

from memory_palace.config import Config
from memory_palace.facts.enrich import enrich_passage
from memory_palace.facts.fact import Fact, FactKind
from memory_palace.facts.keys import (
    ANY,
    link_key,
    preference_key,
    relation_keys,
    tag_key,
    text_key,
)
from memory_palace.facts.reading import Reader, Reading, Utterance, choose_reader, read_by_patterns
from memory_palace.fence import Fence
from memory_palace.index.values import Derived
from memory_palace.language.detect import is_english
from memory_palace.language.names import name_key, name_text
from memory_palace.language.phrases import find_phrases, phrase_keys, phrase_text
from memory_palace.language.preferences import Preference, find_preferences
from memory_palace.language.quotes import find_quotes
from memory_palace.language.sentences import split_speakers
from memory_palace.language.tagged_words import Part, Word, split_words
from memory_palace.language.themes import find_themes
from memory_palace.language.time.weekdays import WEEKDAYS, find_weekdays
from memory_palace.language.tokens import Languages, tokenize
from memory_palace.markdown.prose import strip_markup
from memory_palace.notes.note import Chunk, Note

_SHORTEST_PART = 3
_DESCRIBING = frozenset(
    {FactKind.ENTITY, FactKind.PHRASE, FactKind.PREFERENCE, FactKind.TAG, FactKind.LINK}
)


def describe_chunks(note: Note, config: Config, fence: Fence) -> list[Derived]:
    """Return for each chunk of a note its structure, and the words that describe it."""
    read = choose_reader(config.structure)
    reads = [partial(_describe, note, chunk, read, config.languages) for chunk in note.chunks]
    lines = [chunk.first_line for chunk in note.chunks]
    return [fence.read("structure", *each) for each in zip(reads, repeat(Derived()), lines)]


def _describe(note: Note, chunk: Chunk, read: Reader, languages: Languages) -> Derived:
    links = (link for link in note.links if chunk.first_line <= link.line <= chunk.last_line)
    facts = extract_structure(
        chunk.text,
        title=note.title,
        headings=chunk.heading_path,
        tags=note.tags,
        links=[link.target for link in links if link.target],
        entities=note.entities,
        read=read,
    )
    return Derived(
        extras=tuple(_extras(note, chunk, facts, languages)),
        facts=tuple((fact.kind.value, fact.key) for fact in facts),
        description=enrich_passage(facts),
    )


def _extras(note: Note, chunk: Chunk, facts: Sequence[Fact], languages: Languages) -> Iterator[str]:
    """Yield the tokens of what names or describes the chunk, itself left out."""
    for text in (note.title, *note.aliases, *chunk.heading_path):
        yield from tokenize(text, languages=languages)
    for fact in facts:
        if fact.kind in _DESCRIBING and fact.display:
            yield from tokenize(fact.display, languages=languages)


def extract_structure(
    text: str,
    *,
    title: str = "",
    headings: Sequence[str] = (),
    tags: Sequence[str] = (),
    links: Sequence[str] = (),
    entities: Sequence[str] = (),
    read: Reader = read_by_patterns,
) -> tuple[Fact, ...]:
    """Return the structure of one passage, each kind and key once, in order of appearance.

    ``tags`` and ``entities`` are those of its note, ``links`` the targets of its own wikilinks.
    What needs grammar is looked for in English only; ``read`` finds names, phrases and relations.
    """
    facts = [*_stated(tags, links, entities)]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    prose = strip_markup(text)
    facts += [Fact(FactKind.QUOTE, text_key(quote), quote) for quote in find_quotes(prose)]
    said = [Utterance(who, part, split_words(part)) for who, part in split_speakers(prose)]
    keys = [word.key for part in said for word in part.words if word.key]
    if is_english(prose, keys):
        known = {name_key(entity) for entity in entities}
        facts += _spoken(read(said, known), said, frozenset(keys))
        facts += _phrases(find_phrases(split_words(". ".join((title, *headings)))))
    distinct = {fact[:2]: fact for fact in reversed(facts) if fact.key}
    return tuple(reversed(distinct.values()))


def _stated(tags: Sequence[str], links: Sequence[str], entities: Sequence[str]) -> Iterator[Fact]:
    for tag in tags:
        yield Fact(FactKind.TAG, tag_key(tag), tag)
    for target in links:
        yield Fact(FactKind.LINK, link_key(target), target)
    for entity in entities:
        yield Fact(FactKind.ENTITY, name_key(entity), entity)


def _spoken(reading: Reading, said: Sequence[Utterance], keys: frozenset[str]) -> list[Fact]:
    facts = [*_entities(reading.names), *_phrases(reading.phrases)]
    for relation in reading.relations:
        whole, *partial = relation_keys(relation)
        facts.append(Fact(FactKind.RELATION, whole, " ".join(relation)))
        facts += [Fact(FactKind.RELATION, key, "") for key in partial]
    for part in said:
        for preference in find_preferences(part.text, writer=part.who, keys=keys):
            facts += _preference(preference)
        if not keys.isdisjoint(WEEKDAYS):
            facts += [Fact(FactKind.WEEKDAY, str(day), "") for day in find_weekdays(part.text)]
        facts += [Fact(FactKind.THEME, theme, theme) for theme in find_themes(part.text, keys)]
    return facts


def _entities(names: Sequence[Sequence[Word]]) -> Iterator[Fact]:
    for name in names:
        yield Fact(FactKind.ENTITY, " ".join(word.key for word in name), name_text(name))
        if len(name) > 1:
            for word in name:
                if word.is_capital and len(word.key) >= _SHORTEST_PART:
                    yield Fact(FactKind.ENTITY, word.key, "")


def _phrases(phrases: Sequence[tuple[Word, ...]]) -> list[Fact]:
    return [fact for phrase in phrases for fact in _phrase(phrase)]


@lru_cache(maxsize=1 << 14)
def _phrase(phrase: tuple[Word, ...]) -> tuple[Fact, ...]:
    whole, *parts = phrase_keys(phrase)
    shown = Fact(FactKind.PHRASE, whole, phrase_text(phrase))
    return (shown, *(Fact(FactKind.PHRASE, key, "") for key in parts))


def _preference(preference: Preference) -> Iterator[Fact]:
    """Yield nothing for "I like it": what is liked stands elsewhere."""
    words = split_words(preference.object)
    subjects = {text_key(word.key) for word in words if word.part in (Part.NOUN, Part.VERB)}
    if not subjects:
        return
    display = f"{preference.polarity} {preference.object}"
    yield Fact(FactKind.PREFERENCE, preference_key(preference.holder, ANY), display)
    for subject in sorted(subjects):
        yield Fact(FactKind.PREFERENCE, preference_key(ANY, subject), "")
        yield Fact(FactKind.PREFERENCE, preference_key(preference.holder, subject), "")

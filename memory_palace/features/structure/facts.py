"""Extract facts from passages with small grammars; facts are indexed and looked up by keys.

A noun phrase is a run of modifiers and nouns that ends in a noun, its head. Function words, verbs
and punctuation end a phrase. A word that can be verb or noun ("plan") is a noun after a determiner
or an adjective, and otherwise a verb.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from memory_palace.config import Config
from memory_palace.facts import Fact
from memory_palace.index.values import Derived
from memory_palace.language.sentences import split_speakers
from memory_palace.language.tagged_words import END, Part, Word, find_names, name_key, split_words
from memory_palace.language.words import AUXILIARIES, WORDS, is_english, read_table, stem_word
from memory_palace.markdown.markup import strip_markup
from memory_palace.notes.note import Chunk, Note, stem_of
from memory_palace.retrieval.quotes import find_quoted

ANY = "*"
"""Wildcard in the key of a relation or preference."""
_SHORTEST_PART = 3


class Utterance(NamedTuple):
    """A part of a passage with its speaker."""

    who: str
    text: str
    words: list[Word]


class Kind(StrEnum):
    """Kind of a fact; its value is part of the posting's key."""

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
    """Return the keys of a relation: whole, with any object, and with any subject."""
    subject, verb, found = relation
    return f"{subject}|{verb}|{found}", f"{subject}|{verb}|{ANY}", f"{ANY}|{verb}|{found}"


def preference_key(holder: str, subject: str) -> str:
    """Return the key of a holder's preference for a stemmed subject; either may be ``ANY``."""
    return f"{holder}|{subject}"


def describe(note: Note, chunk: Chunk, config: Config) -> Derived:
    """Return the facts of a chunk for the index."""
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
    """Return the distinct facts of one passage: tags, links, entities, quotes, then grammar.

    ``tags`` and ``entities`` are those of the note, ``links`` the targets of the passage's
    wikilinks. Facts that need grammar are extracted from English only.
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
    """Yield the facts that need grammar; ``known`` are keys of entities, ``keys`` of all words."""
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
    """Yield the facts of a preference; none without a noun or verb, as in "I like it"."""
    words = split_words(wanted)
    subjects = {text_key(word.key) for word in words if word.part in (Part.NOUN, Part.VERB)}
    if not subjects:
        return
    yield Fact(Kind.PREFERENCE, preference_key(holder, ANY))
    for subject in sorted(subjects):
        yield Fact(Kind.PREFERENCE, preference_key(ANY, subject))
        yield Fact(Kind.PREFERENCE, preference_key(holder, subject))


_LONGEST = 4
_OPENERS = frozenset({Part.DETERMINER, Part.ADJECTIVE, Part.NUMBER, Part.POSSESSIVE})
_NOMINAL = frozenset({Part.NOUN, Part.ADJECTIVE})
_MODIFIERS = frozenset({Part.ADJECTIVE, Part.PARTICIPLE})
_OPEN_CLASS = frozenset({Part.NOUN, Part.VERB, Part.PARTICIPLE})
_SUBJECTS = WORDS["before a verb"]
"""Words after which a word is a verb, whatever its listed part of speech."""
_OBJECT_PRONOUNS = frozenset("it them him us me this that these those all how what".split())
_SHORTEST_HEAD = 3
_FIRST_PERSON = WORDS["first person"]
_SKIPPED = WORDS["between subject and verb"]
_PREPOSITIONS = WORDS["prepositions"]
_AMBIGUOUS = {"saw": "see", "left": "leave", "rose": "rise", "bit": "bite", "led": "lead"}
"""Irregular verb forms that ``stem_word`` does not stem, for words after a subject."""
_MOST_BETWEEN = 3


def find_phrases(words: Sequence[Word]) -> list[tuple[Word, ...]]:
    """Return the noun phrases in order, each of at most four words with the head last."""
    return [phrase for run in _runs(words) if (phrase := _trim(run))]


@lru_cache(maxsize=1 << 14)
def phrase_keys(phrase: tuple[Word, ...]) -> tuple[str, ...]:
    """Return the stemmed keys of a phrase: all words, the last two, and the head unless vague."""
    stems = [stem_word(word.key) for word in phrase]
    keys = [" ".join(stems[start:]) for start in (0, -2, -1)]
    if phrase[-1].key in WORDS["vague"]:
        keys.pop()
    return tuple(dict.fromkeys(keys))


def _runs(words: Sequence[Word]) -> Iterator[list[Word]]:
    run: list[Word] = []
    before, previous = Part.BREAK, ""
    for place, word in enumerate(words):
        part = word.part
        if part in _OPEN_CLASS:
            part = _part_after(before, previous, word)
            if previous == "to" and part == Part.NOUN and _is_followed(words, place + 1):
                part = Part.VERB
        is_nominal = part in _NOMINAL
        if is_nominal:
            run.append(word)
        if run and (not is_nominal or word.is_possessive):
            yield run
            run = []
        before = Part.POSSESSIVE if word.is_possessive else part
        previous = word.key
    if run:
        yield run


def _part_after(before: int, previous: str, word: Word) -> int:
    part = word.part
    if part == Part.NOUN:
        is_verb = previous in _SUBJECTS or (word.key.endswith("ing") and previous in AUXILIARIES)
        return Part.VERB if is_verb and not word.is_capital else part
    if before in _OPENERS:
        if part == Part.PARTICIPLE:
            return Part.ADJECTIVE
        if part == Part.VERB:
            return Part.ADJECTIVE if word.key.endswith("ed") else Part.NOUN
    return part


def _is_followed(words: Sequence[Word], place: int) -> bool:
    """Return whether an object (determiner or pronoun) begins at ``place``."""
    return place < len(words) and (
        words[place].part == Part.DETERMINER or words[place].key in _OBJECT_PRONOUNS
    )


def _trim(run: list[Word]) -> tuple[Word, ...]:
    end = len(run)
    while end and run[end - 1].part in _MODIFIERS:
        end -= 1
    phrase = run[max(0, end - _LONGEST) : end]
    is_vague = len(phrase) == 1 and phrase[0].key in WORDS["vague"]
    return () if not phrase or is_vague or len(phrase[-1].key) < _SHORTEST_HEAD else tuple(phrase)


class Relation(NamedTuple):
    """Subject (``i`` for the writer), verb and object, stemmed except for the subject."""

    subject: str
    verb: str
    object: str


def lemma(verb: str) -> str:
    """Return the stem shared by a verb's forms."""
    return stem_word(_AMBIGUOUS.get(verb, verb))


def find_relations(
    words: Sequence[Word], names: Collection[str], *, writer: str = "i"
) -> Iterator[Relation]:
    """Yield relations whose subject is a first person (``writer``), in ``names``, or capitalised.

    At most three auxiliaries or adverbs separate subject and verb; the object is the head of the
    noun phrase after the verb, behind at most two prepositions.
    """
    for place, word in enumerate(words):
        if word.key in _FIRST_PERSON:
            subject = writer
        elif word.key in names or (word.is_capital and word.part == Part.NOUN):
            subject = word.key
        else:
            continue
        verb_place = None if word.is_possessive else find_verb(words, place + 1)
        if verb_place is not None and (found := find_object(words, verb_place + 1)):
            yield Relation(subject, lemma(words[verb_place].key), found)


def find_verb(words: Sequence[Word], start: int) -> int | None:
    """Return the position of the verb whose subject ends before ``start``, or ``None``."""
    for place in range(start, min(start + _MOST_BETWEEN + 1, len(words))):
        word = words[place]
        is_progressive = word.key.endswith("ing") and words[place - 1].key in AUXILIARIES
        if word.part in (Part.VERB, Part.PARTICIPLE) or is_progressive:
            return place
        if word.key not in _SKIPPED and not word.key.endswith("ly"):
            return None
    return None


def find_object(words: Sequence[Word], start: int) -> str:
    """Return the stemmed head of the noun phrase at ``start``, or an empty string."""
    place = start
    while place < len(words) and words[place].key in _PREPOSITIONS and place < start + 2:
        place += 1
    head, is_opened = "", False
    for word in words[place : place + _LONGEST + 1]:
        if word.part in _OPENERS and not head:
            is_opened = True
        elif word.part == Part.NOUN or (word.part == Part.VERB and is_opened and not head):
            head = word.key
        else:
            break
    return "" if head in WORDS["vague"] else stem_word(head)


_VERBS = read_table("preferences.txt")
_WISHED = r"\s+(?P<object>[^.,;:!?()\n—–\"“”]{3,80})"
_HOLDER = r"(?P<subject>\b[Ii]|\b[Ww]e|\b[A-Z][a-z]+(?: [A-Z][a-z]+)?)"
_KINDS = ("dislike", "want", "plan", "like")
_WISHES = "|".join(_VERBS[kind] for kind in _KINDS)
_STATEMENT = re.compile(rf"{_HOLDER}(?=['’ ])\s*{_VERBS['adverb']}(?:{_WISHES}){_WISHED}")
_FAVOURITE = re.compile(
    r"\b(?P<owner>[Mm]y|[Oo]ur|[A-Z][a-z]+'s) (?:all[- ]time )?"
    r"(?P<what>favou?rite(?: [\w-]+){0,3}?)"
    r" (?:is|are|was|were|has to be|would be)(?: (?:definitely|probably))?"
    r"\s+(?P<object>[^.,;:!?()\n\"“”]{3,60})"
)
_HINTS = WORDS["words of preference"]
"""Words of which every statement of a preference has one."""
_STOP = re.compile(
    r"\s(?:because|since|when|while|but|so|and (?:i|he|she|they|it|we)|which|that|as|if|although|"
    r"though|until|before|after)\s.*$",
    re.I,
)
_LEADS = re.compile(r"^(?:(?:to|the|a|an|my|our|some|that|how|it when|when|of|about)\s+)++", re.I)
_NOT_SUBJECTS = WORDS["no holders of preferences"]


def find_preferences(text: str, *, writer: str, keys: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of holder (``writer`` for "I") and liked, disliked, wanted or planned text.

    ``keys`` are the casefolded words of the text.
    """
    if _HINTS.isdisjoint(keys):
        return
    text = text.replace("’", "'")
    for match in _STATEMENT.finditer(text):
        subject = match["subject"].casefold()
        if subject in _NOT_SUBJECTS:
            continue
        holder = writer if subject in ("i", "we") else subject
        if wanted := _clause(match["object"]):
            yield holder, wanted
    for match in _FAVOURITE.finditer(text):
        owner = match["owner"].casefold()
        is_first = owner in ("my", "our")
        holder = writer if is_first else owner.removesuffix("'s")
        subject = match["what"].partition(" ")[2]
        yield holder, f"{_clause(match['object'])} {subject}".strip()


def _clause(text: str) -> str:
    return _LEADS.sub("", _STOP.sub("", text)).strip()

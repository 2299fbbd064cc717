"""Who does what: subject, verb, object, by pattern."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from memory_palace.language.tagged_words import Part, Word
from memory_palace.language.tokens import stem_word
from memory_palace.language.vocabulary import AUXILIARIES, VAGUE, WORDS

FIRST_PERSON = WORDS["first person"]
_SKIPPED = WORDS["between subject and verb"]
_PREPOSITIONS = WORDS["prepositions"]
_AMBIGUOUS = {"saw": "see", "left": "leave", "rose": "rise", "bit": "bite", "led": "lead"}
"""Forms of irregular verbs that ``stem_word`` leaves alone: behind a subject they are verbs."""
_OPENERS = frozenset({Part.DETERMINER, Part.ADJECTIVE, Part.NUMBER})
_LONGEST_OBJECT = 4
_MOST_BETWEEN = 3


class Relation(NamedTuple):
    """Subject (``i`` for the writer), verb and object as they are compared."""

    subject: str
    verb: str
    object: str


def lemma(verb: str) -> str:
    """Return a form that all forms of a verb share."""
    return stem_word(_AMBIGUOUS.get(verb, verb))


def find_relations(
    words: Sequence[Word], names: Collection[str], *, writer: str = "i"
) -> Iterator[Relation]:
    """Yield the relations whose subject is ``writer`` ("I"), one of ``names``, or capitalised.

    ``names`` holds keys of words. A capital at the start of a sentence is enough here: whoever
    asks for "Anna" and "buy" is answered by "Anna bought", and no name is made of it.

    The verb follows within three words, auxiliaries and adverbs aside; the object is the head of
    the noun phrase behind it, at most one preposition away. Either may be missing in speech, and
    then there is no relation.
    """
    for place, word in enumerate(words):
        if word.key in FIRST_PERSON:
            subject = writer
        elif word.key in names or (word.is_capital and word.part == Part.NOUN):
            subject = word.key
        else:
            continue
        verb_place = None if word.is_possessive else find_verb(words, place + 1)
        if verb_place is not None and (found := find_object(words, verb_place + 1)):
            yield Relation(subject, lemma(words[verb_place].key), found)


def find_verb(words: Sequence[Word], start: int) -> int | None:
    """Return where the verb of a clause is whose subject ends before ``start``."""
    for place in range(start, min(start + _MOST_BETWEEN + 1, len(words))):
        word = words[place]
        if word.part in (Part.VERB, Part.PARTICIPLE) or _is_progressive(words, place):
            return place
        if word.key not in _SKIPPED and not word.key.endswith("ly"):
            return None
    return None


def find_object(words: Sequence[Word], start: int) -> str:
    """Return the stemmed head of the noun phrase that begins at ``start``, or nothing."""
    place = start
    while place < len(words) and words[place].key in _PREPOSITIONS and place < start + 2:
        place += 1
    head, is_opened = "", False
    for word in words[place : place + _LONGEST_OBJECT + 1]:
        if word.part in _OPENERS and not head:
            is_opened = True
        elif word.part == Part.NOUN or (word.part == Part.VERB and is_opened and not head):
            head = word.key
        else:
            break
    return "" if head in VAGUE else stem_word(head)


def _is_progressive(words: Sequence[Word], place: int) -> bool:
    return place > 0 and words[place].key.endswith("ing") and words[place - 1].key in AUXILIARIES

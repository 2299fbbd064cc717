"""What grammar finds in a passage: names, noun phrases, relations; here by patterns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, TypeAlias

from memory_palace.language.names import Name, find_names
from memory_palace.language.phrases import find_phrases
from memory_palace.language.relations import Relation, find_relations
from memory_palace.language.words import END, Word


class Said(NamedTuple):
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


Reader: TypeAlias = Callable[[Sequence[Said], Collection[str]], Reading]
"""Reads the parts of a passage, given the keys of names that are known."""


def read_by_patterns(said: Sequence[Said], known: Collection[str]) -> Reading:
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

"""Keys under which facts are kept and asked for."""

from __future__ import annotations

import unicodedata

from memory_palace.language.names import name_key
from memory_palace.language.relations import Relation
from memory_palace.language.tagged_words import split_words
from memory_palace.language.tokens import stem_word
from memory_palace.notes.rooms import stem_of

ANY = "*"
"""Stands for the part of a relation or preference that is left open."""
_MARK = "|"


def text_key(text: str) -> str:
    """Return the key of a phrase or quote: its words in NFKC, casefolded and stemmed."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(stem_word(word.key) for word in split_words(text) if word.key)


def tag_key(tag: str) -> str:
    """Return the key of a tag: without ``#``, with hyphens and underscores as spaces."""
    return name_key(tag.lstrip("#").replace("-", " ").replace("_", " "))


def link_key(target: str) -> str:
    """Return the key of a link: the name of the note it leads to."""
    return name_key(stem_of(target))


def relation_keys(relation: Relation) -> tuple[str, str, str]:
    """Return the key of a whole relation, then those with object and subject left open."""
    subject, verb, found = relation
    return (
        _MARK.join(relation),
        _MARK.join((subject, verb, ANY)),
        _MARK.join((ANY, verb, found)),
    )


def preference_key(holder: str, subject: str) -> str:
    """Return the key of a preference of somebody (or ``ANY``) for a stemmed phrase or ``ANY``."""
    return f"{holder}{_MARK}{subject}"

"""A text as words with their part of speech, and the breaks between them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from memory_palace.language import word_lists


class Part:
    """What a word can be in a noun phrase, as plain numbers. Unlisted words are nouns."""

    BREAK: Final = 0
    FUNCTION: Final = 1
    DETERMINER: Final = 2
    VERB: Final = 3
    PARTICIPLE: Final = 4
    ADJECTIVE: Final = 5
    NUMBER: Final = 6
    NOUN: Final = 7
    POSSESSIVE: Final = 8


class Word(NamedTuple):
    """One word or one break. Equal spellings share one value."""

    written: str
    key: str
    """Casefolded, with straight apostrophes, without a possessive ending; empty for a break."""
    part: int
    """One of ``Part``."""
    is_capital: bool
    is_possessive: bool


END = Word("\n", "", Part.BREAK, False, False)
"""The break at the end of a paragraph."""
SENTENCE_ENDS = frozenset('.!?:…\n"“”|;—*•')
"""Breaks after which a capital letter says nothing."""

_BREAKS = r"[.!?:;,()\[\]{}\"“”«»…—–|<>=\\•]"
_TOKEN = re.compile(
    r"(?:Dr|Mrs?|Ms|Prof|St)\.(?=\s)|[^\W_](?:[\w'’]*[^\W_])?(?:[-.&+/@][^\W_](?:[\w'’]*[^\W_])?)*+"
    rf"|{_BREAKS}|\n(?=[^\S\n]*(?:[-*+>#|\n]|\d+[.)]\s))|(?<=\s)[-*/](?=\s)"
)
_MEMORY = 1 << 14


def split_words(text: str) -> list[Word]:
    """Return the words of a text and the breaks between them, in order.

    For grammar: a compound or a contraction is one word, and a possessive ending is a mark of it.
    A line feed is a break only where a paragraph, list item, quote, heading or table row ends.
    """
    return [_look_up(token) for token in _TOKEN.findall(text)]


@lru_cache(maxsize=_MEMORY)
def _look_up(token: str) -> Word:
    first = token[0]
    if not first.isalnum():
        return Word(token, "", Part.BREAK, False, False)
    key = token.casefold().replace("’", "'").rstrip(".")
    is_possessive = key.endswith(("'s", "s'")) and key not in word_lists.AUXILIARIES
    if key == "let's":
        is_possessive = False
    if is_possessive:
        key = key[:-2] if key.endswith("'s") else key[:-1]
    return Word(token, key, _part_of(key), first.isupper(), is_possessive)


def _part_of(key: str) -> int:
    if key[0].isdigit():
        return Part.NUMBER
    if key in word_lists.DETERMINERS:
        return Part.DETERMINER
    for words, part in _LISTS:
        if key in words:
            return part
    return _part_by_ending(key)


def _part_by_ending(key: str) -> int:
    if "'" in key:
        return Part.FUNCTION
    if key.endswith("ly") and len(key) > 4:
        return Part.FUNCTION
    if key.endswith("ed") and len(key) > 4 and not key.endswith("eed"):
        return Part.PARTICIPLE
    if key.endswith(("ful", "ous", "able", "ible", "less", "ish")) and len(key) > 6:
        return Part.ADJECTIVE
    return Part.NOUN


_LISTS = (
    (word_lists.ADVERBS_IN_OTHER_SHAPES, Part.FUNCTION),
    (word_lists.MODIFYING_PARTICIPLES, Part.PARTICIPLE),
    (word_lists.AUXILIARIES, Part.FUNCTION),
    (word_lists.ADJECTIVES, Part.ADJECTIVE),
    (word_lists.FUNCTION_WORDS, Part.FUNCTION),
    (word_lists.VERBS, Part.VERB),
    (word_lists.NOT_ADVERBS, Part.NOUN),
)
"""In the order of precedence."""

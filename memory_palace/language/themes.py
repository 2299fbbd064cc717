"""Themes that a text of any subject can have. One so far: looking back on one's life."""

from __future__ import annotations

import re
from collections.abc import Collection

from memory_palace.language.tagged_words import split_words
from memory_palace.language.vocabulary import WORDS
from memory_palace.language.word_lists import read_table

_NOSTALGIC = WORDS["nostalgia"]
"""Words that suffice by themselves."""

_PATTERNS = {
    word: re.compile(pattern)
    for words, pattern in read_table("themes.txt").items()
    for word in words.split()
}
"""What is looked for where a word occurs, for words that do not suffice."""


def find_themes(text: str, keys: Collection[str] | None = None) -> tuple[str, ...]:
    """Return the names of the themes that a text has.

    ``keys`` are its casefolded words, where they are known already.
    """
    if keys is None:
        keys = frozenset(word.key for word in split_words(text))
    if not _NOSTALGIC.isdisjoint(keys):
        return ("nostalgia",)
    patterns = [_PATTERNS[word] for word in _PATTERNS.keys() & keys]
    if patterns:
        lowered = text.casefold()
        if any(pattern.search(lowered) for pattern in patterns):
            return ("nostalgia",)
    return ()

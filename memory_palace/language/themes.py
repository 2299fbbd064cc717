"""Themes that a text of any subject can have. One so far: looking back on one's life."""

from __future__ import annotations

import re
from collections.abc import Collection

from memory_palace.language.tagged_words import split_words
from memory_palace.language.vocabulary import word_set

_WORDS = word_set(
    """nostalgia nostalgic nostalgically reminisce reminisces reminisced reminiscing reminiscent
    reminiscence childhood reunion"""
)
"""Words that suffice by themselves."""

_PATTERNS = {
    word: re.compile(pattern)
    for words, pattern in {
        "up": r"\b(?:growing|grew) up\b",
        "old": r"\bgood old days\b|\bold times?\b|\bmiss(?:ed)? the old\b",
        "back": r"\bback in the day\b|\bback then\b|\b(?:brings?|brought|takes? me|took me) back\b",
        "when": r"\bwhen (?:i|we) (?:was|were) (?:a |an |still )?(?:kids?|child|children|young\w*|"
        r"little|teen\w*|boys?|girls?|students?|small)\b",
        "as": r"\bas a (?:kid|child|teen\w*|boy|girl|student)\b",
        "my": r"\bin my (?:youth|teens|twenties|school days)\b",
        "school": r"\bhigh[- ]school (?:days|years|reunion|memories|friends?|sweetheart)\b|"
        r"\bschool days\b",
        "college university": r"\b(?:college|university) days\b",
        "memory memories": r"\b(?:old|precious|happy|cherished|early|earliest|favou?rite|special|"
        r"treasured|fond|fonder|fondest|childhood|good|best) memor(?:y|ies)\b|\bmemory lane\b|"
        r"\bmemories of\b",
        "used": r"\bused to (?:play|go|love|live|watch|spend|visit|make|sing|read|have|be)\b",
        "days": r"\bthose days\b|\bmiss(?:ed)? those\b",
        "first": r"\bfirst (?:love|crush|kiss)\b",
        "tradition": r"\bfamily tradition\b",
    }.items()
    for word in words.split()
}
"""What is looked for where a word occurs, for words that do not suffice."""


def find_themes(text: str, keys: Collection[str] | None = None) -> tuple[str, ...]:
    """Return the names of the themes that a text has.

    ``keys`` are its casefolded words, where they are known already.
    """
    if keys is None:
        keys = frozenset(word.key for word in split_words(text))
    if not _WORDS.isdisjoint(keys):
        return ("nostalgia",)
    patterns = [_PATTERNS[word] for word in _PATTERNS.keys() & keys]
    if patterns:
        lowered = text.casefold()
        if any(pattern.search(lowered) for pattern in patterns):
            return ("nostalgia",)
    return ()

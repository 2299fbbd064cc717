"""What a question names, as a text of its own: what the bridge compares with descriptions."""

from __future__ import annotations

from memory_palace.language.detect import is_english
from memory_palace.language.phrases import find_phrases, phrase_text
from memory_palace.language.words import split_words


def phrases_of(text: str) -> str:
    """Return the noun phrases of an English question, separated by commas; empty without any."""
    if not is_english(text):
        return ""
    return ", ".join(dict.fromkeys(map(phrase_text, find_phrases(split_words(text)))))

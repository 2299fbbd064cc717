"""Words that deny."""

from __future__ import annotations

from memory_palace.language.vocabulary import word_set

NEGATIONS = word_set("no not never none nobody without neither nor cannot hardly nowhere unable")
FOREIGN_NEGATIONS = word_set("nicht kein keine nie niemals ohne ne pas jamais sans nunca jamás sin")
"""German, French and Spanish ones. Apart, because "sin" and "pas" are words of English too."""


def is_negation(word: str) -> bool:
    """Say whether a word of ``plain_words`` denies in English."""
    return word in NEGATIONS or word.endswith("n't")

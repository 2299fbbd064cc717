"""English stems of single words, each distinct word stemmed once."""

from __future__ import annotations

from functools import lru_cache

from Stemmer import Stemmer

_STEMMER = Stemmer("english")
_SHORTEST = 4
"""Shorter words are left alone: "was" and "this" have no ending to lose."""


@lru_cache(maxsize=1 << 15)
def stem_word(word: str) -> str:
    """Return the English stem (Porter 2, through PyStemmer) of a casefolded word.

    Only words of ASCII letters are touched, so that other alphabets, identifiers and numbers
    stay as they are, whatever the language of the text around them.
    """
    if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()):
        return word
    stem: str = _STEMMER.stemWord(word)
    return stem

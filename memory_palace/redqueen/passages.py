"""Sentences of a memory, and the words in them that tell it from the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_palace.language.sentences import split_sentences
from memory_palace.language.tokens import tokenize
from memory_palace.language.vocabulary import VAGUE
from memory_palace.language.word_lists import STOPWORDS, bm25_idf

_CONTENT_WORD = re.compile(r"[^\W_]++(?:[.,'’\-][^\W_]++)*+")
"""Words as they are written: people read them in questions and anchors, where tokens are stems."""
NUMBER = re.compile(
    r"(?<![\w.,])[−+-]?\d++(?:[.,]\d++)*+(?:\s?(?:°C|%|€|hPa|(?:mm|cm|km|m|W|Ah|dB|kg|g|h|s)\b))?"
)
_SHORTEST_WORDS = 4
_LONGEST_WORDS = 60


@dataclass(frozen=True, slots=True)
class Rarity:
    """How many memories use each stem."""

    counts: Counter[str]
    size: int

    @classmethod
    def of(cls, texts: Iterable[str]) -> Rarity:
        """Count the stems of some texts."""
        sets = [set(tokenize(text)) for text in texts]
        return cls(Counter(stem for stems in sets for stem in stems), len(sets))

    def idf(self, word: str) -> float:
        """Return how telling a word is, by its rarest stem; 0 for one without stems."""
        stems = tokenize(word)
        if not stems:
            return 0.0
        df = min(self.counts[stem] for stem in stems)
        return bm25_idf(df, self.size)


def find_statements(text: str) -> list[str]:
    """Return what a prose text states, in order: sentences, cut at semicolons.

    Fragments and endless ones are left out: no question can be made from them.
    """
    found = []
    for sentence in split_sentences(text):
        for part in sentence.split("; "):
            tidy = part.strip(" |#>-*")
            words = content_words(tidy)
            is_unspaced = len(words) < _SHORTEST_WORDS and len(tokenize(tidy)) >= 12
            is_whole = _SHORTEST_WORDS <= len(tidy.split()) <= _LONGEST_WORDS
            if is_unspaced or (is_whole and words):
                found.append(tidy)
    return found


def content_words(text: str) -> list[str]:
    """Return the words that say something, in order, as written: an anchor quotes them whole."""
    return [
        word
        for word in _CONTENT_WORD.findall(text)
        if (key := word.casefold()) not in STOPWORDS
        and key not in VAGUE
        and (len(word) > 2 or word.isdigit())
    ]


def telling_words(sentence: str, rarity: Rarity, *, but_not: Sequence[str] = ()) -> list[str]:
    """Return the content words of a sentence, rarest first; ties in the order of the text."""
    known = {stem for text in but_not for stem in tokenize(text)}
    words = dict.fromkeys(content_words(sentence))
    fresh = [word for word in words if not set(tokenize(word)) <= known]
    return sorted(fresh, key=lambda word: -rarity.idf(word))


def weigh_sentence(sentence: str, rarity: Rarity) -> float:
    """Return how much a sentence tells: the mean rarity of its six rarest words."""
    weights = sorted((rarity.idf(word) for word in set(content_words(sentence))), reverse=True)[:6]
    return sum(weights) / 6

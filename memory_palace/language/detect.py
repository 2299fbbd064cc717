"""Whether a text is English enough for patterns that know only English."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_palace.language.vocabulary import WORDS, word_set
from memory_palace.language.word_lists import STOPWORDS

_LETTERS = re.compile(r"[^\W\d_]+")
_FOREIGN = WORDS["foreign"] - word_set(
    "a i do in on at to no so as an am is of or me he we be by it"
)
_LEAST_ASCII = 0.8
_LEAST_SHARE = 0.12
_FEW = 8
_MOST = 120
_MOST_CHARACTERS = 2000


def is_english(text: str, keys: Sequence[str] | None = None) -> bool:
    """Say whether English patterns may look at a text.

    Nearly all letters have to be ASCII ones. Common words of other languages must not outweigh
    the English ones; of eight words or more at least 12 % have to be common English ones, which
    prose exceeds threefold. A few words that give nothing away ("Kafka migration") pass. Only the
    first 120 words are looked at. ``keys`` are the casefolded words, where they are known already.
    """
    if keys is None:
        keys = [word.casefold() for word in _LETTERS.findall(text[:_MOST_CHARACTERS])]
    first = keys[:_MOST]
    if not any(map(str.isalpha, first)):
        return False
    if not text.isascii():
        letters = "".join(filter(str.isalpha, text[:_MOST_CHARACTERS]))
        if len(letters.encode("ascii", "ignore")) < _LEAST_ASCII * len(letters):
            return False
    english = sum(map(STOPWORDS.__contains__, first))
    foreign = sum(map(_FOREIGN.__contains__, first))
    if foreign > english:
        return False
    return len(first) < _FEW or english >= _LEAST_SHARE * len(first)

"""Whether a text is English: enough for patterns that know only that, and for an English model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from memory_palace.language.word_lists import (
    AUXILIARIES,
    DETERMINERS,
    FUNCTION_WORDS,
    STOPWORDS,
    WORDS,
)

Tongue: TypeAlias = Literal["english", "other", "unclear"]

_LETTERS = re.compile(r"[^\W\d_]+")
_MOST_CHARACTERS = 2000

_ENGLISH = STOPWORDS | FUNCTION_WORDS | DETERMINERS | AUXILIARIES
_ELSEWHERE = WORDS["elsewhere"] - _ENGLISH
"""Common words of some thirty languages in Latin script, those that English has too left out."""
_NO_PROSE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\b[a-z]{2,9}://\S+|\[\[[^\[\]|\n]*\||\]\([^()\n]*\)"
    r"|</?[a-zA-Z][^<>\n]*>",
    re.DOTALL,
)
_DENSE = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_LATIN = re.compile("[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
_DENSE_LETTERS = 3
"""Latin letters that say as much as one character of Chinese, Japanese or Korean."""
_OTHER_SCRIPT = 0.3
"""Share of other scripts from which a text is not English: Japanese is full of English names."""
_LEAST_LETTERS = 3
_LEAST_WORDS = 2
"""Common words, of English or elsewhere, without which prose cannot be told from names or code."""
_FIRST_WORDS = 200


@dataclass(frozen=True, slots=True)
class LanguageShare:
    """How many texts are not English, of those with enough prose to tell."""

    other: int = 0
    told: int = 0

    @property
    def not_english(self) -> float | None:
        """The share of those that are not, ``None`` where nothing could be told."""
        return self.other / self.told if self.told else None


def tell_tongue(text: str) -> Tongue:
    """Say whether the prose of a text is English; ``unclear`` where there is too little of it.

    Code, addresses and targets of links are left out. Where letters of another script are many it
    is not English; else the common words of English are counted against those of other languages,
    for which each other word with a letter that English lacks counts half.
    """
    text = _NO_PROSE.sub(" ", text[: 2 * _MOST_CHARACTERS])[:_MOST_CHARACTERS]
    if not text.isascii() and _is_other_script(text):
        return "other"
    words = [word.casefold() for word in _LETTERS.findall(text)][:_FIRST_WORDS]
    english = sum(map(_ENGLISH.__contains__, words))
    other = float(sum(map(_ELSEWHERE.__contains__, words)))
    if not text.isascii():
        other += 0.5 * sum(not word.isascii() and word not in _ELSEWHERE for word in words)
    if english + other < _LEAST_WORDS or english == other:
        return "unclear"
    return "english" if english > other else "other"


def is_foreign(question: str) -> bool:
    """Say whether a question is surely not English; a repeated word (IL-6, IL-10) counts once."""
    words = _LETTERS.findall(_NO_PROSE.sub(" ", question).casefold())
    return tell_tongue(" ".join(dict.fromkeys(words))) == "other"


def _is_other_script(text: str) -> bool:
    letters = "".join(filter(str.isalpha, text))
    dense, latin = len(_DENSE.findall(letters)), len(_LATIN.findall(letters))
    other = len(letters) - latin + (_DENSE_LETTERS - 1) * dense
    return other >= max(_LEAST_LETTERS, _OTHER_SCRIPT * (other + latin))


def is_english(text: str) -> bool:
    """Say whether English patterns may look at a text: it is not surely in another language."""
    return tell_tongue(text) != "other"

"""Verification tokens: where they stand in a text, and whether another text holds one.

A token proves that a text was seen. It says nothing about whether an answer is true.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from memory_palace.language.markers import find_markers

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
)
_LETTER = rf"[^\W_{_UNSPACED}]"
_WORD = re.compile(rf"[{_UNSPACED}]|{_LETTER}++(?:['’]{_LETTER}++)*+")
"""Whole words without stems and parts, which language/tokens gives: a verification token is held
only as it was written. Where no spaces part words, every character is one."""


def find_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a text in order, each once; blank markers give none."""
    return tuple(dict.fromkeys(marker.token for marker in find_markers(text) if marker.token))


def fold_words(text: str) -> list[str]:
    """Return the words of a text in NFKC, casefolded; hyphens, marks and line ends part words.

    For comparing tokens, which people copy with or without marks. Accents stay: they tell words
    apart. Apostrophes inside a word are dropped.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return [word.replace("'", "").replace("’", "") for word in _WORD.findall(folded)]


def holds_token(response: str | Sequence[str], token: str) -> bool:
    """Say whether a response holds a token as whole words, in order, side by side.

    A token without words is held by nothing: ``—`` or an empty one can prove nothing. The response
    may be given as folded words.
    """
    wanted = fold_words(token)
    words = fold_words(response) if isinstance(response, str) else response
    size = len(wanted)
    return size > 0 and any(
        list(words[start : start + size]) == wanted for start in range(len(words) - size + 1)
    )

"""Verification tokens: where they stand in a text, and whether another text holds one.

A token proves that a text was seen. It says nothing about whether an answer is true.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_palace.checking.attempts import fold_words
from memory_palace.language.markers import find_markers


def find_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a text in order, each once; blank markers give none."""
    return tuple(dict.fromkeys(marker.token for marker in find_markers(text) if marker.token))


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

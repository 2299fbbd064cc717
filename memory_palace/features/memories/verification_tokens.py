"""Verification tokens: where they stand in a text, and whether another text holds one.

A token proves that a text was seen. It says nothing about whether an answer is true.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from memory_palace.language.markers import find_markers
from memory_palace.language.tokens import PLAIN_WORD, UNSPACED

_LETTER = rf"(?:(?!{UNSPACED})[^\W_])"
_WORD = re.compile(rf"{UNSPACED}|{_LETTER}++(?:['’]{_LETTER}++)*+")
"""Whole words without stems and parts, which language/tokens gives: a verification token is held
only as it was written. Where no spaces part words, every character is one."""
_NEAR = 2 / 3
"""Share of a token's words side by side that makes a phrase an attempt at the token."""


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


def fold_words(text: str) -> list[str]:
    """Return the words of a text in NFKC, casefolded; hyphens, marks and line ends part words.

    For comparing tokens, which people copy with or without marks. Accents stay: they tell words
    apart. Apostrophes inside a word are dropped.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return [word.replace("'", "").replace("’", "") for word in _WORD.findall(folded)]


def find_attempts(response: str, token: str) -> list[str]:
    """Return phrases that are the token, or nearly: two thirds of its words, side by side."""
    return [response[start:end] for start, end in _spans(response, token)]


def drop_attempts(text: str, token: str) -> str:
    """Return a text without the phrases that are a token, or nearly."""
    for start, end in reversed(list(_spans(text, token))):
        text = f"{text[:start]} {text[end:]}"
    return text


def _spans(text: str, token: str) -> Iterator[tuple[int, int]]:
    wanted = fold_words(token)
    found = list(PLAIN_WORD.finditer(text)) if wanted else []
    words = [" ".join(fold_words(match[0])) for match in found]
    at = 0
    while at < len(words):
        window = words[at : at + len(wanted)]
        if not _is_of(window[0], wanted) or _share_alike(window, wanted) < _NEAR:
            at += 1
            continue
        while not _is_of(window[-1], wanted):
            window.pop()
        yield found[at].start(), found[at + len(window) - 1].end()
        at += len(window)


def _share_alike(window: Sequence[str], wanted: Sequence[str]) -> float:
    left = list(wanted)
    for word in window:
        match = next((other for other in left if _is_alike(word, other)), None)
        if match is not None:
            left.remove(match)
    return 1 - len(left) / len(wanted)


def _is_of(word: str, wanted: Sequence[str]) -> bool:
    return any(_is_alike(word, other) for other in wanted)


def _is_alike(word: str, other: str) -> bool:
    """Say whether two words are equal but for an ending."""
    common = min(len(word), len(other))
    return word == other or (common >= 4 and word[: common - 2] == other[: common - 2])

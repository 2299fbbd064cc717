"""Phrases of a response that stand where a verification token would: the token, or nearly.

They prove something or nothing, and claim nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from memory_palace.language.tokens import PLAIN_WORD, UNSPACED

_LETTER = rf"(?:(?!{UNSPACED})[^\W_])"
_WORD = re.compile(rf"{UNSPACED}|{_LETTER}++(?:['’]{_LETTER}++)*+")
"""Whole words without stems and parts, which language/tokens gives: a verification token is held
only as it was written. Where no spaces part words, every character is one."""
_NEAR = 2 / 3
"""Share of a token's words side by side that makes a phrase an attempt at the token."""


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
    if not wanted:
        return
    found = list(PLAIN_WORD.finditer(text))
    words = [" ".join(fold_words(match[0])) for match in found]
    at = 0
    while at < len(words):
        window = words[at : at + len(wanted)]
        first = _place_of(window[0], wanted)
        if first is None or _share_alike(window, wanted) < _NEAR:
            at += 1
            continue
        while _place_of(window[-1], wanted) is None:
            window.pop()
        stop = at + len(window) - 1
        last = _place_of(window[-1], wanted)
        start = _widen(text, found, at, -first)
        end = _widen(text, found, stop, len(wanted) - 1 - (last or 0))
        yield found[start].start(), found[end].end()
        at = end + 1


def _widen(text: str, found: Sequence[re.Match[str]], at: int, steps: int) -> int:
    """Take in the words that stand where other words of the token would, no mark between."""
    for _ in range(abs(steps)):
        after = at + (1 if steps > 0 else -1)
        if not 0 <= after < len(found):
            break
        gap = text[
            min(found[at].end(), found[after].end()) : max(found[at].start(), found[after].start())
        ]
        if gap.strip(" -"):
            break
        at = after
    return at


def _share_alike(window: Sequence[str], wanted: Sequence[str]) -> float:
    left = list(wanted)
    for word in window:
        match = next((other for other in left if _is_alike(word, other)), None)
        if match is not None:
            left.remove(match)
    return 1 - len(left) / len(wanted)


def _place_of(word: str, wanted: Sequence[str]) -> int | None:
    return next((at for at, other in enumerate(wanted) if _is_alike(word, other)), None)


def _is_alike(word: str, other: str) -> bool:
    """Say whether two words are equal but for an ending."""
    common = min(len(word), len(other))
    return word == other or (common >= 4 and word[: common - 2] == other[: common - 2])

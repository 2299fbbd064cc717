"""Verification tokens: where they stand in a text, and whether an answer holds one.

A token proves that a memory was read (provenance). Whether what is said is true, ``checking`` asks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from memory_palace.errors import CheckFailedError
from memory_palace.kinds import TokenVerdict
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


class VerificationChecker:
    """Check responses for tokens, with the names and signatures of source document 000.

    ``strict_mode`` decides what ``require`` does with a response that does not hold its token:
    raise, or say so in the explanation.
    """

    def __init__(self, strict_mode: bool = True) -> None:  # the document's signature
        self.strict_mode = strict_mode

    def extract_token(self, memory_image: str) -> str | None:
        """Return the first token of an image; ``None`` where there is none, or a blank one."""
        return next(iter(find_tokens(memory_image)), None)

    def check_response(self, response: str, expected_token: str | None) -> tuple[bool, str]:
        """Return whether a response passes, and why. Where no token is expected it passes."""
        outcome = check_tokens(response, [expected_token] if expected_token else [])
        if outcome == TokenVerdict.NOT_APPLICABLE:
            return True, "No verification token required"
        if outcome == TokenVerdict.HELD:
            return True, f"Verification token '{expected_token}' found"
        return False, f"HALLUCINATION SUSPECTED: Token '{expected_token}' not found"

    def require(self, response: str, expected_token: str | None) -> str:
        """Return the explanation; in strict mode raise ``CheckFailedError`` for a missing token."""
        is_valid, explanation = self.check_response(response, expected_token)
        if self.strict_mode and not is_valid:
            raise CheckFailedError(explanation)
        return explanation


def check_tokens(response: str | Sequence[str], tokens: Sequence[str]) -> TokenVerdict:
    """Say whether a response holds a token of a memory.

    Tokens without a word can be held by nothing and ask for nothing: ``lint`` names them.
    """
    real = [token for token in tokens if fold_words(token)]
    if not real:
        return TokenVerdict.NOT_APPLICABLE
    is_held = any(holds_token(response, token) for token in real)
    return TokenVerdict.HELD if is_held else TokenVerdict.MISSING

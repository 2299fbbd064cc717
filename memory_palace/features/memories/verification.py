"""Verification tokens of a text, whether an answer holds one, and the answer's score.

A token proves that a memory was read (provenance). Whether what is said is true, ``checking`` asks.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from memory_palace.errors import CheckFailedError
from memory_palace.features.memories.memory_values import MOST_FACTORS, Memory
from memory_palace.kinds import TokenVerdict
from memory_palace.language.markers import find_markers
from memory_palace.language.words import UNSPACED

_LETTER = rf"(?:(?!{UNSPACED})[^\W_])"
_WORD = re.compile(rf"{UNSPACED}|{_LETTER}++(?:['’]{_LETTER}++)*+")
"""Whole words without stems and parts, which language/words gives: a verification token is held
only as it was written. Where no spaces part words, every character is one."""


def find_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a text in order, each once; blank markers give none."""
    return tuple(dict.fromkeys(marker.token for marker in find_markers(text) if marker.token))


def holds_token(response: str, token: str) -> bool:
    """Say whether a response holds a token as whole words, in order, side by side.

    A token without words is held by nothing: ``—`` or an empty one can prove nothing.
    """
    words, wanted = fold_words(response), fold_words(token)
    starts = range(len(words) - len(wanted) + 1)
    return bool(wanted) and any(words[at : at + len(wanted)] == wanted for at in starts)


def fold_words(text: str) -> list[str]:
    """Return the words of a text in NFKC, casefolded; hyphens, marks and line ends part words.

    For comparing tokens, which people copy with or without marks. Accents stay: they tell words
    apart. Apostrophes inside a word are dropped.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return [word.replace("'", "").replace("’", "") for word in _WORD.findall(folded)]


def drop_token(text: str, token: str) -> str:
    """Return a text without the phrases that are a token."""
    wanted = fold_words(token)
    words = [(word, *m.span()) for m in _WORD.finditer(text) for word in fold_words(m[0])]
    for at in reversed(range(len(words) - len(wanted) + 1)):
        phrase = words[at : at + len(wanted)]
        if wanted and [word for word, _, _ in phrase] == wanted:
            text = f"{text[: phrase[0][1]]} {text[phrase[-1][2] :]}"
    return text


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


def check_tokens(response: str, tokens: Sequence[str]) -> TokenVerdict:
    """Say whether a response holds a token of a memory.

    Tokens without a word can be held by nothing and ask for nothing: ``lint`` names them.
    """
    real = [token for token in tokens if fold_words(token)]
    if not real:
        return TokenVerdict.NOT_APPLICABLE
    is_held = any(holds_token(response, token) for token in real)
    return TokenVerdict.HELD if is_held else TokenVerdict.MISSING


ALPHA, BETA, GAMMA = 0.5, 0.3, 0.2
"""Of nearness, token and SMASHIN SCOPE (source document 000, which publishes no measurement)."""


def calculate_retrieval_score(
    memory: Memory,
    query: str,  # the document's signature: the question is compared by its vector alone
    query_embedding: Sequence[float],
    response: str,
    alpha: float = ALPHA,
    beta: float = BETA,
    gamma: float = GAMMA,
) -> float:
    """Return ``α·sim + β·verify + γ·smashin/12``, from 0 to 1, a negative cosine counting as 0.

    Where a memory has no token, β is dropped and the other weights share its part. Raise
    ``ValueError`` for weights that make no mean.
    """
    verdict = check_tokens(response, memory.verify_tokens)
    parts = [
        (alpha, max(0.0, cosine_similarity(memory.embedding, query_embedding))),
        (gamma, memory.smashin_score / MOST_FACTORS),
    ]
    if verdict != TokenVerdict.NOT_APPLICABLE:
        parts.append((beta, float(verdict == TokenVerdict.HELD)))
    weights = [weight for weight, _ in parts]
    if any(weight < 0 or not math.isfinite(weight) for weight in weights) or not sum(weights):
        raise ValueError(f"weights must be finite, not negative and not all zero, not {weights}")
    return min(1.0, sum(weight * value for weight, value in parts) / sum(weights))


def cosine_similarity(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the cosine of two vectors of one length, from -1 to 1.

    0 where either is zero, empty or not finite: nothing is known then, and nothing warns. Raise
    ``ValueError`` for vectors of different lengths.
    """
    one, other = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if not one.size or not other.size:
        return 0.0
    if one.shape != other.shape:
        raise ValueError(f"vectors of shapes {one.shape} and {other.shape} cannot be compared")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return 0.0
    # Squares of huge or tiny numbers are out of range: both are divided by their largest.
    one, other = (each / (np.max(np.abs(each)) or 1) for each in (one, other))
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(np.clip(np.dot(one, other) / length, -1, 1)) if length else 0.0

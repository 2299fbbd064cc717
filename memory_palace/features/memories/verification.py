"""Whether a response holds the tokens of the memories it should rest on.

A token says that a memory was read (provenance). Whether what is said is true, ``checking`` asks.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_palace.errors import CheckFailedError
from memory_palace.features.memories.verification_tokens import (
    find_tokens,
    fold_words,
    holds_token,
)
from memory_palace.kinds import TokenVerdict


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


def check_tokens(
    response: str | Sequence[str], tokens: Sequence[str], *, require_all: bool = False
) -> TokenVerdict:
    """Say whether a response holds a token of a memory, or all of them.

    Tokens without a word can be held by nothing and ask for nothing: ``lint`` names them.
    """
    real = [token for token in tokens if fold_words(token)]
    if not real:
        return TokenVerdict.NOT_APPLICABLE
    held = [holds_token(response, token) for token in real]
    is_held = all(held) if require_all else any(held)
    return TokenVerdict.HELD if is_held else TokenVerdict.MISSING

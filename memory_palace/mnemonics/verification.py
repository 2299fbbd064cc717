"""Whether a response came from the memories it should rest on: by token, and by what it claims.

The token says that a memory was read (provenance), the support check that it says so (truth). They
are reported apart, each with three values, and folded only at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memory_palace.errors import CheckFailedError
from memory_palace.mnemonics.claims import find_attempts
from memory_palace.mnemonics.contradictions import MemoryText
from memory_palace.mnemonics.memory_values import Memory
from memory_palace.mnemonics.nearness import EmbedTokens
from memory_palace.mnemonics.support import Support, check_support
from memory_palace.mnemonics.verification_tokens import find_tokens, fold_words, holds_token


class Verdict(StrEnum):
    """What a check found."""

    GROUNDED = "grounded"
    UNGROUNDED = "ungrounded"
    NOT_APPLICABLE = "not applicable"
    """There was nothing to check: no token, or no claim."""


@dataclass(frozen=True, slots=True)
class TokenCheck:
    """Whether a response holds the token of one memory."""

    memory_id: str
    outcome: Verdict
    held: tuple[str, ...]
    missing: tuple[str, ...]
    near: tuple[str, ...]
    """Phrases of the response that are nearly a missing token: half remembered, or made up."""


@dataclass(frozen=True, slots=True)
class Verification:
    """Both checks of one response."""

    tokens: tuple[TokenCheck, ...]
    """One for each memory, in the order given."""
    support: Support

    @property
    def token_verdict(self) -> Verdict:
        """All memories together: one missing token is enough to be ungrounded."""
        return _fold(check.outcome for check in self.tokens)

    @property
    def support_verdict(self) -> Verdict:
        """Whether every claim is borne out by some memory."""
        supported = self.support.is_supported
        if supported is None:
            return Verdict.NOT_APPLICABLE
        return Verdict.GROUNDED if supported else Verdict.UNGROUNDED

    @property
    def outcome(self) -> Verdict:
        """Both together: ungrounded where either is, grounded where the other is."""
        return _fold((self.token_verdict, self.support_verdict))


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
        if outcome == Verdict.NOT_APPLICABLE:
            return True, "No verification token required"
        if outcome == Verdict.GROUNDED:
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
) -> Verdict:
    """Say whether a response holds a token of a memory, or all of them.

    Tokens without a word can be held by nothing and ask for nothing: ``lint`` names them.
    """
    real = [token for token in tokens if fold_words(token)]
    if not real:
        return Verdict.NOT_APPLICABLE
    held = [holds_token(response, token) for token in real]
    is_grounded = all(held) if require_all else any(held)
    return Verdict.GROUNDED if is_grounded else Verdict.UNGROUNDED


def verify_response(
    response: str,
    memories: Sequence[Memory],
    *,
    require_all: bool = False,
    embed_tokens: EmbedTokens | None = None,
) -> Verification:
    """Check a response against all the memories it should rest on.

    Each claim counts by the memory that bears it out best. ``embed_tokens`` must be of the embedder
    that the threshold of ``support`` was chosen for; without it, words are compared. Raise
    ``ValueError`` where no memory is given.
    """
    if not memories:
        raise ValueError("name at least one memory to verify against")
    words = fold_words(response)
    tokens = [token for memory in memories for token in memory.verify_tokens]
    sources = [MemoryText(memory.subject, memory.content) for memory in memories]
    supports = [
        check_support(response, source, tokens=tokens, embed_tokens=embed_tokens)
        for source in sources
    ]
    checks = tuple(
        _check_memory(response, words, memory, require_all=require_all) for memory in memories
    )
    return Verification(checks, _join(supports))


def _check_memory(
    response: str, words: Sequence[str], memory: Memory, *, require_all: bool
) -> TokenCheck:
    tokens = memory.verify_tokens
    held = tuple(token for token in tokens if holds_token(words, token))
    missing = tuple(token for token in tokens if token not in held)
    near = (a.phrase for token in missing for a in find_attempts(response, token))
    outcome = check_tokens(words, tokens, require_all=require_all)
    return TokenCheck(memory.id, outcome, held, missing, tuple(dict.fromkeys(near)))


def _join(supports: Sequence[Support]) -> Support:
    """Return each claim as the memory sees it that bears it out best."""
    claims = tuple(
        max(seen, key=lambda claim: (not claim.contradictions, claim.score))
        for seen in zip(*(support.claims for support in supports), strict=True)
    )
    return replace(supports[0], claims=claims)


def _fold(outcomes: Iterable[Verdict]) -> Verdict:
    found = set(outcomes)
    for outcome in (Verdict.UNGROUNDED, Verdict.GROUNDED):
        if outcome in found:
            return outcome
    return Verdict.NOT_APPLICABLE

"""Whether a memory bears out what a response says: sentence by sentence, and by both together.

A claim is as well supported as it is near to a sentence of the memory, and better where a number
agrees. What contradicts the memory is supported by nothing. Without vectors, nearness is the share
of the claim's content words that the memory has.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory_palace.mnemonics.claims import Wording, find_claims
from memory_palace.mnemonics.comparing import share_content
from memory_palace.mnemonics.contradictions import MemoryText, find_contradictions
from memory_palace.mnemonics.nearness import EmbedTokens, measure_by_meaning

NUMBER_ADDS_WORDS = 0.3
NUMBER_ADDS_MEANING = 0.1
LEAST_WORDS = 0.44
LEAST_MEANING = 0.57
"""Chosen on the development half of `palace bench verify`, with the bonus for a number: highest F1
with at most six false positives in a hundred. With a seventh of the memories left out the rest
chooses .55 to .57 and .40 to .52."""

MEASURED_EMBEDDER = "minilm"
"""The embedder that ``LEAST_MEANING`` holds for; cosines of others mean something else."""


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """One sentence of a response."""

    text: str
    score: float
    """Nearness from 0 to 1, and a bonus where a number agrees."""
    contradictions: tuple[str, ...]
    unknown: tuple[str, ...]
    """Stems of content words that the memory does not have."""


@dataclass(frozen=True, slots=True)
class Support:
    """What a memory says to a whole response."""

    claims: tuple[ClaimCheck, ...]
    least: float
    """What the score must reach."""

    @property
    def score(self) -> float:
        """Mean over the claims, 0 where there are none."""
        scores = [claim.score for claim in self.claims]
        return round(sum(scores) / len(scores), 6) if scores else 0.0

    @property
    def is_supported(self) -> bool | None:
        """Whether all of it is borne out; ``None`` where nothing is claimed."""
        if not self.claims:
            return None
        return self.score >= self.least and not any(c.contradictions for c in self.claims)


def check_support(
    response: str,
    source: MemoryText,
    *,
    tokens: Iterable[str] = (),
    embed_tokens: EmbedTokens | None = None,
) -> Support:
    """Compare each claim of a response with a memory. Tokens, also misquoted, claim nothing."""
    checked = tuple(
        _check_claim(claim, source, embed_tokens) for claim in find_claims(response, tokens)
    )
    return Support(checked, LEAST_WORDS if embed_tokens is None else LEAST_MEANING)


def _check_claim(
    claim: Wording, source: MemoryText, embed_tokens: EmbedTokens | None
) -> ClaimCheck:
    if embed_tokens is None:
        near, bonus = share_content(claim, source.whole), NUMBER_ADDS_WORDS
    else:
        near, bonus = measure_by_meaning(claim, source.sentences, embed_tokens), NUMBER_ADDS_MEANING
    return ClaimCheck(
        claim.text,
        round(near + (bonus if _has_agreeing_number(claim, source) else 0.0), 6),
        tuple(find_contradictions(claim, source)),
        tuple(stem for stem in claim.content if stem not in source.whole.content),
    )


def _has_agreeing_number(claim: Wording, source: MemoryText) -> bool:
    """Say whether a number stands in both, in clauses that have a word in common as well."""
    for clause in claim.clauses:
        telling = [number for number in clause.numbers if number.value != 1]
        for other in source.clauses:
            is_same = any(a.agrees(b) for a in telling for b in other.numbers)
            if is_same and not set(clause.stems).isdisjoint(other.content):
                return True
    return False

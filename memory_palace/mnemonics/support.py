"""Whether a memory bears out what a response says: sentence by sentence, and by both together.

A claim is as well supported as it is near to a passage of the memory, and better where a number
agrees. What contradicts the memory is supported by nothing. Without vectors, nearness is the share
of the claim's content words that the memory has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from memory_palace.mnemonics.claims import Passage, find_claims
from memory_palace.mnemonics.comparing import share_content
from memory_palace.mnemonics.contradictions import Source, find_contradictions
from memory_palace.models import Matrix

NUMBER_ADDS = 0.3
LEAST_MEANING = 0.66
LEAST_WORDS = 0.54
"""Chosen on the development half of `palace bench verify`, with the bonus for a number: highest F1
with at most three false positives in a hundred."""

MEASURED_EMBEDDER = "minilm"
"""The embedder that ``LEAST_MEANING`` holds for; cosines of others mean something else."""

Embed = Callable[[Sequence[str]], Matrix]
"""Unit vectors of passages, shape ``(texts, dimension)``."""


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """One sentence of a response."""

    text: str
    score: float
    """Nearness from 0 to 1, and ``NUMBER_ADDS`` where a number agrees."""
    contradictions: tuple[str, ...]
    unknown: tuple[str, ...]
    """Stems of content words that the memory does not have."""


@dataclass(frozen=True, slots=True)
class Support:
    """What a memory says to a whole response."""

    claims: tuple[ClaimCheck, ...]
    score: float
    """Mean over the claims, 0 where there are none."""
    least: float
    """What the score must reach."""

    @property
    def is_supported(self) -> bool | None:
        """Whether all of it is borne out; ``None`` where nothing is claimed."""
        if not self.claims:
            return None
        return self.score >= self.least and not any(c.contradictions for c in self.claims)


def check_support(
    response: str, source: Source, *, tokens: Iterable[str] = (), embed: Embed | None = None
) -> Support:
    """Compare each claim of a response with a memory. Tokens, also misquoted, claim nothing."""
    claims = find_claims(response, tokens)
    near = _by_words(claims, source) if embed is None else _by_meaning(claims, source, embed)
    checked = tuple(
        ClaimCheck(
            claim.text,
            round(nearness + (NUMBER_ADDS if _has_agreeing_number(claim, source) else 0.0), 6),
            tuple(find_contradictions(claim, source)),
            tuple(stem for stem in claim.content if stem not in source.whole.content),
        )
        for claim, nearness in zip(claims, near, strict=True)
    )
    score = sum(claim.score for claim in checked) / len(checked) if checked else 0.0
    return Support(checked, round(score, 6), LEAST_WORDS if embed is None else LEAST_MEANING)


def _by_words(claims: Sequence[Passage], source: Source) -> list[float]:
    return [share_content(claim, source.whole) for claim in claims]


def _by_meaning(claims: Sequence[Passage], source: Source, embed: Embed) -> list[float]:
    """Return the highest cosine with one sentence or two in a row, with and without subject."""
    if not claims:
        return []
    texts = [sentence.text for sentence in source.sentences]
    texts += [f"{one} {next}" for one, next in pairwise(texts)]
    texts += [f"{source.subject}. {text}" for text in texts]
    cosines = embed([claim.text for claim in claims]) @ embed(texts).T
    return [max(0.0, float(best)) for best in np.max(cosines, axis=1)]


def _has_agreeing_number(claim: Passage, source: Source) -> bool:
    """Say whether a number stands in both, in clauses that have a word in common as well."""
    for clause in claim.clauses:
        telling = [number for number in clause.numbers if number.value != 1]
        for other in source.clauses:
            is_same = any(a.agrees(b) for a in telling for b in other.numbers)
            if is_same and not set(clause.stems).isdisjoint(other.content):
                return True
    return False

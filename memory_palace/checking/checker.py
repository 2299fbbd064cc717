"""Check an answer against passages, sentence by sentence.

A sentence is aligned with the windows of the passages that share most with it. One that it follows
word by word, with nothing that differs, bears it out as a quotation; one that covers it, with
nothing that differs, supports it; a difference in the best one contradicts it. Nothing of this
proves a sentence: ``supported`` says that it was found, and that nothing was found against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from memory_palace.checking.alignment import Alignment, EmbedTokens, align
from memory_palace.checking.comparing import share_content
from memory_palace.checking.differences import find_differences
from memory_palace.checking.verdicts import AnswerCheck, Difference, Passage, SentenceCheck, Verdict
from memory_palace.checking.windows import Source, Window
from memory_palace.checking.wording import Wording, find_sentences

QUOTED = 0.85
"""Share of a sentence's words that stand in the passage in the same order."""
LEAST_WORDS = 0.44
LEAST_MEANING = 0.57
"""What a window must cover of a sentence: by stems alone, and by vectors of words."""
_TRIED = 8
"""Windows that a sentence is aligned with: those that share most of its content."""

MEASURED_EMBEDDER = "minilm"
"""The embedder that ``LEAST_MEANING`` holds for; cosines of others mean something else."""


class Judge(Protocol):
    """Whoever has a say beside the rules: a model of language, or of entailment."""

    def __call__(self, sentence: SentenceCheck, passages: Sequence[Passage]) -> SentenceCheck:
        """Return what it makes of a sentence that the rules have checked."""
        ...


@dataclass(frozen=True, slots=True)
class _Finding:
    """A window beside a claim."""

    window: Window
    alignment: Alignment
    differences: tuple[Difference, ...]


def check_answer(
    response: str,
    passages: Sequence[Passage],
    *,
    tokens: Iterable[str] = (),
    embed_tokens: EmbedTokens | None = None,
    judge: Judge | None = None,
) -> AnswerCheck:
    """Check every sentence of an answer against passages.

    Verification tokens, also misquoted, claim nothing. ``embed_tokens`` must be of the embedder
    that the thresholds were chosen for; without it words are compared by their stems.
    """
    read = None if embed_tokens is None else cache(embed_tokens)
    windows = [window for passage in passages for window in Source(passage).windows]
    checks = [_check(each, windows, read) for each in find_sentences(response, tokens)]
    if judge is not None:
        checks = [
            check if check.verdict == Verdict.NOT_APPLICABLE else judge(check, passages)
            for check in checks
        ]
    return AnswerCheck(tuple(checks))


def _check(
    claim: Wording, windows: Sequence[Window], embed_tokens: EmbedTokens | None
) -> SentenceCheck:
    if not claim.says_something:
        reason = "says nothing to check"
        return SentenceCheck(claim.text, Verdict.NOT_APPLICABLE, reason, None, (), 0.0)
    nearest = sorted(windows, key=lambda window: -share_content(claim, window.wording))[:_TRIED]
    found = [_compare(claim, window, embed_tokens) for window in nearest]
    if not found:
        return SentenceCheck(claim.text, Verdict.NOT_FOUND, "no passage is near", None, (), 0.0)
    least = LEAST_WORDS if embed_tokens is None else LEAST_MEANING
    best = max(found, key=lambda each: each.alignment.coverage)
    verdict, reason = _judge(best, least)
    return SentenceCheck(
        claim.text,
        verdict,
        reason,
        best.window.lines,
        best.differences if verdict == Verdict.CONTRADICTED else (),
        round(best.alignment.coverage, 6),
    )


def _compare(claim: Wording, window: Window, embed_tokens: EmbedTokens | None) -> _Finding:
    alignment = align(claim, window.wording, embed_tokens, around=window.around)
    return _Finding(window, alignment, tuple(find_differences(claim, window.wording, alignment)))


def _judge(best: _Finding, least: float) -> tuple[Verdict, str]:
    if best.alignment.coverage < least:
        return Verdict.NOT_FOUND, "no passage says enough of it"
    if best.differences:
        return Verdict.CONTRADICTED, best.differences[0].reason
    if best.alignment.copied >= QUOTED:
        return Verdict.QUOTED, "in nearly the same words"
    return Verdict.SUPPORTED, "not contradicted"

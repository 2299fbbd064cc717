"""Check an answer against passages, sentence by sentence.

A sentence is aligned with the windows of the passages that share most with it. The one that covers
it best decides: with a difference it contradicts the sentence, without one it bears it out, as a
quotation where the words are the same. Nothing of this proves a sentence: ``supported`` says that
it was found, and that nothing was found against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memory_palace.checking.alignment import Alignment, EmbedTokens, WordReader, align
from memory_palace.checking.differences import find_differences
from memory_palace.checking.verdicts import (
    ACCEPTED,
    AnswerCheck,
    Difference,
    Passage,
    SentenceCheck,
    Verdict,
    write_place,
)
from memory_palace.checking.windows import PassageLibrary, TextWindow
from memory_palace.checking.wording import Wording, find_sentences
from memory_palace.models import Matrix

QUOTED = 0.8
"""Share of a sentence's words that stand in the passage in the same order; all telling ones do."""
LEAST_MEANING = 0.45
LEAST_WORDS = 0.32
"""What the score of a window must reach, by vectors and by stems alone.

Chosen on the development half of the answers on others' text (``tests/checking``): where the worst
of these is smallest, how far a kind of changed fact is accepted above .20, a sentence that wanders
off above .02, and a right one refused above .15. Fitted on three of the four collections it comes
out between .45 and .50 by vectors and between .32 and .34 by words. A right answer in other words
and one with a changed fact in other words score alike (AUC .53): the threshold tells what the
passages are about, and no more.
"""
_WIDER = 0.04
"""What one more sentence must add to the coverage of a window."""
_AS_NEAR = 0.03
"""A window that covers a sentence less than the best by this much may still clear it."""
_READ = 3
"""Windows that are read for differences."""

MEASURED_EMBEDDER = "minilm"
"""The embedder that ``LEAST_MEANING`` holds for; cosines of others mean something else."""


@dataclass(frozen=True, slots=True)
class _Finding:
    """A window beside a claim."""

    window: TextWindow
    alignment: Alignment
    differences: tuple[Difference, ...] = ()


def check_answer(
    response: str,
    passages: Sequence[Passage],
    *,
    tokens: Iterable[str] = (),
    embed_tokens: EmbedTokens | None = None,
) -> AnswerCheck:
    """Check every sentence of an answer against passages.

    Verification tokens, also misquoted, claim nothing. ``embed_tokens`` must be of the embedder
    that the thresholds were chosen for; without it words are compared by their stems.
    """
    reader = WordReader(embed_tokens)
    checker = _Checker([each for each in passages if not each.superseded], reader)
    past = [(each.superseded, _Checker([each], reader)) for each in passages if each.superseded]
    checks = dict[str, SentenceCheck]()
    sentences = find_sentences(response, tokens)
    for each in sentences:
        if each.text not in checks:
            checks[each.text] = _overrule(checker.check(each), each, past)
    return AnswerCheck(tuple(checks[each.text] for each in sentences))


def _overrule(
    check: SentenceCheck, claim: Wording, past: Sequence[tuple[str, _Checker]]
) -> SentenceCheck:
    """Return the check of a sentence, contradicted where only what is superseded bears it out."""
    if check.verdict in (Verdict.CONTRADICTED, Verdict.NOT_APPLICABLE):
        return check
    least = check.score if check.verdict in ACCEPTED else 0.0
    for words, checker in past:
        found = checker.check(claim)
        if found.verdict in ACCEPTED and found.score > least:
            check = replace(found, verdict=Verdict.CONTRADICTED, reason=words)
            least = found.score
    return check


class _Checker:
    """Checks claims against the passages it was given."""

    def __init__(self, passages: Sequence[Passage], reader: WordReader) -> None:
        self._reader, self._library = reader, PassageLibrary(passages, reader)
        self._least = LEAST_MEANING if reader.by_meaning else LEAST_WORDS

    def check(self, claim: Wording) -> SentenceCheck:
        if not claim.says_something:
            reason = "says nothing to check"
            return SentenceCheck(claim.text, Verdict.NOT_APPLICABLE, reason, None, (), 0.0)
        found = [self._align(claim, window) for window in self._find_windows(claim)]
        if not found:
            return SentenceCheck(claim.text, Verdict.NOT_FOUND, "no passage is near", None, (), 0.0)
        best = found[0]
        if any(_score(each.alignment) >= self._least for each in found):
            best = self._compare(claim, best)
        if best.differences:
            others = (self._compare(claim, each) for each in found[1:])
            best = next((each for each in others if self._clears(each, best)), best)
        lines = self._library.locate(best.window)
        verdict, reason = _judge(claim, best, self._least, lines)
        differences = best.differences if verdict == Verdict.CONTRADICTED else ()
        score = round(_score(best.alignment), 6)
        return SentenceCheck(claim.text, verdict, reason, lines, differences, score)

    def _clears(self, other: _Finding, found: _Finding) -> bool:
        """Say whether a window without differences says itself what another has otherwise."""
        theirs = set(self._library.read(other.window).stems)
        mine = (Wording(difference.mine) for difference in found.differences)
        return not other.differences and all(
            theirs.issuperset(each.content or each.stems) for each in mine
        )

    def _find_windows(self, claim: Wording) -> list[TextWindow]:
        """Return the window that covers a claim best, then others apart from it as good."""
        telling = [at for at, word in enumerate(claim.words) if word.is_telling]
        rows = dict[int, Matrix]()
        scores = dict[TextWindow, float]()
        for near in self._library.find_near(claim):
            for window in self._library.windows_of(near):
                for at in range(window.start, window.end):
                    if at not in rows:
                        rows[at] = self._cover(claim, at)[telling]
                covered = np.max([rows[at] for at in range(window.start, window.end)], axis=0)
                width = window.end - window.start
                scores[window] = float(covered.mean()) - _WIDER * (width - 1) if telling else 0.0
        ranked = sorted(scores, key=lambda window: (-scores[window], window.start, window.end))
        chosen = list[TextWindow]()
        for window in ranked:
            is_as_near = not chosen or scores[window] >= scores[chosen[0]] - _AS_NEAR
            if is_as_near and not any(window.overlaps(other) for other in chosen):
                chosen.append(window)
        return chosen[:_READ]

    def _cover(self, claim: Wording, at: int) -> Matrix:
        likeness = self._reader.compare(claim, self._library.sentences[at].wording)
        best: Matrix = likeness.max(axis=1, initial=0.0)
        return best

    def _align(self, claim: Wording, window: TextWindow) -> _Finding:
        passage = self._library.read(window)
        alignment = align(claim, passage, self._reader, around=self._library.around(window))
        return _Finding(window, alignment)

    def _compare(self, claim: Wording, found: _Finding) -> _Finding:
        """Read a window for differences, which takes nearly all of the time."""
        passage = self._library.read(found.window)
        differences = find_differences(claim, passage, found.alignment)
        return replace(found, differences=tuple(differences))


def _score(alignment: Alignment) -> float:
    """Return how much of a claim a window says, from 0 to 1.

    By vectors the mean of how like all words are, how like the worst third is, and how like both
    are as wholes; by words alone the share of the claim's words.
    """
    if not alignment.reader.by_meaning:
        return alignment.coverage
    return (alignment.coverage + alignment.weakest + alignment.cosine) / 3


def _judge(claim: Wording, best: _Finding, least: float, lines: Passage) -> tuple[Verdict, str]:
    if _score(best.alignment) < least:  # what is said of something else contradicts nothing
        return Verdict.NOT_FOUND, "no passage says enough of it"
    if best.differences:
        return Verdict.CONTRADICTED, f"{best.differences[0].reason} in {write_place(lines)}"
    if _is_quoted(claim, best.alignment):
        return Verdict.QUOTED, "in nearly the same words"
    return Verdict.SUPPORTED, "not contradicted"


def _is_quoted(claim: Wording, alignment: Alignment) -> bool:
    """Say whether a passage has a claim's words: all that tell something, most of the others."""
    changed = {place for change in alignment.changes for place in change.mine}
    is_reworded = any(claim.words[place].is_telling for place in changed)
    return alignment.copied >= QUOTED and not is_reworded

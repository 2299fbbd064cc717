"""Check an answer against passages, sentence by sentence.

A sentence is compared with the windows of the passages that share most with it. One that says
enough of it and has another value in the same place contradicts it; one that lacks a number, a date
or a name of it does not say it; else it bears it out, as a quotation where the words are the same.
Nothing of this proves a sentence: ``supported`` says that nothing was found against it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memory_palace.features.checking.alignment import EmbedTokens, WordReader, find_copying
from memory_palace.features.checking.differences import Findings, find_differences
from memory_palace.features.checking.verdicts import (
    ACCEPTED,
    AnswerCheck,
    Passage,
    SentenceCheck,
    Verdict,
    write_place,
)
from memory_palace.features.checking.windows import PassageLibrary, TextWindow
from memory_palace.features.checking.wording import Wording, find_sentences
from memory_palace.models import Matrix

QUOTED = 0.8
"""Share of a sentence's words that stand in the passage in the same order; all telling ones do."""
LEAST_MEANING = 0.40
LEAST_WORDS = 0.32
"""What the score of a window must reach, by vectors and by stems alone."""
_WIDER = 0.04
"""What one more sentence must add to the coverage of a window."""
_AS_NEAR = 0.03
"""A window that covers a sentence less than the best by this much may still clear it."""
_READ = 3
"""Windows that are read for differences."""

MEASURED_EMBEDDER = "minilm"
"""The embedder that ``LEAST_MEANING`` holds for; cosines of others mean something else."""
_UNREAD = Findings()


@dataclass(frozen=True, slots=True)
class _Finding:
    """A window beside a claim."""

    window: TextWindow
    score: float
    findings: Findings = _UNREAD

    @property
    def is_clear(self) -> bool:
        return not (self.findings.differences or self.findings.unsaid)


def check_answer(
    response: str,
    passages: Sequence[Passage],
    *,
    drop_tokens: Callable[[str], str] = lambda text: text,
    embed_tokens: EmbedTokens | None = None,
) -> AnswerCheck:
    """Check every sentence of an answer against passages.

    What ``drop_tokens`` takes out claims nothing. ``embed_tokens`` must be of the embedder that the
    thresholds were chosen for; without it words are compared by their stems.
    """
    reader = WordReader(embed_tokens)
    checker = _Checker([each for each in passages if not each.superseded], reader)
    past = [(each.superseded, _Checker([each], reader)) for each in passages if each.superseded]
    claims = find_sentences(response, drop_tokens)
    return AnswerCheck(tuple(_overrule(checker.check(each), each, past) for each in claims))


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
        found = self._find_windows(claim)
        if not found:
            return SentenceCheck(claim.text, Verdict.NOT_FOUND, "no passage is near", None, (), 0.0)
        near = [each for each in found if each.score >= self._least]
        near.sort(key=lambda each: -find_copying(claim, self._library.read(each.window)).share)
        read = [self._compare(claim, each) for each in near]
        best = read[0] if read else found[0]
        if not best.is_clear:
            best = next((each for each in read[1:] if self._clears(each, best)), best)
        lines = self._library.locate(best.window)
        verdict, reason = self._judge(claim, best, lines)
        differences = best.findings.differences if verdict == Verdict.CONTRADICTED else ()
        return SentenceCheck(claim.text, verdict, reason, lines, differences, round(best.score, 6))

    def _find_windows(self, claim: Wording) -> list[_Finding]:
        """Return the window that covers a claim best, then others apart from it as good."""
        telling = [at for at, word in enumerate(claim.words) if word.is_telling]
        rows = dict[int, Matrix]()
        covered = dict[TextWindow, Matrix]()
        for near in self._library.find_near(claim):
            for window in self._library.windows_of(near):
                for at in range(window.start, window.end):
                    if at not in rows:
                        sentence = self._library.sentences[at].wording
                        rows[at] = self._cover(claim, sentence)[telling]
                inside = [rows[at] for at in range(window.start, window.end)]
                about = self._cover(claim, self._library.about(window))[telling]
                covered[window] = np.max([*inside, about], axis=0)

        def rank(window: TextWindow) -> float:
            row = covered[window]
            return float(row.mean()) - _WIDER * (window.end - window.start - 1) if row.size else 0.0

        chosen = list[TextWindow]()
        for window in sorted(covered, key=lambda each: (-rank(each), each.start, each.end)):
            is_as_near = not chosen or rank(window) >= rank(chosen[0]) - _AS_NEAR
            if is_as_near and not any(window.overlaps(other) for other in chosen):
                chosen.append(window)
        return [_Finding(each, self._score(claim, each, covered[each])) for each in chosen[:_READ]]

    def _clears(self, other: _Finding, found: _Finding) -> bool:
        """Return whether a window without differences has itself what another has otherwise."""
        theirs = set(self._library.read(other.window).stems)
        mine = (Wording(difference.mine).stems for difference in found.findings.differences)
        return other.is_clear and all(theirs.issuperset(stems) for stems in mine)

    def _cover(self, claim: Wording, text: Wording) -> Matrix:
        best: Matrix = self._reader.compare(claim, text).max(axis=1, initial=0.0)
        return best

    def _score(self, claim: Wording, window: TextWindow, covered: Matrix) -> float:
        """Return how much of a claim a window says, from 0 to 1.

        By vectors the mean of how like all words are, how like the worst third is, and how like
        both are as wholes; by words alone the share of the claim's words.
        """
        coverage = float(covered.mean()) if covered.size else 0.0
        if not self._reader.by_meaning:
            return coverage
        worst = np.sort(covered)[: max(1, len(covered) // 3)]
        cosine = self._reader.compare_whole(claim, self._library.read(window))
        return (coverage + (float(worst.mean()) if worst.size else 0.0) + cosine) / 3

    def _compare(self, claim: Wording, found: _Finding) -> _Finding:
        library, window = self._library, found.window
        passage, about = library.read(window), library.about(window)
        around = library.around(window)
        return replace(
            found, findings=find_differences(claim, passage, around, about, self._reader)
        )

    def _judge(self, claim: Wording, best: _Finding, lines: Passage) -> tuple[Verdict, str]:
        if best.score < self._least:  # what is said of something else contradicts nothing
            return Verdict.NOT_FOUND, "no passage says enough of it"
        if best.findings.differences:
            reason = best.findings.differences[0].reason
            return Verdict.CONTRADICTED, f"{reason} in {write_place(lines)}"
        if best.findings.unsaid:
            return Verdict.NOT_FOUND, f"“{best.findings.unsaid[0]}” is not said there"
        copying = find_copying(claim, self._library.read(best.window))
        if copying.share >= QUOTED and copying.telling == 1:
            return Verdict.QUOTED, "in nearly the same words"
        return Verdict.SUPPORTED, "not contradicted"

"""Check an answer against passages, sentence by sentence.

A sentence is compared with the windows of the passages that share most with it. One that says
enough of it and has another value in the same place contradicts it; one that lacks a number, a date
or a name of it does not say it; else it bears it out, as a quotation where the words are the same.
Nothing of this proves a sentence: ``supported`` says that nothing was found against it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate

import numpy as np

from memory_palace.features.checking.differences import (
    Difference,
    EmbedTokens,
    Findings,
    WordReader,
    find_copying,
    find_differences,
    pool,
)
from memory_palace.features.checking.wording import (
    Wording,
    find_sentences,
    read_prose,
    split_prose,
)
from memory_palace.language.words import PLAIN_WORD, share_idf
from memory_palace.models import Matrix
from memory_palace.notes.note import write_line_range


class Verdict(StrEnum):
    """What was found of a sentence, or of an answer, the best first."""

    QUOTED = "quoted"
    """A passage has it in nearly the same words, and nothing that carries meaning differs."""
    SUPPORTED = "supported"
    """A passage has it in other words, and nothing was found that differs: no proof."""
    NOT_FOUND = "not_found"
    """No passage is about it, or none says enough of it."""
    CONTRADICTED = "contradicted"
    """A passage says it with another number, unit, time or name, or denies it."""
    NOT_APPLICABLE = "not_applicable"
    """It says nothing that could be checked."""


ACCEPTED = frozenset({Verdict.QUOTED, Verdict.SUPPORTED})
REFUSED = frozenset({Verdict.CONTRADICTED, Verdict.NOT_FOUND})
_WORST_FIRST = (Verdict.CONTRADICTED, Verdict.NOT_FOUND, Verdict.SUPPORTED, Verdict.QUOTED)


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a note, 1-based and inclusive, that an answer is compared with."""

    note: str
    first_line: int
    last_line: int
    text: str
    about: str = ""
    """What else the note says of itself: its title, file name, day and front matter."""
    superseded: str = ""
    """What took its place and when, of a claim that bears out nothing any more."""

    @property
    def place(self) -> str:
        """Note and lines, as ``show`` and ``verify --against`` take them."""
        return write_line_range(self.note, self.first_line, self.last_line)


@dataclass(frozen=True, slots=True)
class SentenceCheck:
    """One sentence of an answer."""

    text: str
    verdict: Verdict
    reason: str
    passage: Passage | None
    """The lines that bore it out or contradict it; ``None`` where nothing comes near."""
    differences: tuple[Difference, ...]
    score: float
    """How much of it the passage covers, from 0 to 1."""
    compared: tuple[Passage, ...] = ()
    """Of other notes that the search found for it, nearest first."""


def worst_verdict(checks: Iterable[SentenceCheck]) -> Verdict:
    """Return the worst verdict on some sentences: never a mean."""
    verdicts = {check.verdict for check in checks}
    return next((v for v in _WORST_FIRST if v in verdicts), Verdict.NOT_APPLICABLE)


# --- Windows ---

_TRIED = 8
"""Sentences that a claim is compared with word by word, of those that share most words with it, and
as many of those nearest in meaning."""
_AROUND = 200
"""Sentences of a long passage before and after a window that a number may be said in."""
MOST_EMBEDDED = 600
"""Sentences of all passages up to which all are compared in meaning; of more only those that share
words with the claim, so that a long text takes no hours."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a passage."""

    wording: Wording
    source: int
    """Place of the passage."""
    first: int
    last: int
    """Lines, counted from 0 in the passage."""


class PassageLibrary:
    """All passages to compare with; a window is the places of adjacent sentences in one."""

    def __init__(self, passages: Sequence[Passage], reader: WordReader) -> None:
        self._passages, self._reader = passages, reader
        self._about = [Wording(passage.about) for passage in passages]
        prose = [read_prose(p.text) for p in passages]
        read = [
            [Sentence(Wording(text), source, *lines) for text, *lines in _locate(text)]
            for source, text in enumerate(prose)
        ]
        self.sentences = [sentence for sentences in read for sentence in sentences]
        ends = accumulate(map(len, read))
        self._bounds = [range(end - len(part), end) for end, part in zip(ends, read, strict=True)]
        self._postings: dict[str, list[int]] = defaultdict(list)
        for at, sentence in enumerate(self.sentences):
            for stem in _telling_stems(sentence.wording):
                self._postings[stem].append(at)
        self._joined: dict[range, Wording] = {}
        self._pooled = None
        if reader.by_meaning and 0 < len(self.sentences) <= MOST_EMBEDDED:
            self._pooled = np.stack([pool(reader.embed(s.wording)) for s in self.sentences])

    def find_near(self, claim: Wording) -> list[int]:
        """Return places of the sentences that are nearest to a claim, by words and by meaning."""
        shared = defaultdict[int, float](float)
        for stem in _telling_stems(claim):
            places = self._postings.get(stem, ())
            for at in places:
                shared[at] += share_idf(len(places), len(self.sentences))
        found = [
            at for at, _ in sorted(shared.items(), key=lambda item: (-item[1], item[0]))[:_TRIED]
        ]
        if self._pooled is not None:
            cosines = self._pooled @ pool(self._reader.embed(claim))
            found += map(int, np.argsort(-cosines, kind="stable")[:_TRIED])
        return list(dict.fromkeys(found))

    def windows_of(self, at: int) -> Iterator[range]:
        """Yield a sentence alone, then with the one before, the one after, and both."""
        places = self._bounds[self.sentences[at].source]
        for start, end in ((at, at + 1), (at - 1, at + 1), (at, at + 2), (at - 1, at + 2)):
            if places.start <= start and end <= places.stop:
                yield range(start, end)

    def read(self, window: range) -> Wording:
        if window not in self._joined:
            parts = [self.sentences[at].wording for at in window]
            self._joined[window] = parts[0] if len(parts) == 1 else Wording.join(parts)
        return self._joined[window]

    def around(self, window: range) -> Wording:
        """Return the passage that a window is in, of a long one some hundred sentences of it."""
        places = self._bounds[self.sentences[window.start].source]
        if len(places) > 2 * _AROUND:
            first = max(places.start, window.start // _AROUND * _AROUND - _AROUND)
            places = range(first, min(places.stop, first + 3 * _AROUND))
        return self.read(places)

    def about(self, window: range) -> Wording:
        """Return what the note says of itself beside its text."""
        return self._about[self.sentences[window.start].source]

    def locate(self, window: range) -> Passage:
        """Return the sentences of a window, and the lines they are on, which may hold others."""
        first, last = self.sentences[window[0]], self.sentences[window[-1]]
        passage = self._passages[first.source]
        start = passage.first_line
        text = self.read(window).text
        return Passage(passage.note, start + first.first, start + last.last, text)


def _telling_stems(wording: Wording) -> dict[str, None]:
    """Return each stem that tells something once, in order; numbers too: rows differ in them."""
    return dict.fromkeys(word.stem for word in wording.words if word.is_telling)


def _locate(prose: str) -> Iterator[tuple[str, int, int]]:
    """Yield each sentence with its first and last line, counted from 0.

    Sentences have the words of the text in order, without marks of lists.
    """
    words = [
        (word[0], number)
        for number, line in enumerate(prose.split("\n"))
        for word in PLAIN_WORD.finditer(line)
    ]
    at = 0
    for sentence in split_prose(prose):
        lines = []
        for word in PLAIN_WORD.findall(sentence):
            while at < len(words) and words[at][0] != word:
                at += 1
            if at < len(words):
                lines.append(words[at][1])
                at += 1
        if lines:
            yield sentence, lines[0], lines[-1]


# --- Checking ---

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

    window: range
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
) -> tuple[SentenceCheck, ...]:
    """Check every sentence of an answer against passages.

    What ``drop_tokens`` takes out claims nothing. ``embed_tokens`` must be of the embedder that the
    thresholds were chosen for; without it words are compared by their stems.
    """
    reader = WordReader(embed_tokens)
    checker = _Checker([each for each in passages if not each.superseded], reader)
    past = [(each.superseded, _Checker([each], reader)) for each in passages if each.superseded]
    claims = find_sentences(response, drop_tokens)
    return tuple(_overrule(checker.check(each), each, past) for each in claims)


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
        covered = dict[range, Matrix]()
        for near in self._library.find_near(claim):
            for window in self._library.windows_of(near):
                for at in window:
                    if at not in rows:
                        sentence = self._library.sentences[at].wording
                        rows[at] = self._cover(claim, sentence)[telling]
                inside = [rows[at] for at in window]
                about = self._cover(claim, self._library.about(window))[telling]
                covered[window] = np.max([*inside, about], axis=0)

        def rank(window: range) -> float:
            row = covered[window]
            return float(row.mean()) - _WIDER * (len(window) - 1) if row.size else 0.0

        chosen = list[range]()
        for window in sorted(covered, key=lambda each: (-rank(each), each.start, each.stop)):
            is_as_near = not chosen or rank(window) >= rank(chosen[0]) - _AS_NEAR
            if is_as_near and not any({*window} & {*other} for other in chosen):
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

    def _score(self, claim: Wording, window: range, covered: Matrix) -> float:
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
        passage, around = library.read(window), library.around(window)
        about = library.about(window)
        differing = find_differences(claim, passage, around, about, self._reader)
        return replace(found, findings=differing)

    def _judge(self, claim: Wording, best: _Finding, lines: Passage) -> tuple[Verdict, str]:
        if best.score < self._least:  # what is said of something else contradicts nothing
            return Verdict.NOT_FOUND, "no passage says enough of it"
        if best.findings.differences:
            reason = best.findings.differences[0].reason
            return Verdict.CONTRADICTED, f"{reason} in {lines.place}"
        if best.findings.unsaid:
            return Verdict.NOT_FOUND, f"“{best.findings.unsaid[0]}” is not said there"
        copying = find_copying(claim, self._library.read(best.window))
        if copying.share >= QUOTED and copying.telling == 1:
            return Verdict.QUOTED, "in nearly the same words"
        return Verdict.SUPPORTED, "not contradicted"

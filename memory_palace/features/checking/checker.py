"""Check an answer against passages, sentence by sentence.

Each sentence (claim) is compared with windows of one to three passage sentences. Another value in
the same place contradicts the claim; a number, date or name missing from the note leaves it not
found; else the window supports it, or quotes it if the words are nearly the same. ``supported`` is
no proof: no difference was found.
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
from memory_palace.features.checking.wording import Wording, find_sentences, read_prose, split_prose
from memory_palace.language.words import PLAIN_WORD, share_idf
from memory_palace.models import Matrix
from memory_palace.notes.note import write_line_range


class Verdict(StrEnum):
    """What was found of a sentence, or of an answer, the best first."""

    QUOTED = "quoted"
    """A passage says it in nearly the same words, without a difference in value."""
    SUPPORTED = "supported"
    """A passage says it in other words and no difference was found: no proof."""
    NOT_FOUND = "not_found"
    """No passage is similar enough, or a value of the sentence is missing from the note."""
    CONTRADICTED = "contradicted"
    """A passage says it with another number, unit, time or name, or denies it."""
    NOT_APPLICABLE = "not_applicable"
    """The sentence states nothing that can be checked."""


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
    """Title, path and front matter of the note, as one text."""
    superseded: str = ""
    """For a superseded claim the date and its successors, as text; else empty."""

    @property
    def place(self) -> str:
        """Note and line range in the syntax of ``show`` and ``verify --against``."""
        return write_line_range(self.note, self.first_line, self.last_line)


@dataclass(frozen=True, slots=True)
class SentenceCheck:
    """One sentence of an answer, with its verdict and the deciding passage."""

    text: str
    verdict: Verdict
    reason: str
    passage: Passage | None
    """The lines that support or contradict it, else the nearest ones; ``None`` if none is near."""
    differences: tuple[Difference, ...]
    score: float
    """Similarity of the passage to the sentence, from 0 to 1."""
    compared: tuple[Passage, ...] = ()
    """Passages of other notes that the search found for the sentence, nearest first."""


def worst_verdict(checks: Iterable[SentenceCheck]) -> Verdict:
    """Return the worst verdict of the sentences; ``NOT_APPLICABLE`` if none can be checked."""
    verdicts = {check.verdict for check in checks}
    return next((v for v in _WORST_FIRST if v in verdicts), Verdict.NOT_APPLICABLE)


# --- Windows ---

_TRIED = 8
"""Candidate sentences per claim: as many by weight of shared stems, as many again by cosine."""
_AROUND = 200
"""Sentences per block; context of a window in a long passage is its block and both neighbours."""
MOST_EMBEDDED = 600
"""Most sentences of all passages that are embedded; with more, shared stems alone select the
candidates, which bounds the time."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a passage, with its source and lines."""

    wording: Wording
    source: int
    """Index of the passage."""
    first: int
    last: int
    """First and last line, 0-based within the passage."""


class PassageLibrary:
    """Inverted index of passage sentences; a window is a range of adjacent ones in a passage."""

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
        """Return the sentences nearest to a claim, by IDF of shared stems and by cosine."""
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
        """Return the passage around a window; of a long one at most ``3 * _AROUND`` sentences."""
        places = self._bounds[self.sentences[window.start].source]
        if len(places) > 2 * _AROUND:
            first = max(places.start, window.start // _AROUND * _AROUND - _AROUND)
            places = range(first, min(places.stop, first + 3 * _AROUND))
        return self.read(places)

    def about(self, window: range) -> Wording:
        return self._about[self.sentences[window.start].source]

    def locate(self, window: range) -> Passage:
        """Return a window's text with its line range, whose lines may hold other sentences too."""
        first, last = self.sentences[window[0]], self.sentences[window[-1]]
        passage = self._passages[first.source]
        start = passage.first_line
        text = self.read(window).text
        return Passage(passage.note, start + first.first, start + last.last, text)


def _telling_stems(wording: Wording) -> dict[str, None]:
    """Return the distinct content stems in order, with numbers, which tell table rows apart."""
    return dict.fromkeys(word.stem for word in wording.words if word.is_telling)


def _locate(prose: str) -> Iterator[tuple[str, int, int]]:
    """Yield each sentence with its first and last line, 0-based.

    Sentences keep the words of the text in order, without list markers.
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
"""Least share of a claim's words matched in order for a quotation; all content words must be."""
LEAST_MEANING = 0.40
LEAST_WORDS = 0.32
"""Least score of a supporting window, with vectors and with stems alone."""
_WIDER = 0.04
"""Penalty on a window's rank for each sentence after its first."""
_AS_NEAR = 0.03
"""Windows ranked below the best by at most this margin are candidates too."""
_READ = 3
"""Most windows per claim that are compared for differences."""

MEASURED_EMBEDDER = "minilm"
"""Embedder that ``LEAST_MEANING`` was tuned for; other models' cosines have another scale."""
_UNREAD = Findings()


@dataclass(frozen=True, slots=True)
class _Finding:
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

    ``drop_tokens`` removes verification tokens, which state nothing. ``embed_tokens`` must belong
    to ``MEASURED_EMBEDDER``, for which the thresholds hold; without it words are compared by stems.
    """
    reader = WordReader(embed_tokens)
    checker = _Checker([each for each in passages if not each.superseded], reader)
    past = [(each.superseded, _Checker([each], reader)) for each in passages if each.superseded]
    claims = find_sentences(response, drop_tokens)
    return tuple(_overrule(checker.check(each), each, past) for each in claims)


def _overrule(
    check: SentenceCheck, claim: Wording, past: Sequence[tuple[str, _Checker]]
) -> SentenceCheck:
    """Return a check, contradicted if a superseded claim supports the sentence better."""
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
        """Return the best-covering window of a claim, then disjoint ones almost as good."""
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
        """Return whether a clear window contains the claim's values that another window has not."""
        theirs = set(self._library.read(other.window).stems)
        mine = (Wording(difference.mine).stems for difference in found.findings.differences)
        return other.is_clear and all(theirs.issuperset(stems) for stems in mine)

    def _cover(self, claim: Wording, text: Wording) -> Matrix:
        best: Matrix = self._reader.compare(claim, text).max(axis=1, initial=0.0)
        return best

    def _score(self, claim: Wording, window: range, covered: Matrix) -> float:
        """Return the similarity of a window to a claim, from 0 to 1.

        With vectors, the mean of three: coverage (mean over the claim's words of the best match),
        coverage of the worst third, cosine of the texts. With stems alone, coverage.
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
        if best.score < self._least:  # about something else: no contradiction
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

"""Sentences of passages with their lines, and the windows in which a claim may be found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from memory_palace.features.checking.alignment import WordReader, pool
from memory_palace.features.checking.verdicts import Passage
from memory_palace.features.checking.wording import Wording, read_prose, split_prose
from memory_palace.language.words import PLAIN_WORD, share_idf

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


@dataclass(frozen=True, slots=True)
class TextWindow:
    """Adjacent sentences of one passage, from ``start`` up to ``end``."""

    start: int
    end: int

    def overlaps(self, other: TextWindow) -> bool:
        return self.start < other.end and other.start < self.end


class PassageLibrary:
    """All passages that an answer is compared with."""

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
        self._joined: dict[TextWindow, Wording] = {}
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

    def windows_of(self, at: int) -> Iterator[TextWindow]:
        """Yield a sentence alone, then with the one before, the one after, and both."""
        places = self._bounds[self.sentences[at].source]
        for start, end in ((at, at + 1), (at - 1, at + 1), (at, at + 2), (at - 1, at + 2)):
            if places.start <= start and end <= places.stop:
                yield TextWindow(start, end)

    def read(self, window: TextWindow) -> Wording:
        if window not in self._joined:
            parts = [s.wording for s in self.sentences[window.start : window.end]]
            self._joined[window] = parts[0] if len(parts) == 1 else Wording.join(parts)
        return self._joined[window]

    def around(self, window: TextWindow) -> Wording:
        """Return the passage that a window is in, of a long one some hundred sentences of it."""
        places = self._bounds[self.sentences[window.start].source]
        if len(places) > 2 * _AROUND:
            first = max(places.start, window.start // _AROUND * _AROUND - _AROUND)
            places = range(first, min(places.stop, first + 3 * _AROUND))
        return self.read(TextWindow(places.start, places.stop))

    def about(self, window: TextWindow) -> Wording:
        """Return what the note says of itself beside its text."""
        return self._about[self.sentences[window.start].source]

    def locate(self, window: TextWindow) -> Passage:
        """Return the sentences of a window, and the lines they are on, which may hold others."""
        first, last = self.sentences[window.start], self.sentences[window.end - 1]
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

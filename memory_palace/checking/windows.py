"""The sentences of a passage with their lines, alone and with those that follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from memory_palace.checking.answers import read_prose
from memory_palace.checking.verdicts import Passage
from memory_palace.checking.wording import Wording
from memory_palace.language.sentences import split_sentences
from memory_palace.language.tokens import PLAIN_WORD

_WIDEST = 3
"""Sentences that one of an answer may sum up."""


@dataclass(frozen=True, slots=True)
class Window:
    """Adjacent sentences of a passage."""

    wording: Wording
    lines: Passage
    around: Wording
    """The whole passage."""


@dataclass(frozen=True)
class Source:
    """One passage, read."""

    passage: Passage

    @cached_property
    def prose(self) -> str:
        """Its text without markup; every line stays where it is."""
        return read_prose(self.passage.text)

    @cached_property
    def around(self) -> Wording:
        """All of it."""
        return Wording(". ".join(line.rstrip(" .") for line in split_sentences(self.prose)) + ".")

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """One sentence, two and three adjacent ones, in order."""
        sentences = list(_locate(self.prose))
        return tuple(
            self._join(sentences[start : start + width])
            for width in range(1, _WIDEST + 1)
            for start in range(len(sentences) - width + 1)
        )

    def _join(self, sentences: Sequence[tuple[str, int, int]]) -> Window:
        first, last = sentences[0][1], sentences[-1][2]
        lines = self.passage.text.split("\n")[first : last + 1]
        start = self.passage.first_line
        place = Passage(self.passage.note, start + first, start + last, "\n".join(lines))
        return Window(Wording(" ".join(text for text, _, _ in sentences)), place, self.around)


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
    for sentence in split_sentences(prose):
        wanted = PLAIN_WORD.findall(sentence)
        first = last = words[min(at, len(words) - 1)][1] if words else 0
        for place, word in enumerate(wanted):
            while at < len(words) and words[at][0] != word:
                at += 1
            if at == len(words):
                break
            last = words[at][1]
            first = last if place == 0 else first
            at += 1
        yield sentence, first, last

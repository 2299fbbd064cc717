"""What a response claims: its sentences, without tokens and without talk about remembering."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from memory_palace.checking.answers import read_answer, split_prose
from memory_palace.checking.attempts import drop_attempts
from memory_palace.checking.numbers import Number, find_numbers
from memory_palace.checking.units import UNIT_WORDS
from memory_palace.language.detect import Tongue, tell_tongue
from memory_palace.language.sentences import split_sentences
from memory_palace.language.tokens import UNSPACED, plain_words, stem_word, tokenize
from memory_palace.language.word_lists import NEGATIONS, STOP_STEMS, is_negation

ABOUT_REMEMBERING = frozenset(
    tokenize(
        "recall remember memory palace picture image token verify verification see help hope "
        "answer note know think believe goes far"
    )
)
DENIALS = frozenset(tokenize(" ".join(sorted(NEGATIONS))))
"""Stems of words that deny, and are no opposites of anything beside that."""
_NO_DENIAL = re.compile(
    r"\b(?:not|no) (?:only|more than|less than|later than|earlier than)\b", re.I
)
"""Says at most or at least, and denies nothing."""
_FRAME = re.compile(r"\A[\s,;:.()–—-]*(?:([^:.!?]{1,40}):\s+)?")
_STOPPED = STOP_STEMS | DENIALS.union(
    tokenize("also much many us let get got like only even still just yet")
)
UNITS = frozenset(tokenize(" ".join(UNIT_WORDS)))
"""Stems of units, which tell nothing about what a number is said of."""
_LETTER = rf"(?:(?!{UNSPACED})[^\W_])"
_WORD = re.compile(
    rf"\d++(?:[.,:]\d++)*+(?:st|nd|rd|th)?\b|{UNSPACED}|{_LETTER}++(?:['’]{_LETTER}++)*+|[%€$£°]"
)
_ENDS = '.!?:;…"”’)。！？'
"""What ends a sentence. A list item or a heading gets a full stop where it is joined to another."""


class WrittenWord(NamedTuple):
    """One word as it stands in a text."""

    key: str
    """Casefolded, with straight apostrophes."""
    stem: str
    start: int
    end: int
    is_telling: bool
    """Whether it says something by itself: no function word."""


class Wording:
    """A piece of text, as words, numbers and negations."""

    def __init__(self, text: str, parts: tuple[Wording, ...] = ()) -> None:
        self.text = " ".join(text.split())
        self.parts = parts
        """What it was joined of; none where it is one piece."""

    @classmethod
    def join(cls, parts: Sequence[Wording]) -> Wording:
        """Return adjacent sentences as one piece of text."""
        ended = (part.text if part.text[-1:] in _ENDS else f"{part.text}." for part in parts)
        return cls(" ".join(ended), tuple(parts) if len(parts) > 1 else ())

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """All stems, in order."""
        return tuple(tokenize(self.text))

    @cached_property
    def words(self) -> tuple[WrittenWord, ...]:
        """All words in order as they are written; a number with its point is one of them."""
        return tuple(map(_read_word, _WORD.finditer(self.text)))

    def cut(self, places: Sequence[int]) -> str:
        """Return the text from the first to the last of some adjacent words, as it is written."""
        return self.text[self.words[places[0]].start : self.words[places[-1]].end] if places else ""

    @cached_property
    def sentences(self) -> tuple[Wording, ...]:
        """Its sentences."""
        return self.parts or tuple(Wording(text) for text in split_sentences(self.text))

    @cached_property
    def content(self) -> tuple[str, ...]:
        """Stems that say something, each once, in order; numbers are apart."""
        spelled = {stem for number in self.numbers for stem in tokenize(number.text)}
        return tuple(
            stem
            for stem in dict.fromkeys(self.stems)
            if stem not in _STOPPED and stem not in spelled and not stem.isdigit()
        )

    @cached_property
    def matter(self) -> frozenset[str]:
        """Its content without units."""
        return frozenset(self.content) - UNITS

    def share_matter(self, other: Wording) -> float:
        """Return the share of its matter, from 0 to 1, that another piece of text has too."""
        return len(self.matter & other.matter) / len(self.matter) if self.matter else 0.0

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Its numbers; a word that can be read in two ways gives both."""
        return tuple(find_numbers(self.text))

    @cached_property
    def negations(self) -> int:
        """How many words deny something."""
        return sum(map(is_negation, plain_words(_NO_DENIAL.sub(" ", self.text))))

    @cached_property
    def tongue(self) -> Tongue:
        """Whether it is in English."""
        return tell_tongue(self.text)

    @cached_property
    def says_something(self) -> bool:
        """Whether it claims what could be checked: two telling words, or one with a number."""
        if self.text.rstrip("\"'”’)*_ ").endswith(("?", ":")):
            return False
        telling = [stem for stem in self.content if stem not in ABOUT_REMEMBERING]
        return len(telling) >= 2 or bool(telling and self.numbers)


def find_sentences(response: str, tokens: Iterable[str] = ()) -> list[Wording]:
    """Return the sentences of a response in order, without verification tokens."""
    text = read_answer(response)
    for token in tokens:
        text = drop_attempts(text, token)
    wordings = (Wording(_drop_frame(part)) for part in split_prose(text))
    return [wording for wording in wordings if wording.words]


def _drop_frame(sentence: str) -> str:
    """Drop what leads up to a claim, ``From memory:``, and marks that a token has left behind."""
    frame = _FRAME.match(sentence)
    words = set(Wording(frame[1] or "").content) if frame else set()
    is_frame = frame is not None and words <= ABOUT_REMEMBERING
    return sentence[frame.end() :] if frame and is_frame else sentence


def _read_word(match: re.Match[str]) -> WrittenWord:
    key = match[0].casefold().replace("’", "'")
    stem = stem_word(key.removesuffix("'s"))
    is_telling = stem not in _STOPPED or match[0] == "US"
    return WrittenWord(key, stem, match.start(), match.end(), is_telling)

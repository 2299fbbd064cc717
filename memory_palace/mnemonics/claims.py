"""What a response claims: its sentences, without tokens and without talk about remembering."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from memory_palace.language.markers import drop_markers
from memory_palace.language.sentences import split_sentences
from memory_palace.language.tagged_words import Part, split_words
from memory_palace.language.tokens import PLAIN_WORD, plain_words, tokenize
from memory_palace.language.word_lists import NEGATIONS, STOP_STEMS, is_negation
from memory_palace.markdown.prose import strip_markup
from memory_palace.mnemonics.numbers import UNIT_WORDS, Number, find_numbers
from memory_palace.mnemonics.verification_tokens import fold_words

_CLAUSE = re.compile(
    r"[,;()–—]\s+|(?<!\bnot)(?<!\s)\s+(?:and|but|while|whereas|since|because|which|although|so)\s+",
    re.IGNORECASE,
)
_ABOUT_REMEMBERING = frozenset(
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
_NEAR = 2 / 3
"""Share of a token's words side by side that makes a phrase an attempt at the token."""


_DENYING = frozenset(
    tokenize(
        "block forbid forbidden prevent refuse deny prohibit ban lack miss missing fail stop "
        "exclude except avoid impossible nothing shut spare skip"
    )
)
"""Words that deny by their meaning: beside them the count of negations says little."""


class Wording:
    """A piece of text, as words, numbers and negations."""

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """All stems, in order."""
        return tuple(tokenize(self.text))

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
    def numbers(self) -> tuple[Number, ...]:
        """Its numbers; a word that can be read in two ways gives both."""
        return tuple(find_numbers(self.text))

    @cached_property
    def nouns(self) -> tuple[str, ...]:
        """Stems of the words that are in no list of verbs, adjectives and function words."""
        words = (word for word in split_words(self.text) if word.part == Part.NOUN)
        stems = (stem for word in words for stem in tokenize(word.key))
        content = frozenset(self.content)
        return tuple(stem for stem in dict.fromkeys(stems) if stem in content)

    @cached_property
    def negations(self) -> int:
        """How many words deny something."""
        return sum(map(is_negation, plain_words(_NO_DENIAL.sub(" ", self.text))))

    @cached_property
    def denying(self) -> frozenset[str]:
        """Stems that deny by their meaning."""
        return _DENYING.intersection(self.stems)

    @cached_property
    def turns(self) -> bool:
        """Whether it has a condition under which the opposite holds."""
        return bool({"until", "unless", "except"}.intersection(self.stems))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Content and numbers in the order of the text, each once; units are passed over."""
        found = [(number.start, f"={number.value}") for number in self.numbers]
        content = frozenset(self.content) - UNITS
        found += [
            (match.start(), stem)
            for match in PLAIN_WORD.finditer(self.text)
            for stem in tokenize(match[0])
            if stem in content
        ]
        return tuple(dict.fromkeys(key for _, key in sorted(found)))

    @cached_property
    def clauses(self) -> tuple[Wording, ...]:
        """Its clauses that hold a word or a number."""
        parts = (Wording(part) for part in _CLAUSE.split(self.text))
        return tuple(part for part in parts if part.content or part.numbers)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A phrase of a response that stands where a token would."""

    phrase: str
    is_exact: bool


def find_claims(response: str, tokens: Iterable[str] = ()) -> list[Wording]:
    """Return the sentences that claim something: two words of content, or a number."""
    text = strip_markup(drop_markers(response))
    for token in tokens:
        text = _drop_attempts(text, token)
    wordings = (Wording(_drop_frame(part)) for part in split_sentences(text))
    return [wording for wording in wordings if _says_something(wording)]


def find_attempts(response: str, token: str) -> list[Attempt]:
    """Return phrases that are the token, or nearly: two thirds of its words, side by side."""
    return [
        Attempt(response[start:end], is_exact) for start, end, is_exact in _spans(response, token)
    ]


def _drop_frame(sentence: str) -> str:
    """Drop what leads up to a claim, ``From memory:``, and marks that a token has left behind."""
    frame = _FRAME.match(sentence)
    words = set(Wording(frame[1] or "").content) if frame else set()
    is_frame = frame is not None and words <= _ABOUT_REMEMBERING
    return sentence[frame.end() :] if frame and is_frame else sentence


def _drop_attempts(text: str, token: str) -> str:
    for start, end, _ in reversed(list(_spans(text, token))):
        text = f"{text[:start]} {text[end:]}"
    return text


def _spans(text: str, token: str) -> Iterator[tuple[int, int, bool]]:
    wanted = fold_words(token)
    if not wanted:
        return
    found = list(PLAIN_WORD.finditer(text))
    words = [" ".join(fold_words(match[0])) for match in found]
    at = 0
    while at < len(words):
        window = words[at : at + len(wanted)]
        first = _place_of(window[0], wanted)
        if first is None or _share_alike(window, wanted) < _NEAR:
            at += 1
            continue
        while _place_of(window[-1], wanted) is None:
            window.pop()
        stop = at + len(window) - 1
        last = _place_of(window[-1], wanted)
        start = _widen(text, found, at, -first)
        end = _widen(text, found, stop, len(wanted) - 1 - (last or 0))
        yield found[start].start(), found[end].end(), window == wanted
        at = end + 1


def _widen(text: str, found: Sequence[re.Match[str]], at: int, steps: int) -> int:
    """Take in the words that stand where other words of the token would, no mark between."""
    for _ in range(abs(steps)):
        after = at + (1 if steps > 0 else -1)
        if not 0 <= after < len(found):
            break
        gap = text[
            min(found[at].end(), found[after].end()) : max(found[at].start(), found[after].start())
        ]
        if gap.strip(" -"):
            break
        at = after
    return at


def _share_alike(window: Sequence[str], wanted: Sequence[str]) -> float:
    left = list(wanted)
    for word in window:
        match = next((other for other in left if _is_alike(word, other)), None)
        if match is not None:
            left.remove(match)
    return 1 - len(left) / len(wanted)


def _place_of(word: str, wanted: Sequence[str]) -> int | None:
    return next((at for at, other in enumerate(wanted) if _is_alike(word, other)), None)


def _is_alike(word: str, other: str) -> bool:
    """Say whether two words are equal but for an ending."""
    common = min(len(word), len(other))
    return word == other or (common >= 4 and word[: common - 2] == other[: common - 2])


def _says_something(wording: Wording) -> bool:
    telling = [stem for stem in wording.content if stem not in _ABOUT_REMEMBERING]
    return len(telling) >= 2 or bool(telling and wording.numbers)

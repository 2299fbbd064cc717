"""SMASHIN SCOPE: detect and merge the twelve factors of a memory's image.

Eight factors are detected by words. Four cannot be (substitute, absurd, humor, symbols): they
count only if a person or a model has marked them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.resources import files

from memory_palace.features.memories.form import BY_WORDS, Factor, Mark
from memory_palace.language.numbers import find_numbers
from memory_palace.language.visible import drop_markers
from memory_palace.language.words import tokenize
from memory_palace.markdown.markup import strip_markup

BANDS = ((10, "excellent"), (7, "good"), (4, "moderate"), (0, "poor"))
"""Lowest score and name of each band (source document 000)."""

_SENSES = ("sound", "smell", "touch", "taste")
_YOU = re.compile(
    r"\byou(?:['’](?:re|ve|ll|d))?\s++\w++|\byour\s++\w++|(?<!\w)\w++\s++you\b", re.IGNORECASE
)
_BID = re.compile(
    r"(?:\A|[.!?;:]\s)\s*+([A-Z][a-z]++)\s++(?:the|an?|your|it|its|them|every|each|both)\b"
)
"""A capitalized first word of a sentence before its object: ``Put your cheek to the wood``."""
_SCALE = re.compile(
    r"\b(?:big|large|tall|long|wide|high|thick|heavy|small|fat|deep|broad|thin)\s++as\s++(?:an?|the)\b"
    r"|\b(?:bigger|larger|taller|longer|wider|higher|thicker|heavier|smaller|fatter|deeper|tinier)"
    r"\s++than\s++(?:an?|the|any)\b|(?<!\w)\w++[- ]sized\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
"""Words as written, without stemming, for the reason shown to people."""
_SHOWN = 4


def detect_factors(image: str) -> tuple[Mark, ...]:
    """Return a mark for each of the eight factors that words can show, in factor order."""
    text = strip_markup(drop_markers(image))
    marks = []
    for factor, (find, least) in _DETECTORS.items():
        found = list(dict.fromkeys(find(text)))
        marks.append(Mark(factor, len(found) >= least, ", ".join(found[:_SHOWN]), BY_WORDS))
    return tuple(marks)


def merge_marks(
    stored: Iterable[Mark], detected: Iterable[Mark], given: Iterable[Mark] = ()
) -> tuple[Mark, ...]:
    """Return one mark per factor: given before stored by people or models before detected.

    Stored marks of detectors are dropped, because the image may have changed since.
    """
    marks = {mark.factor: mark for mark in detected}
    marks |= {mark.factor: mark for mark in stored if mark.by != BY_WORDS}
    marks |= {mark.factor: mark for mark in given}
    return tuple(marks[factor] for factor in Factor if factor in marks)


def band_of(score: int) -> str:
    """Return the name of a score's band."""
    return next(name for least, name in BANDS if score >= least)


def _find_words(name: str) -> Callable[[str], Iterator[str]]:
    """Return a function that yields the phrases, then the words, of a list found in a text."""

    def find(text: str) -> Iterator[str]:
        yield from (phrase for phrase in _PHRASES.get(name, ()) if phrase in text.casefold())
        for match in _WORD.finditer(text.casefold()):
            if not _STEMS[name].isdisjoint(tokenize(match[0])):
                yield match[0]

    return find


def _senses(text: str) -> Iterator[str]:
    stems = set(tokenize(text))
    return (sense for sense in _SENSES if not _STEMS[sense].isdisjoint(stems))


def _parts(text: str) -> Iterator[str]:
    """Yield phrases that involve the reader (``you lift``, ``your cheek``) and imperatives."""
    yield from (" ".join(match[0].casefold().split()) for match in _YOU.finditer(text))
    for match in _BID.finditer(text):
        if not _BIDDABLE.isdisjoint(tokenize(match[1])):
            yield match[1].casefold()


def _sizes(text: str) -> Iterator[str]:
    """Yield words of size, and comparisons with a thing: ``as long as a tram``."""
    yield from _find_words("oversize")(text)
    yield from (" ".join(match[0].casefold().split()) for match in _SCALE.finditer(text))


def _quantities(text: str) -> Iterator[str]:
    """Yield numbers except 1, which is often an article, then words of quantity."""
    yield from (number.text for number in find_numbers(text) if number.value != 1)
    yield from _find_words("numbers")(text)


def _read_lists(name: str) -> dict[str, str]:
    text = files("memory_palace.features.memories").joinpath(name).read_text("utf-8")
    return dict(line.split(": ", 1) for line in text.splitlines() if not line.startswith("#"))


_STEMS = {
    name: frozenset(tokenize(words)) for name, words in _read_lists("smashin_words.txt").items()
}
_BIDDABLE = _STEMS["movement"] | frozenset(
    tokenize("bite close feel hear hold keep lay listen lower put set smell taste take touch")
)
_PHRASES = {
    name: phrases.split(", ") for name, phrases in _read_lists("smashin_phrases.txt").items()
}
_DETECTORS: Mapping[Factor, tuple[Callable[[str], Iterator[str]], int]] = {
    Factor.MOVEMENT: (_find_words("movement"), 2),
    Factor.SENSORY: (_senses, 2),
    Factor.INTERACT: (_parts, 1),
    Factor.NUMBERS: (_quantities, 1),
    Factor.COLOR: (_find_words("color"), 1),
    Factor.OVERSIZE: (_sizes, 1),
    Factor.POSITION: (_find_words("position"), 1),
    Factor.EMOTION: (_find_words("emotion"), 1),
}
"""Detector of each factor, and the least number of distinct findings that make it present."""

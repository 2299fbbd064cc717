"""Names of people, places and things: capitalised words, and entities that are known.

A capital at the start of a sentence is no evidence (SPEC R4): such a word is a name only where
it is known, stands capitalised inside a sentence of the same text, or begins a run of capitalised
words and is no ordinary word itself.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Container, Iterator, Sequence
from itertools import groupby

from memory_palace.language.vocabulary import FUNCTION_WORDS, word_set
from memory_palace.language.words import SENTENCE_ENDS, Part, Word

_JOINTS = word_set("of the de van von del der la le di da al bin and & for")
_MOST_JOINTS = 2
_LONGEST = 5
_ORDINARY = frozenset({Part.FUNCTION, Part.DETERMINER, Part.VERB, Part.PARTICIPLE, Part.NUMBER})
_NO_NAMES = FUNCTION_WORDS | word_set("march may i'm i'll ok mr mrs ms dr prof english")
_TITLE_SHARE = 0.5
_TITLE_WORDS = 4

Name = tuple[Word, ...]


def name_key(text: str) -> str:
    """Return the key of a name: NFKC, casefolded, single spaces, no possessive ending."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = " ".join(text.casefold().replace("’", "'").split())
    return text.removesuffix("'s")


def name_text(name: Sequence[Word]) -> str:
    """Return a name as it is shown."""
    *first, last = (word.written for word in name)
    return " ".join([*first, last[: len(name[-1].key)]])


def find_names(words: Sequence[Word], known: Container[str] = ()) -> list[Name]:
    """Return the names in order. ``known`` holds keys, as ``name_key`` makes them.

    Known names are found in any spelling; of two that overlap the longer stays.
    """
    found: list[Name] = []
    seen_inside = {
        word.key for word, is_start in _with_starts(words) if word.is_capital and not is_start
    }
    for sentence in _sentences(words):
        if _is_title(sentence):
            continue
        found += _capitalised(sentence, seen_inside, known)
    return [*found, *find_known(words, known)]


def find_known(words: Sequence[Word], known: Container[str]) -> Iterator[Name]:
    """Yield the known names among the words, in any spelling, the longest at each place."""
    place, count = 0, len(words)
    while place < count:
        for length in range(min(_LONGEST, count - place), 0, -1):
            span = words[place : place + length]
            if all(word.key for word in span) and " ".join(w.key for w in span) in known:
                yield tuple(span)
                place += length - 1
                break
        place += 1


def _with_starts(words: Sequence[Word]) -> Iterator[tuple[Word, bool]]:
    is_start = True
    for word in words:
        if word.part == Part.BREAK:
            is_start = is_start or word.written in SENTENCE_ENDS
        else:
            yield word, is_start
            is_start = False


def _sentences(words: Sequence[Word]) -> Iterator[list[Word]]:
    for is_end, group in groupby(words, key=lambda word: word.written in SENTENCE_ENDS):
        if not is_end:
            yield list(group)


def _is_title(sentence: Sequence[Word]) -> bool:
    """Say whether so many words are capitalised that capitals say nothing."""
    spelled = [word for word in sentence if word.key]
    capitals = sum(word.is_capital for word in spelled)
    return len(spelled) >= _TITLE_WORDS and capitals > _TITLE_SHARE * len(spelled)


def _capitalised(
    sentence: Sequence[Word], seen_inside: Collection[str], known: Container[str]
) -> Iterator[Name]:
    for start, run in _runs(sentence):
        name = run
        if start == 0 and not _is_name_at_start(run, seen_inside, known):
            name = run[1:]
        while name and _is_ordinary(name[0]):
            name = name[1:]
        while name and (_is_ordinary(name[-1]) or name[-1].key in _JOINTS):
            name = name[:-1]
        if name and name[0].is_capital and len(name[0].key) > 1:
            yield tuple(name[:_LONGEST])


def _runs(sentence: Sequence[Word]) -> Iterator[tuple[int, list[Word]]]:
    """Yield runs of capitalised words with at most two joints in a row, and where they start."""
    run: list[Word] = []
    joints = start = 0
    for place, word in enumerate(sentence):
        is_joint = word.key in _JOINTS and not word.is_capital
        if word.is_capital:
            start = place if not run else start
            run.append(word)
            joints = 0
            if not word.is_possessive:
                continue
        elif run and is_joint and joints < _MOST_JOINTS and word.key not in ("and", "for"):
            run.append(word)
            joints += 1
            continue
        if run:
            yield start, run[: len(run) - joints]
        run, joints = [], 0
    if run:
        yield start, run[: len(run) - joints]


def _is_name_at_start(
    run: Sequence[Word], seen_inside: Collection[str], known: Container[str]
) -> bool:
    first = run[0]
    if first.key in seen_inside or first.key in known:
        return True
    return len(run) > 1 and run[1].is_capital and first.part not in _ORDINARY


def _is_ordinary(word: Word) -> bool:
    return word.key in _NO_NAMES or word.part == Part.NUMBER or "'" in word.key

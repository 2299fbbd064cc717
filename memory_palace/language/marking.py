"""Where the words of a question stand in a text, to show them."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from memory_palace.language.tokens import TOKEN, UNSPACED_RUN, WORD_PART, Languages, tokenize
from memory_palace.language.word_lists import drop_stop_stems

Read: TypeAlias = Callable[[str], list[str]]
"""Gives the tokens of a text."""
_KANA = re.compile("[ぁ-ゖゝゞ]+|[ァ-ヺー-ヿ]+")
_WHOLE = 3
"""Kana in a row that count as a word, though they be part of a longer one."""


def find_marks(text: str, question: str, languages: Languages = ()) -> list[tuple[int, int]]:
    """Return the start and end of each word that a search for the question finds, in order.

    A word counts in any of its forms, a compound as a whole or by its parts. In a script without
    spaces it takes two characters in a row, or one that the question has alone; of kana three, or
    a whole word: the end of ``ノート`` is no word of ``リモート``. ``languages`` are those whose
    stemmers the search used.
    """
    read = partial(tokenize, languages=languages)
    asked = [token for match in TOKEN.finditer(question) for token in _asked(match[0], read)]
    stems = frozenset(drop_stop_stems(asked))
    spans = list(_join(_find(text, stems, read))) if stems else []
    kana = list(_KANA.finditer(text)) if spans else []
    return list(_without_chance(spans, kana, question)) if kana else spans


def _asked(written: str, read: Read) -> list[str]:
    """Return the tokens of a word; the figures of ``1.0.21`` stand for nothing by themselves."""
    tokens = read(written)
    if len(tokens) < 2 or UNSPACED_RUN.search(written):
        return tokens
    return [token for token in tokens if len(token) > 1]


def _find(text: str, stems: frozenset[str], read: Read) -> Iterator[tuple[int, int]]:
    for match in TOKEN.finditer(text):
        tokens = read(match[0])
        if stems.isdisjoint(tokens):
            continue
        if tokens[0] in stems and not UNSPACED_RUN.search(match[0]):
            yield match.span()
            continue
        for part in WORD_PART.finditer(text, *match.span()):
            yield from _find_in_part(text, part.start(), part.end(), stems, read)


def _find_in_part(
    text: str, start: int, end: int, stems: frozenset[str], read: Read
) -> Iterator[tuple[int, int]]:
    position = start
    for run in UNSPACED_RUN.finditer(text, start, end):
        yield from _find_word(text, position, run.start(), stems, read)
        yield from _find_characters(text, run.start(), run.end(), stems)
        position = run.end()
    yield from _find_word(text, position, end, stems, read)


def _find_word(
    text: str, start: int, end: int, stems: frozenset[str], read: Read
) -> Iterator[tuple[int, int]]:
    if end - start > 1 and not stems.isdisjoint(read(text[start:end])):
        yield start, end


def _find_characters(
    text: str, start: int, end: int, stems: Collection[str]
) -> Iterator[tuple[int, int]]:
    alone = {stem for stem in stems if len(stem) == 1} - {c for s in stems if len(s) > 1 for c in s}
    for place in range(start, end):
        if text[place : place + 2] in stems and place + 2 <= end:
            yield place, place + 2
        elif text[place] in alone:
            yield place, place + 1


def _without_chance(
    spans: Iterable[tuple[int, int]], kana: Sequence[re.Match[str]], question: str
) -> Iterator[tuple[int, int]]:
    """Take from the ends of spans one or two kana of a longer word, here and in the question."""
    asked = set(_KANA.findall(unicodedata.normalize("NFKC", question)))
    ends = [word.end() for word in kana]
    for start, end in spans:
        for word in kana[bisect_right(ends, start) :]:
            if word.start() >= end:
                break
            first, last = max(word.start(), start), min(word.end(), end)
            is_part = last - first < min(_WHOLE, word.end() - word.start())
            if not is_part or word[0][first - word.start() : last - word.start()] in asked:
                continue
            start, end = (last, end) if first == start else (start, first)
        if end > start:
            yield start, end


def _join(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join spans that overlap or touch."""
    held: tuple[int, int] | None = None
    for start, end in spans:
        if held and start <= held[1]:
            held = (held[0], max(end, held[1]))
            continue
        if held:
            yield held
        held = (start, end)
    if held:
        yield held

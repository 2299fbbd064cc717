"""Where the words of a question stand in a text, to show them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from memory_palace.language.tokens import (
    TOKEN,
    UNSPACED,
    UNSPACED_RUN,
    WORD_PART,
    Languages,
    tokenize,
)
from memory_palace.language.word_lists import drop_stop_stems

Read: TypeAlias = Callable[[str], list[str]]
"""Gives the tokens of a text."""
_PIECE = re.compile(f"{UNSPACED}+|[^{UNSPACED[1:]}+")


def find_marks(text: str, question: str, languages: Languages = ()) -> list[tuple[int, int]]:
    """Return the start and end of each word that a search for the question finds, in order.

    A word counts in any of its forms, a compound as a whole or by its parts. In a script without
    spaces it takes two characters in a row, or one that the question has alone. ``languages`` are
    those whose stemmers the search used.
    """
    read = partial(tokenize, languages=languages)
    asked = [token for match in TOKEN.finditer(question) for token in _asked(match[0], read)]
    stems = frozenset(drop_stop_stems(asked))
    return list(_join(_find(text, stems, read))) if stems else []


def _asked(written: str, read: Read) -> list[str]:
    """Return the tokens of a word; the figures of ``1.0.21`` stand for nothing by themselves."""
    tokens = read(written)
    if len(tokens) < 2 or UNSPACED_RUN.search(written):
        return tokens
    return [token for token in tokens if len(token) > 1]


def _find(text: str, stems: frozenset[str], read: Read) -> Iterator[tuple[int, int]]:
    paired = {character for stem in stems if len(stem) > 1 for character in stem}
    alone = {stem for stem in stems if len(stem) == 1} - paired
    for match in TOKEN.finditer(text):
        tokens = read(match[0])
        if stems.isdisjoint(tokens):
            continue
        if tokens[0] in stems and not UNSPACED_RUN.search(match[0]):
            yield match.span()
            continue
        for part in WORD_PART.finditer(text, *match.span()):
            for piece in _PIECE.finditer(text, *part.span()):
                if not UNSPACED_RUN.match(piece[0]):
                    if len(piece[0]) > 1 and not stems.isdisjoint(read(piece[0])):
                        yield piece.span()
                    continue
                for place in range(*piece.span()):
                    if text[place : place + 2] in stems and place + 2 <= piece.end():
                        yield place, place + 2
                    elif text[place] in alone:
                        yield place, place + 1


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

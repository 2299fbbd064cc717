"""The text of hits for a screen: the best of what was chosen, in as many rows as there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from memory_palace.language.sentences import cut_text
from memory_palace.language.tokens import Languages, tokenize
from memory_palace.language.word_lists import drop_stop_stems
from memory_palace.markdown.prose import shown_text
from memory_palace.models import ELLIPSIS, Piece

_CALLOUT = re.compile(r"^[> \t]*\[![^\[\]\n]*\][+-]?[ \t]*")
"""How a callout of Obsidian begins: ``> [!note] Its title``."""
_AGAIN = 0.5
"""Taken off for each piece of the same hit that is shown already, so that one does not get all."""


def shorten(
    texts: Sequence[Sequence[Piece]],
    question: str,
    *,
    most_rows: int,
    count_rows: Callable[[str], int],
    width: int,
    measure: Callable[[str], int] = len,
    languages: Languages = (),
) -> list[str]:
    """Return shorter texts of some hits, ``most_rows`` rows of a screen together.

    The best pieces of all of them stay whole, as many as there are rows for; each other hit has a
    row, of its best piece. ``measure`` gives the columns of a text, ``count_rows`` the rows.
    """
    chosen: list[list[Piece]] = [[] for _ in texts]
    terms = dict.fromkeys(drop_stop_stems(tokenize(question, languages=languages)), 1.0)
    left = most_rows - len(texts)
    waiting = [
        (piece, shown) for pieces, shown in zip(texts, chosen, strict=True) for piece in pieces
    ]
    while waiting:
        best = max(waiting, key=lambda pair: pair[0].value - _AGAIN * len(pair[1]))
        waiting.remove(best)
        piece, shown = best
        more = sorted([*shown, piece], key=lambda kept: kept.place)
        extra = count_rows(flow(more)) - (count_rows(flow(shown)) if shown else 1)
        if extra <= left:
            shown[:] = more
            left -= extra
    return [
        flow(shown) if shown else _row_of(pieces, terms, width, measure, languages)
        for pieces, shown in zip(texts, chosen, strict=True)
    ]


def flow(pieces: Sequence[Piece]) -> str:
    """Join pieces for reading: no line ends inside of sentences, no empty lines, ``…`` at gaps."""
    text, place = "", 0
    for piece in pieces:
        if text and piece.place == place + 1:
            text += "\n" if "\n" in piece.joint else " "
        elif text:
            text += f" {ELLIPSIS}\n"
        text += piece.text if piece.is_verbatim else plain_line(piece.text)
        place = piece.place
    return text


def plain_line(text: str) -> str:
    """Put a piece on one line, links as the words they show; quotes, bold and HTML lose marks."""
    first, *rest = text.split("\n")
    first = _CALLOUT.sub("", first)
    return drop_marks(" ".join([first, *(more.lstrip(" \t>") for more in rest)]))


def drop_marks(text: str) -> str:
    """Return a text as people see it, on one line."""
    return " ".join(shown_text(text).split())


def _row_of(
    pieces: Sequence[Piece],
    terms: Mapping[str, float],
    width: int,
    measure: Callable[[str], int],
    languages: Languages,
) -> str:
    best = max(pieces, key=lambda piece: piece.value, default=None)
    if best is None:
        return ""
    return cut_text(plain_line(best.text), terms, width, measure=measure, languages=languages)

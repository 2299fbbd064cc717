"""Tokens of a text: what each word, number and sign can be in an expression of time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memory_palace.language.time.lexicon import Lexicon, TimeWord, read_hints
from memory_palace.language.time.spans import FIRST_YEAR, LAST_YEAR, Token

PIECE = re.compile(
    r"(?P<iso>(?<![\w./-])(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])(?![\w./-])"
    r"|(?<![\w./])(?<![^\W\d]-)[12]\d{3}(?P<s>[-/.])\d{1,2}(?P=s)\d{1,2}(?!\d|[/.]\d|-\d\d?(?!\d)))"
    r"|(?P<week>(?<![\w./-])[12]\d{3}-?w\d{1,2}(?![\w-]))"
    r"|(?P<date>(?<![\w./])(?<!\d-)\d{1,2}(?P<p>[./-])\d{1,2}(?P=p)(?:\d{4}|\d\d)(?![\w/-]|[.,]\d)"
    r"|(?<![\w./])\d{1,2}\. \d{1,2}\. ?(?:19|20)\d\d(?!\w))"
    r"|(?P<month>(?<![\w./-])(?:[12]\d{3}-\d\d|\d{1,2}[./][12]\d{3}|[12]\d{3}/\d\d)(?![\w/-]|[.,]\d))"
    r"|(?P<dotted>(?<![\w./])(?<!\d-)\d{1,2}\.\d{1,2}\.(?!\w))"
    r"|(?P<slashed>(?<![\w./-])\d{1,2}/\d{1,2}(?![\w/-]|[.,]\d))"
    r"|(?P<part>(?<![\w./-])(?:[12]\d{3}[- ]?)?(?:[qt][1-4]|h[12]|k?w\d\d?|[1-4]t)"
    r"(?:/(?:19|20)\d\d)?(?!\w))"
    r"|(?P<decade>(?<![\w./-])'?(?:[12]\d)?\d0(?:'?s|ern?)(?!\w))"
    r"|(?P<short>(?<!\w)'\d\d(?!\w))"
    r"|(?P<none>(?!\d\d?,[12]\d{3}(?!\d))\d+(?:[.:,/]\d+)++|(?<=[^\W\d])\d+|(?<=[^\W\d]-)\d\d?(?!\d)|(?<=[./_:#$€£%+=\\@v])\d+|\d+(?=[%$€£_]))"
    r"|(?P<ordinal>\d{1,2}(?:st|nd|rd|th|er|ere|re|eme|e|o|a|º|ª|°|te|ten)(?!\w))"
    r"|(?P<number>\d+(?!\w))"
    r"|(?P<word>[^\W\d_]+)"
    r"|(?P<sign>[-~,.'/&])"
    r"|(?P<other>\w+|[^\w\s])"
)
"""What a text of letters is made of."""
_SIGNS = {"~": "-"}
_NUMERIC = {"iso": "1", "date": "1", "dotted": "1", "month": "2", "slashed": "3", "week": "4"}
_NUMERIC |= {"part": "5"}
_ABBREVIATED = "MkWN#U"
_HINT = re.compile(
    r"[^\W\d_]{2,}|(?P<number>(?:19|20|21)\d\d|\d[./-]\d|\b[qwht][1-5]|\d0(?:s|er)\b|'\d\d\b)"
)
_SHORT_TEXT, _AROUND = 300, 60
"""Characters: a longer text is read only as far around its hints as an expression can be long."""
_WIDEST_GAP, _MOST_DIGITS, _LONGEST_SHORT = 2, 4, 3


class Scrap(NamedTuple):
    """A stretch of a folded text."""

    kind: str
    text: str
    start: int
    end: int


def split_pieces(folded: str) -> list[Scrap]:
    """Return what a folded text is made of, in order; of a long one what is around its hints."""
    if len(folded) <= _SHORT_TEXT:
        return _split(folded, 0, len(folded))
    pieces: list[Scrap] = []
    for start, end in _find_stretches(folded):
        pieces += [Scrap("other", "|", start, start), *_split(folded, start, end)]
    return pieces


def _split(folded: str, start: int, end: int) -> list[Scrap]:
    found = PIECE.finditer(folded, start, end)
    return [Scrap(match.lastgroup or "", match[0], *match.span()) for match in found]


def _find_stretches(folded: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches of whole words around words and numbers that can tell a time."""
    words = read_hints().words
    first = last = -1
    for match in _HINT.finditer(folded):
        if match.lastgroup is None and match[0] not in words:
            continue
        start = max(0, match.start() - _AROUND)
        if start > last or last < 0:
            if last >= 0:
                yield first, last
            first = max(last, folded.rfind(" ", 0, start) + 1)
        last = folded.find(" ", match.end() + _AROUND)
        if last < 0:
            last = len(folded)
            break
    if last >= 0:
        yield first, last


def read_tokens(pieces: Sequence[Scrap], lexicon: Lexicon, text: str) -> list[Token]:
    """Return the tokens of a language; what it does not know parts them, as a bar each."""
    tokens: list[Token] = []
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        if tokens and _is_break(text, tokens[-1].end, piece):
            tokens.append(Token("|", "", piece.start, piece.start))
        entry, following = _look_up(pieces, place, lexicon)
        if entry:
            end = pieces[following - 1].end
            parts = entry.value.split() if entry.letter == "*" else [entry.letter + entry.value]
            for part in parts:
                tokens.append(Token(part[0], part[1:], piece.start, end, entry.is_weak))
        else:
            tokens.append(_read(piece, tokens[-1] if tokens else None))
        place = following
    return [token for token in tokens if token.letter not in "r"]


def _is_break(text: str, end: int, piece: Scrap) -> bool:
    gap = text[end : piece.start]
    return len(gap) > _WIDEST_GAP or ("\n" in gap and (piece.kind == "sign" or "\n\n" in gap))


def _look_up(pieces: Sequence[Scrap], place: int, lexicon: Lexicon) -> tuple[TimeWord | None, int]:
    """Return what a word means, with those behind it that belong to it, and the place after."""
    for entry in lexicon.words.get(pieces[place].text, ()):
        following = place + 1
        for word in entry.rest:
            while following < len(pieces) and pieces[following].text in ("-", "'", "."):
                following += 1
            if following == len(pieces) or pieces[following].text != word:
                break
            following += 1
        else:
            return entry, following
    return None, place + 1


def _read(piece: Scrap, before: Token | None) -> Token:
    """Return the token of a number or sign."""
    kind, text, start, end = piece
    if kind == "number":
        number = int(text) if len(text) <= _MOST_DIGITS else 0
        is_year = len(text) == 4 and FIRST_YEAR <= number < LAST_YEAR
        return Token("y" if is_year else "d" if len(text) <= 2 else "n", number, start, end)
    if kind == "ordinal":
        return Token("o", text.rstrip("stndrheamo°"), start, end)
    if kind == "short":
        return Token("y", int(text[1:]) + (1900 if text[1:] >= "50" else 2000), start, end)
    if kind in _NUMERIC:
        return Token(_NUMERIC[kind], text, start, end)
    if kind == "decade":
        digits = "".join(filter(str.isdigit, text))
        century = "" if len(digits) == 4 else "20" if digits < "20" else "19"
        return Token("z", f"{century}{digits}", start, end)
    if kind == "sign":
        return Token(_read_sign(piece, before), "", start, end)
    return Token("|", "", start, end)


def _read_sign(piece: Scrap, before: Token | None) -> str:
    """Return the letter of a sign; ``r`` for one that belongs to the word before it: "Sept."."""
    is_glue = piece.text == "'"
    if before and before.end == piece.start:
        is_short = before.letter != "U" or before.end - before.start <= _LONGEST_SHORT
        is_glue |= piece.text == "." and before.letter in _ABBREVIATED and is_short
        is_glue |= piece.text == "-" and before.letter == "E"
    return "r" if is_glue else _SIGNS.get(piece.text, piece.text)

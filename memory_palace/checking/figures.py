"""The words, digits and signs that numbers and units are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<version>(?<![\w.])\d+(?:\.\d+){2,}+)"
    r"|(?P<pair>(?<![\w./:])\d+[/:]\d+(?![/:]?\d))"
    r"|(?P<number>(?:(?<![\w.)])[−-])?"
    r"(?:(?<!\d)(?<!\d[.,])\d{1,3}(?:[,\u00a0\u202f\u2009'’]\d{3})++(?:\.\d+)?(?!\d)"
    r"|(?<![\d.,])(?<!\d )\d{1,3}(?: \d{3})++(?![\d.,]*\d)"
    r"|\d+(?:[.,·]\d+)?|(?<![\w.])\.\d+)"
    r"(?:[eE][+-]?\d+(?!\w)|\s?[x×*·]\s?10(?:\^|\*\*)?[({]?[+−-]?\d+[)}]?"
    r"|\s?[x×]\s?10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?)"
    r"|(?P<vulgar>[¼½¾⅓⅔])"
    r"|(?P<word>(?<!['’])[^\W\d_]+)|(?P<sign>°[CcFf]?|[%％€$£¥×])"
)


class Figure(NamedTuple):
    """One word, sign or run of digits."""

    kind: str
    key: str
    """Casefolded."""
    written: str
    start: int
    end: int

    @classmethod
    def of(cls, match: re.Match[str]) -> Figure:
        """Return the token that a match of the pattern is."""
        return cls(match.lastgroup or "", match[0].casefold(), match[0], *match.span())


NOTHING = Figure("", "", "", -1, -1)
"""What stands beyond the ends of a text."""


def read_tokens(text: str) -> list[Figure]:
    """Return the tokens of a text in order."""
    return [Figure.of(match) for match in _TOKEN.finditer(text)]


def token_at(text: str, place: int) -> Figure:
    """Return the token that begins at a place of a text; nothing where none does."""
    match = _TOKEN.match(text, place)
    return Figure.of(match) if match else NOTHING


def at(tokens: Sequence[Figure], place: int) -> Figure:
    """Return the token at a place of a list; nothing beyond its ends."""
    return tokens[place] if 0 <= place < len(tokens) else NOTHING

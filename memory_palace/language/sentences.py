"""The sentences of a text, in one pass over it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_palace.language.vocabulary import word_set

_BEGINS_ITEM = re.compile(r"(?<![ \t])[ \t]*(?:[-*+>|]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"(?<![ \t])[ \t]*#{1,6}[ \t]+")
_END = re.compile(
    r"(?<![.!?…])(?P<mark>[.!?…]++)(?P<closing>[\"'”’»)\]]*+)\s++"
    r"|(?<=[。！？])(?![。！？」』”）])"
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«]+\Z")
_NEVER_LAST = word_set("dr mr mrs ms prof st gen capt lt sgt rev hon e.g i.e cf vs z.b d.h ca")
"""Abbreviations that a sentence never ends with."""
_BEFORE_NUMBER = word_set("no nr fig p pp vol eq sec art ch approx")
"""Abbreviations when a figure follows; words or names otherwise."""
_SELDOM_LAST = word_set("etc inc ltd co corp jr sr dept est approx min max incl resp bzw usw")
"""Abbreviations that end a sentence where a capital follows, as ``p.m.`` and ``U.S.`` do."""
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]", re.IGNORECASE)
_WINDOW = 40
"""Characters before an end that are looked at: time stays linear in the text."""


def split_sentences(text: str) -> list[str]:
    """Return the sentences in order, each on one line; paragraphs, items and headings are apart.

    An abbreviation, an initial or an ellipsis before a small letter ends nothing; quotes and
    brackets that close belong to what they close; scripts without spaces end at their own stops.
    """
    return [sentence for block in _blocks(text) for sentence in _split_block(block)]


def _blocks(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        mark = heading or _BEGINS_ITEM.match(line)
        if lines and (mark or not line.strip()):
            yield " ".join(" ".join(lines).split())
            lines = []
        bare = line[mark.end() :] if mark else line
        if heading:
            yield " ".join(bare.split())
        elif bare.strip():
            lines.append(bare)
    if lines:
        yield " ".join(" ".join(lines).split())


def _split_block(block: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(block):
        if match["mark"] and not _is_end(block, start, match):
            continue
        sentence = block[start : match.end()].strip()
        if sentence:
            yield sentence
        start = match.end()
    if block[start:].strip():
        yield block[start:].strip()


def _is_end(block: str, start: int, match: re.Match[str]) -> bool:
    following = block[match.end() : match.end() + 1]
    if following.islower() and (match["mark"] == "…" or match["closing"] or "..." in match["mark"]):
        return False
    before = block[max(start, match.start() - _WINDOW) : match.start()]
    if match["mark"] != "." or not any(map(str.isalnum, before)):
        return any(map(str.isalnum, before))
    found = _LAST_WORD.search(before)
    word = found[0] if found else ""
    key = word.casefold()
    if key in _NEVER_LAST or (key in _BEFORE_NUMBER and following.isdigit()):
        return False
    if key in _SELDOM_LAST or _DOTTED.fullmatch(key):
        return not following.islower()
    if len(word) == 1 and word.isupper():
        return not _is_initial(before[: -len(word)].split())
    return True


def _is_initial(words: list[str]) -> bool:
    """Say whether a capital letter after these words is part of a name: ``J.``, ``George W.``."""
    return not words or (words[-1][0].isupper() and words[-1] != "I")

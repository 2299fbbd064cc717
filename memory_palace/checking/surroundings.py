"""Which words of a text are said of which of its places: a number, a date."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from memory_palace.checking.wording import UNITS
from memory_palace.language.tokens import PLAIN_WORD, stem_word
from memory_palace.language.word_lists import STOP_STEMS

StemsAround: TypeAlias = Mapping[str, float]
"""Stems with how much they belong to a place, from 0 to 1."""
Span: TypeAlias = tuple[int, int]
"""Start and end in a text."""

_MOST_AROUND = 8
"""Places on either side that a word can belong to."""
_STOPPED = STOP_STEMS | UNITS | {"squar", "cubic"}
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|\Z)|[。！？]")
_STATEMENT_END = re.compile(
    r"[,;:()–—]\s|\s(?:and|but|while|whereas|or|which|who|und|oder|et|y|e|ou|aber|mais|pero)\s"
)
_JOINT = re.compile(
    r"\s?(?:(?:,\s)?(?:and|to|or|until|till|through|und|bis|et|y|e|a)\s|[-–,/])\s?(?:(?:the|in|on|at|by)\s)?"
)
"""Between places that stand side by side: what is said of one is said of both."""
_HERE, _ALONE, _SHARED, _ELSEWHERE = 1.0, 0.7, 0.5, 0.2
"""A word of the same statement, nearest to the place; of a statement without a place; of the same
statement, nearer to another place; of another statement of the sentence."""


def find_surroundings(text: str, places: Sequence[Span]) -> list[StemsAround]:
    """Return for each place, in order, the stems around it in its sentence.

    Of very many places in one sentence a word belongs to the nearest alone: time stays linear.
    """
    sentences = [match.end() for match in _SENTENCE_END.finditer(text)]
    ends = {*sentences, *(match.start() + 1 for match in _STATEMENT_END.finditer(text))}
    statements = sorted(ends)
    homes = [
        _Home(bisect_right(sentences, start), bisect_right(statements, start), row)
        for (start, _), row in zip(places, _find_rows(text, places), strict=True)
    ]
    starts = [start for start, _ in places]
    found: list[dict[str, float]] = [{} for _ in places]
    for word in PLAIN_WORD.finditer(text) if places else ():
        stem = stem_word(word[0].casefold().replace("’s", "").replace("'s", ""))
        if stem in _STOPPED or any(map(str.isdigit, stem)):
            continue
        middle = bisect_right(starts, word.start())
        sentence = bisect_right(sentences, word.start())
        near = range(max(0, middle - _MOST_AROUND), min(len(places), middle + _MOST_AROUND))
        here = [at for at in near if homes[at].sentence == sentence]
        if any(places[at][0] <= word.start() < places[at][1] for at in here):
            continue
        statement = bisect_right(statements, word.start())
        beside = [at for at in here if homes[at].statement == statement]
        rows = {homes[at].row for at in _nearest(beside, places, word.span())}
        for at in here:
            weight = _ELSEWHERE if beside else _ALONE
            if homes[at].statement == statement:
                weight = _SHARED
            weight = _HERE if homes[at].row in rows else weight
            found[at][stem] = max(weight, found[at].get(stem, 0.0))
    return list(found)


class _Home(NamedTuple):
    """Where a place stands, each counted from 0."""

    sentence: int
    statement: int
    row: int
    """Of places side by side, the first."""


def _nearest(those: Sequence[int], places: Sequence[Span], word: Span) -> Sequence[int]:
    """Return the place that is nearest to a word, if there is one."""

    def distance(at: int) -> int:
        return max(places[at][0] - word[1], word[0] - places[at][1], 0)

    return [min(those, key=distance)] if those else []


def _find_rows(text: str, places: Sequence[Span]) -> list[int]:
    """Return for each place the number of the row of places that it stands in."""
    rows = list[int]()
    for at, (start, _) in enumerate(places):
        is_joined = at > 0 and _JOINT.fullmatch(
            text, places[at - 1][1], max(places[at - 1][1], start)
        )
        rows.append(rows[-1] if is_joined else at)
    return rows

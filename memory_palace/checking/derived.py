"""Numbers that a passage does not give, and that follow from those it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from memory_palace.checking.amounts import Amount
from memory_palace.checking.numbers import Number
from memory_palace.checking.phrases import word_list
from memory_palace.checking.told_times import find_told_times
from memory_palace.checking.units import is_same_family
from memory_palace.language.tokens import plain_words

_OF = re.compile(
    r"(?:[^\W\d_]{1,20} )?(?:of|out of|in every|in|for every|for|to)"
    r"(?: (?:the|these|those|our|their|its|all))?"
)
"""Between a part and a whole: three *out of* four, four *cases of* five."""
_SUMS = word_list("sums")
"""Words beside which a number may be the sum or the difference of two others."""
_RANGE = re.compile(r"\s?(?:to|and|bis|à|[-–])\s?")
_STATEMENT = re.compile(r"[.!?:;]\s")
_COMMA = re.compile(r",\s")
_JOINT = re.compile(r"(?<!,)\s(?:and|or|und|et|y|e)\s")
_SHARES = frozenset({"part", "times", "share"})
_MOST_LISTED = 12
_ROUGH = Fraction(6, 100)
_CLOSE = Fraction(3, 100)
"""How far "one in twenty-three" may be from 4.3 %."""


def find_shares(
    mine: Sequence[Amount], text: str, theirs: Sequence[Amount], passage: str
) -> Iterator[Amount]:
    """Yield amounts of a claim that are a share of a passage otherwise said: 3 of 12, 25 %."""
    given = {share for _, _, share in _find_parts(theirs, passage)}
    told = {one.first.base for one in theirs if _is_share(one)} | given
    for part, whole, share in _find_parts(mine, text):
        if part.bound or any(_is_near(share, other) for other in told):
            yield from (part, whole)
    for one in mine:
        if _is_share(one) and any(_is_near(one.first.base, other) for other in given):
            yield one


def _is_near(one: Fraction, other: Fraction) -> bool:
    return abs(one - other) <= _CLOSE * max(one, other)


def _find_parts(amounts: Sequence[Amount], text: str) -> Iterator[tuple[Amount, Amount, Fraction]]:
    """Yield each ``3 of the 12`` and ``one in five``, with the fraction it is."""
    for part, whole in pairwise(amounts):
        between = " ".join(text[part.first.stop : whole.start].split()).casefold()
        of, to = part.first.value, whole.first.value
        if _OF.fullmatch(between) and 0 < of < to and not whole.first.family:
            yield part, whole, of / to


def _is_share(one: Amount) -> bool:
    return one.first.family == "share" or one.first.form == "part"


def is_count_of_list(mine: Amount, passage: str) -> bool:
    """Say whether a number counts what a passage lists: three options, a, b and c."""
    value = mine.first.value
    if mine.first.family or value.denominator != 1 or not 2 <= value <= _MOST_LISTED:
        return False
    return any(value in _list_lengths(part) for part in _STATEMENT.split(passage))


def _list_lengths(statement: str) -> tuple[int, ...]:
    commas, joints = len(_COMMA.findall(statement)), len(_JOINT.findall(statement))
    return (commas + 1, joints + 1, commas + joints + 1) if commas or joints else ()


def is_computed(mine: Amount, claim: str, theirs: Sequence[Amount]) -> bool:
    """Say whether a number may be the sum, the difference or the ratio of two of a passage."""
    wanted = mine.first.base
    if mine.first.form in ("times", "part"):
        given = {one.first.base for one in theirs if one.first.value}
        return any(wanted * other in given for other in given)
    if _SUMS.isdisjoint(plain_words(claim)):
        return False
    if mine.first.family == "share":
        return _is_growth(wanted, [one.first for one in theirs])
    alike = [one.first.base for one in theirs if one.first.family == mine.first.family]
    close = (_ROUGH if mine.is_rough else 0) * wanted
    return abs(wanted - sum(alike)) <= close or _is_of_two(sorted(alike), wanted, close)


def _is_of_two(given: Sequence[Fraction], wanted: Fraction, close: Fraction) -> bool:
    """Say whether the sum or the difference of two sorted numbers is a wanted one, or close."""
    first, last = 0, len(given) - 1
    while first < last:
        total = given[first] + given[last]
        if abs(wanted - total) <= close:
            return True
        first, last = (first + 1, last) if total < wanted else (first, last - 1)
    first, last = 0, 1
    while last < len(given):
        apart = given[last] - given[first]
        if abs(wanted - apart) <= close:
            return True
        first, last = (first + 1, last) if apart > wanted else (first, last + 1)
        last = max(last, first + 1)
    return False


def _is_growth(share: Fraction, given: Sequence[Number]) -> bool:
    """Say whether a share is how much larger or smaller one number is than another."""
    bases = {(one.family, one.base) for one in given}
    return any(
        (family, base * factor) in bases
        for family, base in bases
        for factor in (1 + share, 1 - share)
        if base > 0
    )


def is_between(mine: Amount, theirs: Sequence[Amount], passage: str) -> bool:
    """Say whether a rough number lies within a range of a passage: about nine, of 8 to 10."""
    return mine.is_rough and any(
        _RANGE.fullmatch(passage, one.first.end, other.start)
        and is_same_family(one.first.family, mine.first.family)
        and one.first.base <= mine.first.base <= other.first.base
        for one, other in pairwise(theirs)
        if one.first.end <= other.start
    )


def is_time_of_day(mine: Amount, text: str) -> bool:
    """Say whether a bare number is a time of day of a text, or a duration how often it is."""
    told = find_told_times(text)
    if mine.first.family == "time":
        return any(time.parts.get("every") == mine.first.base for time in told)
    hour = mine.first.value
    is_bare = not mine.first.form and not mine.first.family and 0 <= hour <= 24
    return is_bare and any(time.parts.get("minutes") == hour * 60 % 720 for time in told)


def is_vague_share(mine: Amount, rival: Amount | None) -> bool:
    """Say whether half, a third or twice sums up numbers that a passage does not set out so.

    It does not where the passage has a share too.
    """
    if mine.first.form != "part" and (mine.first.form != "times" or mine.first.value != 2):
        return False
    is_given = rival is not None and {rival.first.form, rival.first.family} & _SHARES
    return bool(mine.bound) or not is_given

"""Where a claim gives another time than a passage: date, weekday, season, hour, how often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.comparing import PlaceComparison
from memory_palace.checking.told_times import ToldTime, find_quantities, find_told_times
from memory_palace.checking.verdicts import Difference, differ, differ_in_subject
from memory_palace.checking.wording import Wording

_TOLERANCE = Fraction(2, 100)
"""How far "every 30 days" may be from "monthly"."""
_TOLD = frozenset({"year", "month", "day", "weekday", "minutes", "decade", "century"})
"""What a claim must have from the passage. Of a season, a part of the day and the like a passage
may speak in other words: they differ only from another one."""
_TURNED = frozenset({("before", "after"), ("until", "since"), ("by", "after"), ("by", "since"),
                     ("until", "after"), ("before", "since")})  # fmt: skip
_WEEK = 604_800
"""Seconds."""
_HOURS = {
    "morning": (4, 12), "noon": (11, 14), "afternoon": (12, 18), "evening": (16, 23),
    "night": (18, 30),
}  # fmt: skip
"""First and last hour of a part of the day; above 24 those of the next morning."""


def find_other_times(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield the times of a claim that the passage gives otherwise, or not at all."""
    mine = find_told_times(claim.text)
    if not mine:
        return
    near, far = find_told_times(passage.text), find_told_times(alignment.around.text)
    comparison = _Comparison(claim, passage, alignment, near, far)
    for one in mine:
        if one.is_sure:
            yield from _compare(one, mine, comparison)


@dataclass(frozen=True)
class _Comparison(PlaceComparison[ToldTime]):
    """The times of a claim beside those of a passage."""

    far: Sequence[ToldTime]
    """Those of the text around it."""

    def agree(self, mine: ToldTime, theirs: ToldTime) -> bool:
        """Say whether two times can be one."""
        return _is_compatible(mine, theirs)


def _compare(
    mine: ToldTime, all_mine: Sequence[ToldTime], comparison: _Comparison
) -> Iterator[Difference]:
    replaced = comparison.find_replaced(mine)
    best = None if replaced else _find_same(mine, comparison)
    rivals = [one for one in comparison.near if one.is_sure and _is_rival(mine, one)]
    rival = replaced or comparison.nearest(mine, rivals)
    if best is not None:
        yield from _compare_same(mine, all_mine, best, rival, comparison)
    elif replaced is None and not comparison.is_copied and _is_a_number(mine, comparison):
        return
    elif rival is None and _is_certain(mine):
        yield differ("time", mine.text, "")
    elif rival is not None and (
        _is_certain(mine) or comparison.is_copied or comparison.score(mine, rival) >= 1
    ):
        yield differ("time", mine.text, rival.text)


def _compare_same(
    mine: ToldTime,
    all_mine: Sequence[ToldTime],
    best: ToldTime,
    rival: ToldTime | None,
    comparison: _Comparison,
) -> Iterator[Difference]:
    """Yield a time that the passage tells of something else, or that is turned round."""
    if rival is not None and comparison.is_nearer(mine, all_mine, best, rival):
        yield differ_in_subject("time", mine.text, rival.text)
    elif is_turned(mine, best):
        told, given = f"{mine.relation} {mine.text}", f"{best.relation} {best.text}"
        yield differ("time", told, given)


def _find_same(mine: ToldTime, comparison: _Comparison) -> ToldTime | None:
    """Return the time that is the claim's; of one in its own words also from the text around."""
    for place in (comparison.near, () if comparison.is_copied else comparison.far):
        best = comparison.nearest(mine, [one for one in place if _is_compatible(mine, one)])
        if best is not None:
            return best
    return None


def _is_certain(mine: ToldTime) -> bool:
    """Say whether a passage must have it: ``every 7 minutes``, where ``daily`` has many words."""
    is_counted = "every" in mine.parts and any(map(str.isdigit, mine.text))
    return is_counted or not _TOLD.isdisjoint(mine.parts)


def _is_rival(mine: ToldTime, theirs: ToldTime) -> bool:
    """Say whether two times tell the same of a date or a day, and tell it otherwise."""
    return any(
        name in theirs.parts and theirs.parts[name] != value for name, value in mine.parts.items()
    ) or not _spans_meet(mine.parts, theirs.parts)


def _is_compatible(mine: ToldTime, theirs: ToldTime) -> bool:
    """Say whether two times can be one: nothing differs, and something that both tell is equal.

    A year bears out its decade and its century, a month its season, an hour its part of the day.
    """
    one, other = mine.parts, theirs.parts
    common = one.keys() & other.keys()
    if any(not _is_equal(name, one[name], other[name]) for name in common):
        return False
    if not _spans_meet(one, other):
        return False
    return bool(common - {"half"}) or _is_borne_out(one, other)


def _is_equal(name: str, one: Fraction | str, other: Fraction | str) -> bool:
    if name == "every" and not isinstance(one, str) and not isinstance(other, str):
        return abs(one - other) <= _TOLERANCE * max(one, other)
    return one == other


def _is_borne_out(one: Mapping[str, Fraction | str], other: Mapping[str, Fraction | str]) -> bool:
    """Say whether a time of another kind tells as much: 1995 of the nineties."""
    kinds = ({"year", "decade", "century"}, {"month", "season"}, {"minutes", "part of the day"})
    is_known = any(kind & one.keys() and kind & other.keys() for kind in kinds)
    is_weekly = any(
        a.get("every") == _WEEK and "weekday" in b for a, b in ((one, other), (other, one))
    )
    return is_known or is_weekly


def _spans_meet(one: Mapping[str, Fraction | str], other: Mapping[str, Fraction | str]) -> bool:
    """Say whether what two times tell in different units can hold of both."""
    for names, spans in ((("year", "decade", "century"), _years), (("month", "season"), _months)):
        mine = [spans(name, one[name]) for name in names if name in one]
        theirs = [spans(name, other[name]) for name in names if name in other]
        if any(a.isdisjoint(b) for a in mine for b in theirs):
            return False
    hours, part = one.get("minutes"), other.get("part of the day")
    if hours is None:
        hours, part, one = other.get("minutes"), one.get("part of the day"), other
    if not isinstance(hours, Fraction) or not isinstance(part, str):
        return True
    first, last = _HOURS[part]
    halves = {"am": (0,), "pm": (12,)}.get(str(one.get("half")), (0, 12))
    return any(first <= hours / 60 + half + day <= last for half in halves for day in (0, 24))


def _years(name: str, value: Fraction | str) -> frozenset[int]:
    first = int(value)
    if name == "century":
        return frozenset(range(first * 100 - 100, first * 100 + 1))
    return frozenset(range(first, first + 10)) if name == "decade" else frozenset({first})


def _months(name: str, value: Fraction | str) -> frozenset[int]:
    first = int(value)
    if name == "month":
        return frozenset({first})
    return frozenset((month - 1) % 12 + 1 for month in range(first, first + 4))


def is_turned(mine: ToldTime, theirs: ToldTime) -> bool:
    """Say whether one is before a time and the other after it."""
    return (mine.relation, theirs.relation) in _TURNED or (
        theirs.relation,
        mine.relation,
    ) in _TURNED


def _is_a_number(mine: ToldTime, comparison: _Comparison) -> bool:
    """Say whether what looks like a year or an hour, and no more, is a number of the text."""
    if len(mine.parts.keys() - {"half"}) > 1:
        return False
    year, minutes, every = (mine.parts.get(name) for name in ("year", "minutes", "every"))
    return any(
        one.first.value == year
        or (minutes is not None and one.first.value * 60 % 720 == minutes)
        or (every is not None and one.first.family == "time" and one.first.base == every)
        for one in find_quantities(comparison.alignment.around.text)
    )

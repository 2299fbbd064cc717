"""Where a claim gives another number, or a number of something else, than a passage.

A number is compared as what it is said of: its unit, what it counts, and the words around it. One
that stands in the passage for another thing, while that of the claim has a number of its own there,
differs as much as one that the passage does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memory_palace.checking.agreeing import agrees, is_turned
from memory_palace.checking.alignment import Alignment
from memory_palace.checking.amounts import Amount, find_amounts
from memory_palace.checking.comparing import PlaceComparison
from memory_palace.checking.derived import (
    find_shares,
    is_between,
    is_computed,
    is_count_of_list,
    is_time_of_day,
    is_vague_share,
)
from memory_palace.checking.told_times import find_quantities
from memory_palace.checking.units import is_same_family
from memory_palace.checking.verdicts import Difference, DifferenceKind, differ, differ_in_subject
from memory_palace.checking.wording import Wording

_SAME = 0.75
"""Likeness from which two words are the same thing."""
_HEAD = 1.0
"""What it counts if two numbers count the same."""
_SMALL = 12
_FAR = 1.0
"""What a number outside of the sentences compared must have in common with the claim's."""


class _Comparison(PlaceComparison[Amount]):
    """The amounts of a claim beside those of a passage."""

    @property
    def is_denied(self) -> bool:
        """Whether one of both is denied: not above 50 is at most 50."""
        return bool(self.claim.negations or self.passage.negations)

    def agree(self, mine: Amount, theirs: Amount) -> bool:
        """Say whether an amount of the claim can be one of the passage."""
        return agrees(mine, theirs)

    def score(self, mine: Amount, theirs: Amount) -> float:
        """Return how much of what is said of one amount is said of the other."""
        return super().score(mine, theirs) + (_HEAD if self.count_same(mine, theirs) else 0.0)

    def is_like(self, place: int) -> bool:
        """Say whether the passage has a word of the claim in another word."""
        pair = self.alignment.counterpart(place)
        return pair is not None and pair.likeness >= _SAME

    def count_same(self, mine: Amount, theirs: Amount) -> bool:
        """Say whether two amounts have a word in common that they count."""
        if not mine.counted or not theirs.counted:
            return False
        head = mine.counted[-1]
        other, likeness = self.meanings.get(head, ("", 0.0))
        return head in theirs.counted or (likeness >= _SAME and other in theirs.counted)


def find_other_numbers(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield the numbers of a claim that the passage gives otherwise, or not at all."""
    mine = find_quantities(claim.text)
    if not mine:
        return
    comparison = _Comparison(claim, passage, alignment, find_quantities(passage.text))
    source = passage.text if comparison.is_copied else alignment.around.text
    known = {id(one) for one in find_shares(mine, claim.text, find_quantities(source), source)}
    for one in mine:
        if id(one) not in known:
            yield from _compare(one, mine, comparison)


def _compare(
    mine: Amount, all_mine: Sequence[Amount], comparison: _Comparison
) -> Iterator[Difference]:
    near = comparison.near
    if is_between(mine, near, comparison.passage.text):
        return
    if (other := comparison.find_replaced(mine, _is_alike)) is not None:
        yield _differ(mine, other)
        return
    rivals = [one for one in near if not agrees(mine, one) and _is_rival(mine, one, comparison)]
    rival = comparison.nearest(mine, rivals)
    best = _find_same(mine, comparison)
    if best is not None:
        yield from _compare_same(mine, all_mine, best, rival, comparison)
    elif mine.is_weak:
        if rival is not None and _is_sure(mine, rival, comparison):
            yield _differ(mine, rival)
    elif not _follows(mine, rival, comparison):
        other = next((one for one in near if _is_other_unit(mine, one)), None)
        yield _differ(mine, other or rival)


def _is_alike(mine: Amount, theirs: Amount) -> bool:
    """Say whether two amounts are both names or both numbers, and not both mere words."""
    if mine.is_weak and theirs.is_weak:
        return bool(mine.first.family) or mine.first.form == theirs.first.form
    return mine.is_name == theirs.is_name


def _find_same(mine: Amount, comparison: _Comparison) -> Amount | None:
    """Return the amount of the passage that is the claim's; of several the one most is common to.

    A claim in its own words may have it from elsewhere in the text around.
    """
    texts = [comparison.passage.text]
    if not comparison.is_copied:
        texts.append(comparison.alignment.around.text)
    for text in texts:
        same = [one for one in find_amounts(text) if agrees(mine, one)]
        best = comparison.nearest(mine, same)
        least = _FAR if _is_common(mine) and text is not texts[0] else 0.0
        if best is not None and comparison.score(mine, best) >= least:
            return best
    return None


def _is_common(mine: Amount) -> bool:
    """Say whether a number is so small that any text has it."""
    value = mine.first.value
    return not mine.first.family and value.denominator == 1 and value <= _SMALL


def _follows(mine: Amount, rival: Amount | None, comparison: _Comparison) -> bool:
    """Say whether a number that the passage does not have follows from those it has."""
    if is_time_of_day(mine, comparison.alignment.around.text):
        return True
    if rival is None and is_count_of_list(mine, comparison.passage.text):
        return True
    if comparison.is_copied:
        return False
    is_list = rival is None and is_count_of_list(mine, comparison.claim.text)
    around = find_quantities(comparison.alignment.around.text)
    given = comparison.near if _is_common(mine) else around
    is_told = is_vague_share(mine, rival) or is_computed(mine, comparison.claim.text, given)
    return is_list or is_told


def _differ(mine: Amount, rival: Amount | None) -> Difference:
    said = mine.text.removesuffix(" of")
    if rival is None:
        return differ("number", said, "")
    kind: DifferenceKind = "unit" if _is_other_unit(mine, rival) else "number"
    return differ(kind, said, rival.text.removesuffix(" of"))


def _compare_same(
    mine: Amount,
    all_mine: Sequence[Amount],
    best: Amount,
    rival: Amount | None,
    comparison: _Comparison,
) -> Iterator[Difference]:
    """Yield a number that is said of something else, bounds the other side, or counts another."""
    if rival is not None and comparison.is_nearer(mine, all_mine, best, rival):
        if not mine.is_weak or _is_sure(mine, rival, comparison):
            yield differ_in_subject("number", mine.text, rival.text)
    elif is_turned(mine, best) and (comparison.is_copied or not comparison.is_denied):
        sides = {1: "at least", -1: "at most"}
        told, given = f"{sides[mine.bound]} {mine.text}", f"{sides[best.bound]} {best.text}"
        yield differ("number", told, given)
    elif _counts_another(mine, best, comparison):
        yield differ("unit", mine.text, best.text)


def _is_rival(mine: Amount, theirs: Amount, comparison: _Comparison) -> bool:
    """Say whether an amount of the passage is of the kind that could stand for the claim's."""
    one, other = mine.first, theirs.first
    if theirs.is_weak and not mine.is_weak and not comparison.is_copied:
        return False
    if mine.is_name or theirs.is_name or mine.label or theirs.label:
        return mine.label == theirs.label
    if one.family and other.family:
        return is_same_family(one.family, other.family)
    if one.family and not other.family and not theirs.counted and not other.form:
        return comparison.score(mine, theirs) >= 1  # the last of "225 degrees, … 135"
    if "share" in (one.family, other.family):
        return "part" in (one.form, other.form)
    if one.family or other.family or one.form != other.form:
        return False
    if mine.counted and theirs.counted:
        return comparison.count_same(mine, theirs)
    return (not mine.counted and not theirs.counted) or comparison.score(mine, theirs) >= 1


def _is_sure(mine: Amount, rival: Amount, comparison: _Comparison) -> bool:
    """Say whether a word that may be no number stands for one: ``one server`` for three."""
    is_word = rival.is_weak and rival.first.form != "ordinal" and not rival.first.family
    if not comparison.is_copied or is_word:
        return False
    are_ordinal = mine.first.form == rival.first.form == "ordinal"
    is_same = bool(mine.first.family) or are_ordinal or comparison.count_same(mine, rival)
    return is_same and comparison.score(mine, rival) > 1 and " of" not in mine.text


def _counts_another(mine: Amount, best: Amount, comparison: _Comparison) -> bool:
    """Say whether a number counts one thing in a claim and another in the passage."""
    if not comparison.is_copied or mine.first.form == "ordinal":
        return False
    if "share" in (mine.first.family, best.first.family):
        return False
    if bool(mine.first.family) != bool(best.first.family):
        return bool(best.counted if mine.first.family else mine.counted)
    return any(
        _put_for(comparison.claim, change.mine, mine)
        and _put_for(comparison.passage, change.theirs, best)
        for change in comparison.alignment.changes
        if not any(comparison.is_like(place) for place in change.mine)
    )


def _put_for(wording: Wording, places: Iterable[int], amount: Amount) -> bool:
    """Say whether one of some words is what an amount counts."""
    return any(wording.words[place].stem in amount.counted for place in places)


def _is_other_unit(mine: Amount, theirs: Amount) -> bool:
    """Say whether two amounts have the same figure and another unit."""
    one, other = mine.first, theirs.first
    if one.value != other.value or one.form != other.form or one.form == "code":
        return False
    if mine.rate and theirs.rate and mine.rate != theirs.rate:
        return True
    return bool(one.family and other.family) and (one.family, one.size) != (
        other.family,
        other.size,
    )

"""Two things that have changed places in a sentence that is copied."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from memory_palace.checking.alignment import Alignment, Change
from memory_palace.checking.opposites import find_opposition
from memory_palace.checking.partners import Partners
from memory_palace.checking.relations import PREPOSITIONS, is_passive
from memory_palace.checking.roles import SYMMETRIC, oppose
from memory_palace.checking.verdicts import Difference, differ
from memory_palace.checking.wording import Wording

_COPIED = 0.4
"""Share of a claim's words that stand in the passage in the same order."""
_FILLING = frozenset("a an the this that its their his her your our my".split())
_LISTING = frozenset(("and", "or"))
_TURNING = frozenset("by is are was were be been being".split())
"""Words of a passive, which comes and goes with a change of places."""
_SHARED = 0.7
"""Share of a claim's telling words that the passage has, to compare the order of all."""
_IN_ORDER = 0.9
"""Share of the words that two have in common that stand in order once an exchange is undone."""
_ALIKE = 0.5
"""Share of the words in one place that must have come from the other."""


def find_traded_places(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield two changes of which either has what the other lacks: one for another, or a move.

    A phrase that was moved as it stands is no difference, and neither is a list in another order;
    but "A versus B" that has become "B versus A" is one, where "versus" has changed its side.
    """
    if alignment.copied < _COPIED:
        return
    for one, two in combinations(_with_edges(claim, passage, alignment.changes), 2):
        texts = [_stems(claim, one.mine), _stems(passage, one.theirs)]
        texts += [_stems(claim, two.mine), _stems(passage, two.theirs)]
        if _is_list(claim, range(one.mine.start, two.mine.stop)) or _is_turned_otherwise(
            claim, passage, alignment, one, two
        ):
            continue
        if _is_trade(*texts) or _is_move(*texts):
            mine = claim.cut(range(one.mine.start, two.mine.stop))
            theirs = passage.cut(range(one.theirs.start, two.theirs.stop))
            yield differ("role", mine, theirs)
            return


def _with_edges(claim: Wording, passage: Wording, changes: Sequence[Change]) -> Iterator[Change]:
    """Yield the changes, and as two more what the passage has before and behind the copied part.

    As many words as the longest that the claim has more count, for they may have come from there.
    """
    longest = max((len(change.mine) for change in changes if not change.theirs), default=0)
    if not longest:
        yield from changes
        return
    start = changes[0].theirs.start - changes[0].mine.start
    end = changes[-1].theirs.stop + len(claim.words) - changes[-1].mine.stop
    yield Change(range(0), range(max(0, start - longest), start))
    yield from changes
    last = len(claim.words)
    yield Change(range(last, last), range(end, min(end + longest, len(passage.words))))


def _stems(wording: Wording, places: range) -> list[str]:
    words = [wording.words[at] for at in places]
    return [word.stem for word in words if word.key not in _FILLING]


def _is_trade(
    mine: Sequence[str],
    theirs: Sequence[str],
    mine_after: Sequence[str],
    theirs_after: Sequence[str],
) -> bool:
    """Say whether each place has what the other one had."""
    return (
        _is_phrase(mine) == _is_phrase(mine_after)
        and _share(mine, theirs_after) >= _ALIKE
        and _share(mine_after, theirs) >= _ALIKE
        and mine != theirs
        and not _TURNING.intersection({*mine_after} ^ {*theirs})
        and not _TURNING.intersection({*mine} ^ {*theirs_after})
    )


def _is_move(
    mine: Sequence[str],
    theirs: Sequence[str],
    mine_after: Sequence[str],
    theirs_after: Sequence[str],
) -> bool:
    """Say whether words have moved over others, and what linked both has changed its side."""
    if theirs or mine_after:
        if mine or theirs_after:
            return False
        mine, theirs_after = mine_after, theirs
    turns = [
        (mine[:at], mine[at:])
        for at in range(1, len(mine))
        if [*mine[at:], *mine[:at]] == list(theirs_after)
    ]
    return any(
        _LISTING.isdisjoint(mine) and not any(_is_phrase(part) for part in parts) for parts in turns
    )


def _is_phrase(stems: Sequence[str]) -> bool:
    """Say whether words bring their preposition along: "in 2001" may stand anywhere."""
    return len(stems) > 1 and stems[0] in PREPOSITIONS


def _share(one: Sequence[str], other: Sequence[str]) -> float:
    return sum(stem in other for stem in one) / len(one) if one else 0.0


def _is_turned_otherwise(
    claim: Wording, passage: Wording, alignment: Alignment, one: Change, two: Change
) -> bool:
    """Say whether a third change has an opposite: larger than this, smaller than that."""
    return any(
        find_opposition(a, b)
        for change in alignment.changes
        if one.mine.start < change.mine.start < two.mine.start
        for a in _stems(claim, change.mine)
        for b in _stems(passage, change.theirs)
    )


def find_exchanges(claim: Wording, passage: Wording, alignment: Alignment) -> Iterator[Difference]:
    """Yield two words that have changed places around a third, in a claim that copies the rest.

    Three in reverse order are never the work of a phrase or a clause that was put first: those
    turn two. A passive that has become active, or an opposite, is.
    """
    both = Partners(claim, passage, alignment)
    if both.share(both.mine.telling, both.theirs.telling) < _SHARED:
        return
    exchanged = _find_exchanged(_find_places(claim, passage))
    if exchanged is None:
        return
    (first, its_place), (last, other_place) = exchanged
    if _turns_by_itself(both, first, last) or not (
        _find_slot(claim, first) == _find_slot(passage, other_place)
        and _find_slot(claim, last) == _find_slot(passage, its_place)
    ):
        return
    one, other = claim.cut([first]), claim.cut([last])
    is_number = one[0].isdigit() and other[0].isdigit()
    yield Difference(
        "number" if is_number else "role",
        f"“{one}” and “{other}” have changed places",
        claim.text,
        passage.text,
    )


def _find_places(claim: Wording, passage: Wording) -> list[tuple[int, int]]:
    """Return the places in claim and passage of what stands once in both."""
    mine, theirs = Counter(w.stem for w in claim.words), Counter(w.stem for w in passage.words)
    place = {word.stem: at for at, word in enumerate(passage.words)}
    return [
        (at, place[word.stem])
        for at, word in enumerate(claim.words)
        if word.is_telling and mine[word.stem] == theirs[word.stem] == 1
    ]


def _find_slot(wording: Wording, at: int) -> str:
    """Return the preposition that a word stands behind: "in 2001" is moved and fills no place."""
    for word in reversed(wording.words[:at]):
        if word.is_telling or word.key in PREPOSITIONS:
            return "" if word.is_telling else word.key
    return ""


def _find_exchanged(
    places: Sequence[tuple[int, int]],
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return two words, by their places, that stand in reverse order around a third.

    With them, and what goes along with them, back in place the rest is in order.
    """
    order = [other for _, other in places]
    for at, place in enumerate(order):
        start = next((a for a in range(at) if order[a] > place), None)
        end = next((b for b in range(len(order) - 1, at, -1) if order[b] < place), None)
        if start is None or end is None:
            continue
        stop, begin = start + 1, end
        while stop < at and order[stop] > place:
            stop += 1
        while begin - 1 > at and order[begin - 1] < place:
            begin -= 1
        turned = [*order[begin : end + 1], *order[stop:begin], *order[start:stop]]
        if _count_rising([*order[:start], *turned, *order[end + 1 :]]) >= _IN_ORDER * len(order):
            return places[start], places[begin]
    return None


def _count_rising(numbers: Sequence[int]) -> int:
    """Return the length of the longest rising subsequence."""
    ends: list[int] = []
    for number in numbers:
        at = bisect_left(ends, number)
        ends[at : at + 1] = [number]
    return len(ends)


def _turns_by_itself(both: Partners, first: int, last: int) -> bool:
    """Say whether the words between turn the order: a passive on one side only, or an opposite."""
    between = range(first, last + 1)
    others = [other for at in between for other in both.find(at)]
    near = range(min(others), max(others) + 1)
    changes_voice = any(
        is_passive(both.mine, at) != is_passive(both.theirs, other)
        for at in between
        for other in both.find(at)
    )
    words, other_words = both.mine.wording.words, both.theirs.wording.words
    converse = oppose(
        frozenset(words[at].stem for at in between), frozenset(other_words[at].stem for at in near)
    )
    is_mutual = any(words[at].stem in SYMMETRIC for at in between)
    return changes_voice or converse or is_mutual or _is_list(both.mine.wording, between)


def _is_list(wording: Wording, places: range) -> bool:
    """Say whether the telling words are all parted by commas, "and" or "or"."""
    words = wording.words
    telling = [at for at in places if words[at].is_telling]
    return all(
        "," in wording.text[words[a].end : words[b].start]
        or any(words[at].key in _LISTING for at in range(a, b))
        for a, b in pairwise(telling)
    )

"""Who does what to whom, told the other way round.

A passive and a converse ("buy" and "sell", "larger" and "smaller") turn the sides of a relation,
and so say the same where the sides are turned as well.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.opposites import find_opposition
from memory_palace.checking.partners import Partners, Text
from memory_palace.checking.relations import (
    Relation,
    find_prepositions,
    find_verb_relations,
    is_passive,
    is_straight,
    is_turned,
)
from memory_palace.checking.verdicts import Difference
from memory_palace.checking.wording import Wording
from memory_palace.language.tokens import tokenize

_SYMMETRIC = frozenset(
    tokenize(
        "meet marry wed equal differ different same similar correlate correlation associate "
        "association relate relation connect connection link join share talk speak agree debate "
        "discuss compare combine mix overlap interact interaction bind match resemble coincide "
        "border intersect opposite identical equivalent parallel"
    )
)
"""What one does to another the other does to it."""

_COPIED = 0.7
"""Share of a claim's telling words that the passage has, from which on order tells."""

_IN_ORDER = 0.9
"""Share of the words that two have in common that stand in order once an exchange is undone."""


def find_turned_roles(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield the first relation whose two sides the passage has the other way round."""
    both = Partners(claim, passage, alignment)
    for mine, theirs in product(
        find_verb_relations(both.mine), list(find_verb_relations(both.theirs))
    ):
        if claim.words[mine.link].stem in _SYMMETRIC:
            continue
        one, other = claim.words[mine.link].stem, passage.words[theirs.link].stem
        same = theirs.link in both.find(mine.link)
        converse = not same and find_opposition(one, other)
        if (same and is_turned(both, mine, theirs)) or (
            converse and is_straight(both, mine, theirs)
        ):
            yield _describe(both, mine, theirs)
            return
    for mine, theirs in product(find_prepositions(both.mine), list(find_prepositions(both.theirs))):
        one, other = claim.words[mine.link].key, passage.words[theirs.link].key
        if one == other and is_turned(both, mine, theirs) and not _is_converse(both, mine, theirs):
            yield _describe(both, mine, theirs)
            return


def _describe(both: Partners, mine: Relation, theirs: Relation) -> Difference:
    left, right = both.mine.phrase(mine.left), both.mine.phrase(mine.right)
    link = both.mine.phrase([mine.link])
    return Difference(
        "role",
        f"“{left}” and “{right}” have changed places at “{link}”",
        both.mine.quote(mine.link),
        both.theirs.quote(theirs.link),
    )


def _is_converse(both: Partners, mine: Relation, theirs: Relation) -> bool:
    """Say whether the clauses differ by an opposite as well: better than, worse than."""
    return _oppose(both.mine.clause_stems(mine.link), both.theirs.clause_stems(theirs.link))


def _oppose(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Say whether a word that only one has is the opposite of one that only the other has."""
    return any(find_opposition(a, b) for a, b in product(mine - theirs, theirs - mine))


def find_exchanges(claim: Wording, passage: Wording, alignment: Alignment) -> Iterator[Difference]:
    """Yield two words that have changed places around a third, in a claim that copies the rest.

    Three in reverse order are never the work of a phrase or a clause that was put first: those
    turn two. A passive that has become active, or an opposite, is.
    """
    both = Partners(claim, passage, alignment)
    if both.share(both.mine.telling, both.theirs.telling) < _COPIED:
        return
    exchanged = _find_exchanged(_find_places(claim, passage))
    if exchanged is None or _turns_by_itself(both, *exchanged):
        return
    first, last = exchanged
    one, other = claim.words[first].key, claim.words[last].key
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


def _find_exchanged(places: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return two places of a claim that stand in reverse order around a third in a passage.

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
            return places[start][0], places[end][0]
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
    converse = _oppose(
        frozenset(words[at].stem for at in between), frozenset(other_words[at].stem for at in near)
    )
    is_mutual = any(words[at].stem in _SYMMETRIC for at in between)
    return changes_voice or converse or is_mutual or _is_list(both.mine, between)


def _is_list(text: Text, places: range) -> bool:
    """Say whether the telling words are all parted by commas, "and" or "or"."""
    words = text.wording.words
    telling = [at for at in places if words[at].is_telling]
    return all(
        "," in text.wording.text[words[a].end : words[b].start]
        or any(words[at].key in ("and", "or") for at in range(a, b))
        for a, b in pairwise(telling)
    )

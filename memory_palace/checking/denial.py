"""What is denied where a passage says it, or said where it is denied."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.opposites import find_opposition
from memory_palace.checking.partners import Partners
from memory_palace.checking.polarity import DENYING, Denial
from memory_palace.checking.verdicts import Difference
from memory_palace.checking.wording import Wording

LEAST_SHARE = 0.5
"""Share of the telling words beside a denied one that the passage has beside it too."""

_NEAR = 0.25
"""Share of them in the same clause."""
COPIED = 0.7
"""Share of the sentence, where nothing else stands beside it in its clause."""


def find_denied_words(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield the first word that one of both denies and the other says without a denial near it."""
    both = Partners(claim, passage, alignment)
    for at in both.mine.telling:
        others = _find_nearest(both, at)
        if not others:
            continue
        mine = both.mine.stances[at].denial
        theirs = [both.theirs.stances[other].denial for other in others]
        is_denied = mine == Denial.HEAD and set(theirs) == {Denial.FREE}
        is_said = mine == Denial.FREE and set(theirs) == {Denial.HEAD}
        if (is_denied or is_said) and _is_same_thing(both, at, others[0], is_denied=is_denied):
            word = claim.cut([at])
            reason = (
                f"“{word}” is denied, and the passage says it"
                if is_denied
                else f"“{word}” is said, and the passage denies it"
            )
            yield Difference("negation", reason, both.mine.quote(at), both.theirs.quote(others[0]))
            return


def _find_nearest(both: Partners, at: int) -> list[int]:
    """Return where the passage has a word, of several places those with most of what is beside."""
    beside = [place for place in both.mine.telling if place != at]
    clauses = {other: both.theirs.stances[other].clause for other in both.find(at)}
    firsts = {clause: other for other, clause in clauses.items()}
    near = {
        clause: both.share(beside, both.theirs.clause(other)) for clause, other in firsts.items()
    }
    most = max(near.values(), default=0.0)
    return [other for other, clause in clauses.items() if near[clause] == most]


def _is_same_thing(both: Partners, at: int, other: int, *, is_denied: bool) -> bool:
    """Say whether the same is said beside a word in both, and nothing there makes up for it."""
    beside = [place for place in both.mine.clause(at) if place != at]
    if not beside:  # they never leave
        sentence = both.mine.stances[at].sentence
        beside = [
            p for p in both.mine.telling if p != at and both.mine.stances[p].sentence == sentence
        ]
        return both.share(beside, both.theirs.telling) >= COPIED
    denied_there = (
        both.theirs.stances[p].denial == Denial.HEAD for word in beside for p in both.find(word)
    )
    if is_denied and any(denied_there):
        return False  # leaves are not
    clause = both.theirs.clause(other)
    is_near = clause == [other] or both.share(beside, clause) >= _NEAR
    if both.share(beside, both.theirs.telling) < LEAST_SHARE or not is_near:
        return False
    silent, place = (both.theirs, other) if is_denied else (both.mine, at)
    speaking, head = (both.mine, at) if is_denied else (both.theirs, other)
    spoken = speaking.wording.words[head].stem
    said, denied = silent.clause_stems(place), speaking.clause_stems(head)
    is_made_up_for = any(
        find_opposition(one, two)
        for one, two in product(said - speaking.stems, denied - (silent.stems - {spoken}))
    )
    return not is_made_up_for and speaking.stems >= said & DENYING

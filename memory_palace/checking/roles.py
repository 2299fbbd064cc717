"""Who does what to whom, told the other way round.

A passive and a converse ("buy" and "sell", "larger" and "smaller") turn the sides of a relation,
and so say the same where the sides are turned as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.opposites import find_opposition
from memory_palace.checking.partners import Partners
from memory_palace.checking.relations import (
    TwoSides,
    find_prepositions,
    find_verb_relations,
    is_straight,
    is_turned,
)
from memory_palace.checking.verdicts import Difference
from memory_palace.checking.wording import Wording
from memory_palace.language.tokens import tokenize

SYMMETRIC = frozenset(
    tokenize(
        "meet marry wed equal differ different same similar correlate correlation associate "
        "association relate relation connect connection link join share talk speak agree debate "
        "discuss compare combine mix overlap interact interaction bind match resemble coincide "
        "border intersect opposite identical equivalent parallel"
    )
)
"""What one does to another the other does to it."""

_KEPT = 0.5
"""Share of who does it that the passage has as who does it too, to be the same."""


def find_turned_roles(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield the first relation whose two sides the passage has the other way round."""
    both = Partners(claim, passage, alignment)
    for mine, theirs in product(
        find_verb_relations(both.mine), list(find_verb_relations(both.theirs))
    ):
        if claim.words[mine.link].stem in SYMMETRIC:
            continue
        one, other = claim.words[mine.link].stem, passage.words[theirs.link].stem
        converse = find_opposition(one, other)
        same = not converse and theirs.link in both.find(mine.link)
        is_doer_kept = both.share(sorted(mine.left), sorted(theirs.left)) >= _KEPT
        if (same and not is_doer_kept and is_turned(both, mine, theirs)) or (
            converse and is_straight(both, mine, theirs)
        ):
            yield _describe(both, mine, theirs)
            return
    for mine, theirs in product(find_prepositions(both.mine), list(find_prepositions(both.theirs))):
        one, other = claim.words[mine.link].key, passage.words[theirs.link].key
        if one == other and is_turned(both, mine, theirs) and not _is_converse(both, mine, theirs):
            yield _describe(both, mine, theirs)
            return


def _describe(both: Partners, mine: TwoSides, theirs: TwoSides) -> Difference:
    left, right = both.mine.phrase(mine.left), both.mine.phrase(mine.right)
    link = both.mine.phrase([mine.link])
    return Difference(
        "role",
        f"“{left}” and “{right}” have changed places at “{link}”",
        both.mine.quote(mine.link),
        both.theirs.quote(theirs.link),
    )


def _is_converse(both: Partners, mine: TwoSides, theirs: TwoSides) -> bool:
    """Say whether the clauses differ by an opposite as well: better than, worse than."""
    return oppose(both.mine.clause_stems(mine.link), both.theirs.clause_stems(theirs.link))


def oppose(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Say whether a word that only one has is the opposite of one that only the other has."""
    return any(find_opposition(a, b) for a, b in product(mine - theirs, theirs - mine))

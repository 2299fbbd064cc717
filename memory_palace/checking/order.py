"""What comes first and what comes later, and what leads to what, told the other way round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.partners import Partners, Text
from memory_palace.checking.relations import TwoSides, is_turned
from memory_palace.checking.verdicts import Difference, DifferenceKind
from memory_palace.checking.wording import UNITS, Wording

_LINKS: dict[tuple[str, ...], tuple[DifferenceKind, bool]] = {
    ("before",): ("order", True),
    ("until",): ("order", True),
    ("then",): ("order", True),
    ("finally",): ("order", True),
    ("afterwards",): ("order", True),
    ("followed", "by"): ("order", True),
    ("prior", "to"): ("order", True),
    ("after",): ("order", False),
    ("once",): ("order", False),
    ("preceded", "by"): ("order", False),
    ("as", "soon", "as"): ("order", False),
    ("causes",): ("role", True),
    ("caused",): ("role", True),
    ("leads", "to"): ("role", True),
    ("led", "to"): ("role", True),
    ("results", "in"): ("role", True),
    ("resulted", "in"): ("role", True),
    ("because",): ("role", False),
    ("because", "of"): ("role", False),
    ("due", "to"): ("role", False),
    ("caused", "by"): ("role", False),
    ("results", "from"): ("role", False),
    ("resulted", "from"): ("role", False),
}
"""Words between two things, and whether the earlier one, or the cause, stands before them."""
_EARLIER = frozenset(
    "before until till prior ahead earlier preceded precedes preceding first beforehand initially "
    "previously".split()
)
_LATER = frozenset(
    "after afterwards following followed follows once then later subsequently last lastly finally "
    "next second eventually".split()
)
_LONGEST = 3
_SHARED = 0.5
"""Share of either thing that the passage has on the other side."""


def find_turned_orders(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield the first two things that the passage has in the other order."""
    both = Partners(claim, passage, alignment)
    theirs = list(find_orders(both.theirs))
    for one, other in product(find_orders(both.mine), theirs):
        if one.kind == other.kind and is_turned(both, one, other, _SHARED):
            yield _describe(both, one, other)
            return


def find_orders(text: Text) -> Iterator[TwoSides]:
    """Yield what comes before what, earlier or cause left, at each word that says so."""
    keys = tuple(word.key for word in text.wording.words)
    for at in range(len(keys)):
        size = next((n for n in range(_LONGEST, 0, -1) if keys[at : at + n] in _LINKS), 0)
        if not size:
            continue
        kind, is_earlier_first = _LINKS[keys[at : at + size]]
        before, behind = _sides(text, at, at + size)
        left, right = (before, behind) if is_earlier_first else (behind, before)
        yield TwoSides(at, frozenset(left), frozenset(right), kind)


def _sides(text: Text, start: int, end: int) -> tuple[list[int], list[int]]:
    """Return the telling words before and behind a link, in its sentence.

    Where it opens the sentence, what follows the next comma is the other side.
    """
    sentence = text.stances[start].sentence
    words = text.wording.words
    inside = [
        at
        for at in text.telling
        if text.stances[at].sentence == sentence and words[at].stem not in UNITS
    ]
    before = [at for at in inside if at < start]
    behind = [at for at in inside if at >= end]
    if before:
        return before, behind
    comma = next((at for at in range(end + 1, len(words)) if "," in text.gap(at)), len(words))
    return [at for at in behind if at >= comma], [at for at in behind if at < comma]


def _describe(both: Partners, one: TwoSides, other: TwoSides) -> Difference:
    first, second = both.mine.phrase(one.left), both.mine.phrase(one.right)
    verb = "comes before" if one.kind == "order" else "leads to"
    reason = f"“{first}” {verb} “{second}”; in the passage it is the other way round"
    return Difference(one.kind, reason, both.mine.wording.text, both.theirs.wording.text)


def find_other_connections(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield a word of order that stands where a copied sentence has none, or one of another sense.

    "When" and "since" are other senses than "before". A word of order that was left out is none.
    """
    if not alignment.is_copied:
        return
    for change in alignment.changes:
        mine = [claim.words[at].key for at in change.mine]
        theirs = [passage.words[at].key for at in change.theirs]
        senses = _find_senses(mine)
        if senses and theirs and not senses & _find_senses(theirs):
            one, other = " ".join(mine), " ".join(theirs)
            yield Difference("order", f"“{one}” against “{other}”", one, other)
            return


def _find_senses(keys: Sequence[str]) -> frozenset[str]:
    lists = {"earlier": _EARLIER, "later": _LATER}
    return frozenset(sense for sense, words in lists.items() if not words.isdisjoint(keys))

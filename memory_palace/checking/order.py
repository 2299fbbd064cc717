"""What comes first and what comes later, and what leads to what, told the other way round."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.partners import Partners, Text
from memory_palace.checking.relations import TwoSides, is_turned
from memory_palace.checking.verdicts import Difference, DifferenceKind
from memory_palace.checking.wording import UNITS, Wording

_LINKS: dict[tuple[str, ...], tuple[DifferenceKind, bool]] = {
    **dict.fromkeys(
        [("before",), ("until",), ("then",), ("finally",), ("afterwards",), ("followed", "by"),
         ("prior", "to")], ("order", True),
    ),
    **dict.fromkeys(
        [("after",), ("once",), ("preceded", "by"), ("as", "soon", "as")], ("order", False)
    ),
    **dict.fromkeys(
        [("causes",), ("caused",), ("leads", "to"), ("led", "to"), ("results", "in"),
         ("resulted", "in")], ("role", True),
    ),
    **dict.fromkeys(
        [("because",), ("because", "of"), ("due", "to"), ("caused", "by"), ("results", "from"),
         ("resulted", "from")], ("role", False),
    ),
}  # fmt: skip
"""Words between two things, and whether the earlier one, or the cause, stands before them."""
_LONGEST = 3
_SHARED = 0.5
"""Share of either thing that the passage has on the other side."""


def find_turned_orders(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield the first two things that the passage has in the other order."""
    both = Partners(claim, passage, alignment)
    theirs = list(find_orders(both.theirs))
    for (kind, one), (other_kind, other) in product(find_orders(both.mine), theirs):
        if kind == other_kind and is_turned(both, one, other, least=_SHARED):
            yield _describe(kind, both, one)
            return


def find_orders(text: Text) -> Iterator[tuple[DifferenceKind, TwoSides]]:
    """Yield what comes before what, earlier or cause left, at each word that says so."""
    keys = tuple(word.key for word in text.wording.words)
    for at in range(len(keys)):
        size = next((n for n in range(_LONGEST, 0, -1) if keys[at : at + n] in _LINKS), 0)
        if size:
            kind, is_earlier_first = _LINKS[keys[at : at + size]]
            before, behind = _sides(text, at, at + size)
            left, right = (before, behind) if is_earlier_first else (behind, before)
            yield kind, TwoSides(at, frozenset(left), frozenset(right))


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
    gaps = (
        text.wording.text[words[at - 1].end : words[at].start] for at in range(end + 1, len(words))
    )
    comma = next((end + 1 + n for n, gap in enumerate(gaps) if "," in gap), len(words))
    return [at for at in behind if at >= comma], [at for at in behind if at < comma]


def _describe(kind: DifferenceKind, both: Partners, one: TwoSides) -> Difference:
    first, second = both.mine.phrase(one.left), both.mine.phrase(one.right)
    verb = "comes before" if kind == "order" else "leads to"
    reason = f"“{first}” {verb} “{second}”; in the passage it is the other way round"
    return Difference(kind, reason, both.mine.wording.text, both.theirs.wording.text)

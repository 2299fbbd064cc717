"""Two things that have changed places."""

from __future__ import annotations

from collections.abc import Iterator

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.comparing import (
    find_closeness,
    find_crossings,
    find_exchanged,
    find_reversals,
    share_content,
)
from memory_palace.checking.verdicts import Difference
from memory_palace.checking.wording import Wording

COPIES = 0.8
"""Share of a clause in another from which on the order of words is compared."""


def find_swaps(claim: Wording, passage: Wording, alignment: Alignment) -> Iterator[Difference]:
    """Yield two things that are swapped in a clause: who does what to whom."""
    for clause in claim.clauses:
        near = max(passage.clauses, key=lambda other: find_closeness(clause, other), default=clause)
        pair = find_exchanged(clause.keys, near.keys)
        if pair and share_content(clause, near) >= COPIES:
            reason = f"{pair[0]} and {pair[1]} are swapped"
            yield Difference("order", reason, clause.text, near.text)


def find_exchanges(claim: Wording, passage: Wording, alignment: Alignment) -> Iterator[Difference]:
    """Yield an exchange between the statements of a passage, or a change told backwards."""
    for reason in (
        *find_crossings(claim, passage.sentences),
        *find_reversals(claim, passage.sentences),
    ):
        yield Difference("order", reason, claim.text, passage.text)

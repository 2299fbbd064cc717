"""What is denied where a passage says it, or said where it is denied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.comparing import FOLLOWS, find_closeness, find_likeness, share_content
from memory_palace.checking.opposites import find_opposites
from memory_palace.checking.verdicts import Difference
from memory_palace.checking.wording import DENIALS, Wording

_SHORT = 5
"""Words of a clause that does nothing but deny one thing."""


def find_denied_clauses(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield a clause that is denied where the passage says it, or the other way round."""
    denied = _find_denied(passage)
    for clause in claim.clauses:
        best = max(passage.clauses, key=lambda other: find_closeness(clause, other), default=clause)
        is_near = find_likeness(clause, best) >= FOLLOWS
        is_exception = clause.negations and any(key in denied for key in clause.keys)
        differs = (clause.negations + best.negations) % 2 == 1 and not is_exception
        if is_near and differs and not _is_made_up_for(clause, best):
            reason = f"“{clause.text}” against “{best.text}”"
            yield Difference("negation", reason, clause.text, best.text)


def find_exceptions(claim: Wording, passage: Wording, alignment: Alignment) -> Iterator[Difference]:
    """Yield a word that a short clause of the passage denies: ``never shake``, ``tea is not``."""
    denied = _find_denied(passage)
    for clause in claim.clauses:
        if clause.negations or clause.denying or len(clause.keys) < 2:
            continue
        for key in clause.keys:
            if key in denied and share_content(clause, alignment.around) >= FOLLOWS:
                theirs = denied[key].text
                yield Difference("negation", f"{key} against “{theirs}”", clause.text, theirs)
                return


def _find_denied(passage: Wording) -> Mapping[str, Wording]:
    """Return words that a clause of its own denies: ``never shake``, ``coffee is not``."""
    return {
        clause.keys[0]: clause
        for clause in passage.clauses
        if len(clause.keys) == 1 and clause.negations % 2 and len(clause.stems) <= _SHORT
    }


def _is_made_up_for(one: Wording, other: Wording) -> bool:
    """Say whether an opposite or a denying word makes up for a negation: not open, so shut."""
    theirs = set(other.stems) - DENIALS
    is_opposed = any(find_opposites(stem) & theirs for stem in one.stems if stem not in DENIALS)
    return is_opposed or one.denying != other.denying or one.turns != other.turns

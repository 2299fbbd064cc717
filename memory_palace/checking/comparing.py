"""What a claim and a passage share."""

from __future__ import annotations

from memory_palace.checking.wording import UNITS, Wording


def share_content(claim: Wording, other: Wording) -> float:
    """Return the share of a claim's content words, units aside, that another passage has too."""
    mine = [stem for stem in claim.content if stem not in UNITS]
    theirs = set(other.content)
    return sum(stem in theirs for stem in mine) / len(mine) if mine else 0.0

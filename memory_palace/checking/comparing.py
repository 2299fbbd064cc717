"""What a claim and a passage share."""

from __future__ import annotations

from memory_palace.checking.wording import Wording


def share_content(claim: Wording, other: Wording) -> float:
    """Return the share of a claim's content words, units aside, that another passage has too."""
    return len(claim.matter & other.matter) / len(claim.matter) if claim.matter else 0.0

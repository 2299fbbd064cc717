"""What a round proposes to add to notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

ProposalKind: TypeAlias = Literal["alias", "acronym", "link", "question", "image"]


@dataclass(frozen=True, slots=True)
class RoundProposal:
    """One thing that a person may want in a note."""

    kind: ProposalKind
    path: str
    """Of the note that would change."""
    text: str
    """The name, question or image; of a link the words that become it."""
    line: int = 0
    """1-based line of the file where a link goes; 0 for front matter and images."""
    target: str = ""
    """Path of the note that a link leads to."""
    reason: str = ""
    """One line that names the evidence."""
    answer: str = ""
    """Words of the note that answer a question, where a model says which."""
    written: str = ""
    """What stands in place of the words that become a link."""


def name_notes(proposals: Sequence[RoundProposal]) -> Iterator[str]:
    """Yield the path of each note that would change, once, in the order of the proposals."""
    yield from dict.fromkeys(proposal.path for proposal in proposals)

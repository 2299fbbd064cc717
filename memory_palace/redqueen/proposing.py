"""Propose what a person would keep, without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from memory_palace.notes.document import Library
from memory_palace.redqueen.asked_elsewhere import find_questions
from memory_palace.redqueen.missing_links import find_missing_links
from memory_palace.redqueen.other_names import find_acronyms, find_aliases
from memory_palace.redqueen.proposals import RoundProposal
from memory_palace.redqueen.vault_names import VaultNames

_PER_NOTE, _PER_TARGET = 2, 2
"""Links that one round proposes in a note, and to a note: the next round has more."""


def propose(library: Library) -> list[RoundProposal]:
    """Return proposals, not yet tried, best first."""
    vault = VaultNames(library.documents)
    made = chain(
        find_acronyms(vault), find_aliases(vault), find_questions(vault), find_missing_links(vault)
    )
    ranked = sorted(made, key=lambda found: (-found[0], found[1].path, found[1].text))
    return list(_spread(proposal for _, proposal in ranked))


def _spread(proposals: Iterable[RoundProposal]) -> Iterator[RoundProposal]:
    """Yield proposals without more of the same than a person wants to look at."""
    sources: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for proposal in proposals:
        if proposal.kind == "link":
            if sources[proposal.path] >= _PER_NOTE or targets[proposal.target] >= _PER_TARGET:
                continue
            sources[proposal.path] += 1
            targets[proposal.target] += 1
        yield proposal

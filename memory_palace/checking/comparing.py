"""An amount or a time of a claim beside those of a passage: which of them stands for which."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.amounts import Amount
from memory_palace.checking.told_times import ToldTime
from memory_palace.checking.wording import Wording

_MARGIN = 0.75
"""How much more of what is said around a place must belong to its rival."""
_LIKE = 0.5
"""Likeness from which a word stands for another at all."""
_MOST_REPLACED = 4
"""Words that are put for others, at most: more of them are another statement."""


Place = TypeVar("Place", Amount, ToldTime)
"""What stands at a place of a text, and is said of something."""


@dataclass(frozen=True)
class PlaceComparison(ABC, Generic[Place]):
    """A claim beside a passage."""

    claim: Wording
    passage: Wording
    alignment: Alignment
    near: Sequence[Place]
    """Those of the passage."""

    @abstractmethod
    def agree(self, mine: Place, theirs: Place) -> bool:
        """Say whether two can be the same."""

    @property
    def is_copied(self) -> bool:
        """Whether the claim is nearly in the wording of the passage."""
        return self.alignment.is_copied

    @cached_property
    def meanings(self) -> dict[str, tuple[str, float]]:
        """Stems of the claim with those that stand for them in the passage, and how like both."""
        return {
            self.claim.words[pair.mine].stem: (self.passage.words[pair.theirs].stem, pair.likeness)
            for pair in self.alignment.pairs
            if pair.theirs >= 0
        }

    def score(self, mine: Place, theirs: Place) -> float:
        """Return how much of what is said of one is said of the other, word by word."""
        total = 0.0
        for stem, weight in mine.around.items():
            is_same = stem in theirs.around
            other, likeness = (stem, 1.0) if is_same else self.meanings.get(stem, ("", 0.0))
            if likeness >= _LIKE and other in theirs.around:
                total += likeness * min(weight, theirs.around[other])
        return total

    def nearest(self, mine: Place, those: Iterable[Place]) -> Place | None:
        """Return the one that has most in common with that of the claim."""
        return max(those, key=lambda one: self.score(mine, one), default=None)

    def find_replaced(
        self, mine: Place, may_replace: Callable[[Place, Place], bool] = lambda _mine, _theirs: True
    ) -> Place | None:
        """Return the one that was replaced, the words around it the same, in a copied claim."""
        if not self.is_copied:
            return None
        return next(
            (
                one
                for one in self.near
                if not self.agree(mine, one)
                and self._stands_for(mine, one)
                and may_replace(mine, one)
            ),
            None,
        )

    def _stands_for(self, mine: Place, theirs: Place) -> bool:
        return any(
            max(len(change.mine), len(change.theirs)) <= _MOST_REPLACED
            and _touches(self.claim, change.mine, mine)
            and _touches(self.passage, change.theirs, theirs)
            for change in self.alignment.changes
        )

    def is_nearer(self, mine: Place, all_mine: Sequence[Place], best: Place, rival: Place) -> bool:
        """Say whether a rival has more of what is said of one of a claim than its equal.

        Where the claim has the rival too, both are exchanged together, or not at all.
        """
        gain = self.score(mine, rival) - self.score(mine, best)
        gains = [
            self.score(one, best) - self.score(one, rival)
            for one in all_mine
            if one is not mine and self.agree(one, rival)
        ]
        return gain + max(gains, default=0.0) > _MARGIN


def _touches(wording: Wording, places: range, place: Amount | ToldTime) -> bool:
    words = (wording.words[at] for at in places)
    return any(word.start < place.stop and place.start < word.end for word in words)

"""What looking at a place tells. It errs, and nothing is believed because of one look."""

from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import dataclass

MISS, FALSE_ALARM = 0.2, 0.05
"""How often a look overlooks the target, and sees it where it is not."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One look at one node."""

    node_id: int
    is_hit: bool
    distance_metres: float | None = None
    """To the target, where an approach has measured it."""


class NoisyPerception:
    """Looks for a target at a known node, with errors of both kinds."""

    def __init__(
        self,
        target: int,
        source: random.Random,
        *,
        miss: float = MISS,
        false_alarm: float = FALSE_ALARM,
    ) -> None:
        self._target, self._source = target, source
        self._miss, self._false_alarm = miss, false_alarm

    def look(self, node_id: int) -> Sighting:
        """Look from afar."""
        chance = 1 - self._miss if node_id == self._target else self._false_alarm
        return Sighting(node_id, self._source.random() < chance)

    def approach(self, node_id: int) -> Sighting:
        """Look from near: something that is not there cannot be reached."""
        sighting = self.look(node_id)
        is_there = sighting.is_hit and node_id == self._target
        return Sighting(node_id, sighting.is_hit, 0.5 if is_there else None)


def contains_quote(text: str, quote: str) -> bool:
    """Whether a text says the quote, whole words, whatever the case, spaces, hyphens and marks.

    A quote without a word is never said.
    """
    wanted = _words(quote)
    return bool(wanted) and f" {wanted} " in f" {_words(text)} "


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))

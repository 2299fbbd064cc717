"""What looking at a place tells. It errs, and nothing is believed because of one look."""

from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import dataclass

ERRS = 0.1
"""How often a look overlooks the target, and how often it sees it where it is not."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One look at one node."""

    node_id: int
    is_hit: bool
    distance_metres: float | None = None
    """To the target, where an approach has measured it."""


class NoisyPerception:
    """Looks for a target at a known node, with errors of both kinds."""

    def __init__(self, target: int, source: random.Random, errs: float = ERRS) -> None:
        self._target, self._source, self._errs = target, source, errs

    def look(self, node_id: int, *, is_near: bool) -> Sighting:
        """Look from afar, or from near: something that is not there cannot be reached."""
        is_there = node_id == self._target
        is_hit = is_there != (self._source.random() < self._errs)
        return Sighting(node_id, is_hit, 0.5 if is_near and is_hit and is_there else None)


def contains_quote(text: str, quote: str) -> bool:
    """Whether a text says the quote, whole words, whatever the case, spaces, hyphens and marks.

    A quote without a word is never said.
    """
    wanted = _words(quote)
    return bool(wanted) and f" {wanted} " in f" {_words(text)} "


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))

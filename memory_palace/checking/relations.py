"""Relations of a text: two sides and the word that links them, in one direction.

The doer stands on the left of a verb and what it is done to on the right, whichever way a sentence
puts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from memory_palace.checking.partners import Partners, Text
from memory_palace.language.vocabulary import ADJECTIVES, DETERMINERS, VERBS

_BE = frozenset("is are was were be been being am gets got isn't aren't wasn't weren't".split())
_BETWEEN = 3
"""Words between a form of "be" and its participle."""
PREPOSITIONS = frozenset(
    "to from of into onto over under against than for on in by at with".split()
)
_DIRECTED = frozenset("to from into onto over under above below against than".split())
_PHRASE = 3
"""Telling words of the phrase on either side of a preposition."""


class TwoSides(NamedTuple):
    """A link between two sides, by places of words."""

    link: int
    left: frozenset[int]
    right: frozenset[int]


def find_verb_relations(text: Text) -> Iterator[TwoSides]:
    """Yield for each verb what stands before and behind it in its clause, the doer left."""
    words = text.wording.words
    for at in text.telling:
        if not _is_verb(text, at):
            continue
        clause = text.clause(at)
        before = [place for place in clause if place < at]
        behind = [place for place in clause if place > at]
        by = next((p for p in range(at + 1, len(words)) if words[p].key == "by"), len(words))
        doer = [place for place in behind if place > by]
        rest = [place for place in behind if place < by]
        if is_passive(text, at):
            yield TwoSides(at, frozenset(doer), frozenset(before + rest))
        elif words[at].key.endswith("ed") and _next_key(text, at) in PREPOSITIONS:
            continue  # "seconds added for each move" may be either
        else:
            yield TwoSides(at, frozenset(before), frozenset(behind))


def _is_verb(text: Text, at: int) -> bool:
    word, before = text.wording.words[at], text.wording.words[at - 1].key if at else ""
    if _next_key(text, at) == "with" or before in DETERMINERS or before in PREPOSITIONS:
        return False
    return (word.key in VERBS or word.key.endswith("ed")) and before not in ADJECTIVES


def _next_key(text: Text, at: int) -> str:
    return text.wording.words[at + 1].key if at + 1 < len(text.wording.words) else ""


def is_passive(text: Text, at: int) -> bool:
    """Say whether a word is a participle behind a form of "be", or right before "by"."""
    words = text.wording.words
    key = words[at].key
    is_participle = key.endswith(("ed", "en")) or (key in VERBS and not key.endswith("ing"))
    return is_participle and (
        _next_key(text, at) == "by"
        or any(word.key in _BE for word in words[max(0, at - _BETWEEN) : at])
    )


def find_sides(text: Text, at: int) -> TwoSides:
    """Return what stands before and behind a word in its clause."""
    clause = text.clause(at)
    before, behind = (p for p in clause if p < at), (p for p in clause if p > at)
    return TwoSides(at, frozenset(before), frozenset(behind))


def find_prepositions(text: Text) -> Iterator[TwoSides]:
    """Yield for each preposition the phrases that stand right before and behind it."""
    words = text.wording.words
    for at, word in enumerate(words):
        if word.key in _DIRECTED:
            before = list(takewhile(lambda p: words[p].is_telling, range(at - 1, -1, -1)))
            skipped = at + 1 + (at + 1 < len(words) and not words[at + 1].is_telling)
            behind = list(takewhile(lambda p: words[p].is_telling, range(skipped, len(words))))
            yield TwoSides(at, frozenset(before[:_PHRASE]), frozenset(behind[:_PHRASE]))


def is_turned(both: Partners, mine: TwoSides, theirs: TwoSides, *, least: float = 0.0) -> bool:
    """Say whether two relations by one link have their sides exchanged.

    Something of either side, and at least ``least`` of it, is on the other side then, and more of
    both is exchanged than stays.
    """
    one, other = sorted(mine.left), sorted(mine.right)
    left, right = sorted(theirs.left), sorted(theirs.right)
    crossed = both.share(one, right), both.share(other, left)
    kept = both.share(one, left), both.share(other, right)
    return (
        min(crossed) > 0
        and min(crossed) >= least
        and sum(crossed) > sum(kept)
        and crossed[0] >= kept[0]
        and crossed[1] >= kept[1]
    )


def is_straight(both: Partners, mine: TwoSides, theirs: TwoSides) -> bool:
    """Say whether two relations have the same on either side."""
    return is_turned(both, mine, theirs._replace(left=theirs.right, right=theirs.left))

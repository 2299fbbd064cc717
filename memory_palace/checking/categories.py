"""A word that a passage has another one for: its opposite, another thing of the kind, a name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.opposites import find_allies, find_opposition
from memory_palace.checking.partners import Partners
from memory_palace.checking.polarity import DENYING, TURNING
from memory_palace.checking.relations import find_sides, is_turned
from memory_palace.checking.verdicts import Difference, differ
from memory_palace.checking.wording import UNITS, Wording
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import TIME_WORDS

_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][^\W\d_A-Z]{2,}[\w-]*")
_NEAR = 2
"""Telling words on either side that show of what a word is said."""


def find_opposed_words(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield a word where the passage says its opposite, or another thing of the kind, of the same.

    A denied opposite is no difference, and neither is one that stands in both.
    """
    both = Partners(claim, passage, alignment)
    for at, word in enumerate(claim.words):
        if find_allies(word.stem) == {word.stem} and not word.is_telling:
            continue
        for other, theirs in enumerate(passage.words):
            kind = find_opposition(word.stem, theirs.stem)
            if kind not in (None, "role") and _are_comparable(both, at, other):
                yield differ(kind, claim.cut([at]), passage.cut([other]))
                return


def _are_comparable(both: Partners, at: int, other: int) -> bool:
    """Say whether two words are said of the same, both plainly or both denied."""
    word, theirs = both.mine.wording.words[at], both.theirs.wording.words[other]
    mine, other_stems = both.mine.sentence(at), both.theirs.sentence(other)
    if both.mine.stances[at].denial != both.theirs.stances[other].denial:
        return False
    if not find_allies(theirs.stem).isdisjoint(mine):
        return False
    if (mine ^ other_stems) & TURNING - {word.stem, theirs.stem}:
        return False
    denying = both.mine.clause_stems(at) ^ both.theirs.clause_stems(other)
    if denying & DENYING - {word.stem, theirs.stem}:
        return False
    near = _share_near(both, at, other)
    if not near or is_turned(both, find_sides(both.mine, at), find_sides(both.theirs, other)):
        return False  # a converse: larger than this, smaller than that
    allies = find_allies(word.stem)
    own = [p for p, found in enumerate(both.theirs.wording.words) if found.stem in allies]
    rest = [place for place in both.mine.telling if place != at]
    return (
        near > max((_share_near(both, at, place) for place in own), default=0.0)
        and both.share(rest, both.theirs.telling) >= 0.5
    )


def _share_near(both: Partners, at: int, other: int) -> float:
    """Return how much of what stands beside a word stands beside another one too.

    Of prepositions and adverbs only what they govern says of what they are said.
    """
    if both.mine.wording.words[at].is_telling:
        return both.share(both.mine.beside(at, _NEAR), both.theirs.beside(other, _NEAR + 1))
    return both.share(both.mine.beside(at, 1)[-1:], both.theirs.beside(other, 1)[-1:])


def find_other_names(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield names that the text around does not have: capitalised where no sentence begins."""
    for match in _NAME.finditer(claim.text):
        stems = tokenize(match[0])
        known = {*alignment.around.stems, *UNITS}
        if match[0].casefold() not in TIME_WORDS and stems and known.isdisjoint(stems):
            yield differ("name", match[0], "")

"""What can be told of a claim that is not in English: which words of a copied sentence differ.

Nothing is known of what they mean, except of denials.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.verdicts import Difference, differ
from memory_palace.checking.wording import Wording
from memory_palace.language.word_lists import FOREIGN_NEGATIONS

_NEARLY_ALL = 0.75
_MOST_WORDS = 3
"""That another one, or two, may stand for."""
_DENIALS = re.compile(
    rf"\b(?:{'|'.join(sorted(FOREIGN_NEGATIONS))}|kein(?:e[mnrs]|s)|niemand|nichts|aucune?|rien|nada"
    "|ningun[oa]?|ningún|nadie|não|nem|sem|non|senza|mai|nessun[ao]?|niet|geen|nooit|zonder"
    "|не|нет|нельзя|без|никогда|никто)\\b"
    "|ない|なく|なかっ|なし|ませ|ずに|[不没沒無无未非]|않|없|못|아니",
    re.IGNORECASE,
)
"""Words of languages written with spaces, then parts of Japanese, Chinese and Korean."""


def find_foreign_changes(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield the first denial that only one of both has, in a sentence that is copied else.

    Where nearly all of it is, any word that stands for another is a difference.
    """
    if not alignment.is_copied:
        return
    for change in alignment.changes:
        mine, theirs = _quote(claim, change.mine, 1), _quote(passage, change.theirs, 1)
        is_denied = bool(_DENIALS.search(mine)) != bool(_DENIALS.search(theirs))
        sizes = len(change.mine), len(change.theirs)
        is_other = alignment.copied >= _NEARLY_ALL and min(sizes) > 0 and max(sizes) <= _MOST_WORDS
        if is_denied or is_other:
            if not is_denied:
                mine, theirs = _quote(claim, change.mine, 0), _quote(passage, change.theirs, 0)
            yield differ("negation" if is_denied else "category", mine, theirs)
            return


def _quote(wording: Wording, places: range, beside: int) -> str:
    """Return the words at some places with those beside them: a denial may be part of a word."""
    last = min(places.stop + beside, len(wording.words))
    return wording.cut(range(max(0, places.start - beside), last))

"""Whether two texts say the same, word for word: what is folded is not written a second time."""

from __future__ import annotations

import re
from itertools import pairwise
from unicodedata import normalize

_BEFORE, _BEHIND = "\"'“”„‘’«»(*", ".,;:!…\"'“”‘’«»)*"
"""What may stand at the edges of a word without changing what is said. A question mark would, and
so would a sign before a number, or a dot before a name."""
_ARTICLES = frozenset({"a", "an", "the"})
_ENDS = frozenset(".!?:")
_NOT = re.compile(r"\b(?:ca(?=n['’]t)|cannot\b)|n['’]t\b")
_OPENING = re.compile(
    r"\A(?:please\s+)?(?:remember(?:\s+that)?|note(?:\s+that)?|fyi|(?:just\s+)?so\s+you\s+know)"
    r"\b[,:]?\s+",
    re.IGNORECASE,
)


def reduce_statement(text: str) -> tuple[str, ...]:
    """Return the words of a text in order; two texts that say the same have the same ones.

    White space, case, the punctuation at the edges of words, English articles and an opening
    such as "remember that" do not count. Signs, digits, units, names, negations, the order of
    words, question marks and every letter do. Text with code is compared as it is written.
    """
    if "`" in text:
        return tuple(text.split())
    given = normalize("NFC", _OPENING.sub("", text.strip())).split()
    words = [
        word.lstrip(_BEFORE).rstrip(_BEHIND)
        for before, word in pairwise([".", *given])
        if not _is_article(word, begins=before[-1] in _ENDS)
    ]
    lowered = " ".join(words).casefold()
    return tuple(_NOT.sub(_part, lowered).split()) or tuple(given)


def _is_article(word: str, *, begins: bool) -> bool:
    """Say whether a word is one. A capital A within a sentence is a name: plan A."""
    bare = word.strip(_BEFORE)
    return bare.casefold() in _ARTICLES and (bare != "A" or begins)


def _part(match: re.Match[str]) -> str:
    """Return what stands for a match: "do not" for "don't", "can not" for "cannot"."""
    return {"ca": "can", "cannot": "can not"}.get(match[0], " not")

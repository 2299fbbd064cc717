"""Whether two texts say the same, word for word: what is folded is not written a second time."""

from __future__ import annotations

import re
from itertools import pairwise
from unicodedata import normalize

_BEFORE, _BEHIND = "\"'“„«(*", ".,;:!…\"'”»)*"
"""What may stand at the edges of a word without changing what is said. A question mark would, and
so would a sign before a number, or a dot before a name."""
_CURLY = str.maketrans("’‘", "''")
_ARTICLES = frozenset({"a", "an", "the"})
_ENDS = frozenset(".!?:")
_SHORT = {
    "n't": " not",
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "'re": " are",
    "'m": " am",
    "'ll": " will",
    "'ve": " have",
}
_SHORTENED = re.compile(r"\b(?:can't|won't|cannot)\b|(?:n't|'re|'m|'ll|'ve)\b")
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
    given = normalize("NFC", _OPENING.sub("", text.strip())).translate(_CURLY).split()
    words = [
        _trim(word)
        for before, word in pairwise([".", *given])
        if not _is_article(word, begins=before[-1] in _ENDS)
    ]
    lowered = _SHORTENED.sub(lambda match: _SHORT[match[0]], " ".join(words).casefold())
    return tuple(lowered.split()) or tuple(given)


def fold_case(text: str) -> str:
    """Return a text in which every word of ``reduce_statement`` stands that it took as it was."""
    return normalize("NFC", text).casefold()


def _trim(word: str) -> str:
    """Take off what does not count; "No, more" is not "No more"."""
    bare = word.lstrip(_BEFORE).rstrip(_BEHIND)
    return f"{bare}," if bare.casefold() == "no" and not word.endswith(bare) else bare


def _is_article(word: str, *, begins: bool) -> bool:
    """Say whether a word is one. A capital A within a sentence is a name: plan A."""
    bare = word.strip(_BEFORE)
    return bare.casefold() in _ARTICLES and (bare != "A" or begins)

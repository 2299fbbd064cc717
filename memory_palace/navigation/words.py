"""The words of a goal and of a node: as the source document cuts them, and as we do."""

from __future__ import annotations

import re

from memory_palace.language.stopwords import STOPWORDS
from memory_palace.language.tokens import tokenize

_MARKS = re.compile(r"[^\w\s]")
_JOINTS = re.compile(r"[-‐‑_/]")


def literal_words(text: str) -> list[str]:
    """Return words as source document 004 does: marks are deleted, so ``a-b`` becomes ``ab``."""
    return _MARKS.sub("", text.lower().strip()).split()


def goal_words(text: str) -> frozenset[str]:
    """Return the distinct stems of a goal's content words, of all words where it has no other.

    A hyphen separates words, and a word that is said twice counts once: the document's way makes
    "red-backpack" miss "red backpack", and "red red backpack" score below "red backpack".
    """
    parts = _JOINTS.sub(" ", text)
    pairs = list(zip(tokenize(parts, stems=False), tokenize(parts), strict=True))
    content = frozenset(stem for word, stem in pairs if word not in STOPWORDS)
    return content or frozenset(stem for _, stem in pairs)


def node_words(text: str) -> frozenset[str]:
    """Return the distinct stems of a node's text."""
    return frozenset(tokenize(text))

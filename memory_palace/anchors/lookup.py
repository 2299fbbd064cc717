"""From the words of a text to the anchors in it, and the passages those lead to.

What comes first among all passages is retrieval's to say; this is one signal of its ranking.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory_palace.anchors.book import Book
from memory_palace.anchors.terms import runs, words_of
from memory_palace.index.postings import NO_ROWS
from memory_palace.language.pointing import points_back
from memory_palace.models import AnchorEvidence, FiredAnchor
from memory_palace.notes.rooms import stem_of

IN_SCOPE = 1.0
"""The anchor score of a passage in the project that a text points at."""


def find_passages(
    book: Book, text: str, *, projects: Sequence[str] | None = None, has_context: bool = False
) -> AnchorEvidence:
    """Return the anchors in a text, and the passages that they lead to.

    ``projects`` are the folders that "that project" stands for, instead of the active ones;
    ``has_context`` says that something was said before, so that "it" alone may point at them.
    Neither all passages nor all terms are walked: the cost depends on the words of the text.
    """
    places = match_anchors(book, text)
    fired = [FiredAnchor(book.anchors[at].display, book.anchors[at].kind) for at in places]
    parts = [(NO_ROWS, np.zeros(0, np.float32))]
    parts += (book.entries_of(place) for place in places)
    if not places and points_back(text, has_context=has_context):
        for folder in book.projects if projects is None else projects:
            rows = book.rows_below(folder)
            if len(rows):
                parts.append((rows, np.full(len(rows), IN_SCOPE, np.float32)))
                fired.append(FiredAnchor(stem_of(folder.rstrip("/")), "pronoun"))
    rows, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
    scores = scores * book.trust[book.snapshot.row_note[rows]]
    distinct, owners = np.unique(rows, return_inverse=True)
    best = np.zeros(len(distinct), np.float32)
    np.maximum.at(best, owners, scores)
    return AnchorEvidence(distinct, best, tuple(fired), book.capped, book.settings.source_cap)


def match_anchors(book: Book, text: str) -> list[int]:
    """Return the anchors whose words stand in a text, in its order; denied ones never do."""
    return [place for place in find_in(book, text) if not book.denied[place]]


def find_in(book: Book, text: str) -> list[int]:
    """Return the anchors whose words stand in a text; of two that overlap the longer counts.

    A hash join of the text's runs of words with the table of keys: its cost does not depend on the
    size of the vocabulary.
    """
    words = words_of(text)
    taken = [False] * len(words)
    found: dict[int, int] = {}
    for start, length, key in sorted(runs(words), key=lambda run: (-run[1], run[0])):
        if key in book.table and not all(taken[start : start + length]):
            taken[start : start + length] = [True] * length
            for place in book.table[key]:
                found.setdefault(place, start)
    return sorted(found, key=lambda place: (found[place], place))

"""What stands in the scope of a question: one link from a note it names, or in a project it means.

Inside a scope, words that the scope does not hold say nothing: the passage that holds most of the
others is the best there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.book import Book
from memory_palace.anchors.words import Coverage
from memory_palace.models import Scores

LEAST = 0.4
"""Anchor score of a passage in scope that holds none of the words."""
MOST = 0.9
"""Anchor score of those that hold most of them; both chosen on CORF dev (.797 for .774 with .6
for all of a project, .806 with the links)."""
NAMED = 0.25
"""Power of the share of a named note in what the question tells: 0 would take any title's word for
its subject, 1 leaves a note of one common word without links (CORF dev, depth: .73, .89, .89)."""


class Entries(NamedTuple):
    """Passages that something leads to."""

    rows: NDArray[np.int64]
    scores: Scores
    added_ns: NDArray[np.int64]
    """When each came since the nightly build, 0 for what that build covers."""


def linked_entries(book: Book, place: int, strength: float, words: Coverage) -> Entries:
    """Return what stands one link away from the notes an anchor names, and holds other words."""
    rows = book.rows_linked(place)
    shares = words.beyond(rows, book.anchors[place].key)
    rows, shares = rows[shares > 0], shares[shares > 0]
    scores = _scale(shares) * np.float32(strength**NAMED)
    return Entries(rows, scores, np.zeros(len(rows), np.int64))


def project_entries(book: Book, folders: Sequence[str], words: Coverage) -> Entries:
    """Return every passage of some folders."""
    rows = np.concatenate([np.zeros(0, np.int64), *(book.rows_below(f) for f in folders)])
    return Entries(rows, _scale(words.of(rows)), np.zeros(len(rows), np.int64))


def _scale(shares: Scores) -> Scores:
    best = shares.max(initial=0)
    if not best:
        return np.full(len(shares), LEAST, np.float32)
    scores: Scores = (LEAST + (MOST - LEAST) * shares / best).astype(np.float32)
    return scores

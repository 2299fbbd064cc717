"""Where anchors lead: the passages nearest in meaning, and those that hold the term."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.corpus import Passage
from memory_palace.anchors.terms import runs
from memory_palace.anchors.tier import Anchor, Keys, Lists
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix, Scores

MENTION = 0.2
"""What holding the term adds to a cosine: a name means little to an embedder."""
_RUN = 16
"""Rows in a run on average from which on runs are worth looking for."""
_BLOCK = 8192
"""Rows per matrix product: 400 anchors take 13 MB."""

Places = NDArray[np.int64]
Pairs = tuple[Places, Places]
"""Anchors, and the rows that hold them, in parallel."""


def key_table(anchors: Sequence[Anchor]) -> dict[str, list[int]]:
    """Return the anchors that each key or alias triggers: a question is looked up in it."""
    table: dict[str, list[int]] = {}
    for place, anchor in enumerate(anchors):
        for key in dict.fromkeys((anchor.key, *anchor.aliases)):
            table.setdefault(key, []).append(place)
    return table


def find_mentions(passages: Iterable[Passage], table: Mapping[str, Sequence[int]]) -> Pairs:
    """Return which passages hold which anchors, each pair once."""
    anchors: list[int] = []
    rows: list[int] = []
    for passage in passages:
        keys = {key for _, _, key in runs(list(passage.words)) if key in table}
        held = sorted({place for key in keys for place in table[key]})
        anchors += held
        rows += [passage.row] * len(held)
    return np.array(anchors, np.int64), np.array(rows, np.int64)


def score_pairs(
    matrix: Matrix, snapshot: Snapshot, rows: Places, mentions: Pairs, *, theta: float
) -> tuple[Places, Places, Scores]:
    """Return anchor, row and score of every pair worth keeping, in no order.

    A pair is kept where the cosine reaches ``theta``, or where the passage holds the term. Scores
    are in [0, 1].
    """
    parts: list[tuple[Places, Places, Scores]] = []
    for block, vectors in _blocks(snapshot, rows) if theta < 1 and matrix.shape[1] else ():
        cosines = matrix @ vectors.T
        flat = np.flatnonzero(cosines.ravel() >= max(theta, 1e-6))
        anchors, places = np.divmod(flat, len(block))
        parts.append((anchors, block[places], cosines.ravel()[flat]))
    anchors, held = mentions
    if len(anchors):
        cosines = _pairwise(matrix, snapshot, anchors, held)
        parts.append((anchors, held, np.maximum(cosines, 0) + np.float32(MENTION)))
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32)
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return joined[0], joined[1], np.clip(joined[2], 0, 1)


def _blocks(snapshot: Snapshot, rows: Places) -> Iterator[tuple[Places, Matrix]]:
    """Yield rows with their vectors, which are not copied where a run of rows is wanted."""
    rows = np.sort(rows)
    ends = np.append(np.flatnonzero(np.diff(rows) != 1) + 1, len(rows))
    if len(ends) > len(rows) // _RUN + 1:
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            yield block, snapshot.rows_of(block)
        return
    for segment, first in zip(snapshot.segments, snapshot.row_starts.tolist(), strict=False):
        for start in range(first, first + segment.rows, _BLOCK):
            end = min(start + _BLOCK, first + segment.rows)
            yield from _inside(rows, start, segment.vectors[start - first : end - first])


def _inside(rows: Places, start: int, vectors: Matrix) -> Iterator[tuple[Places, Matrix]]:
    """Yield those of ``rows`` that a block of vectors holds, and the block's part."""
    first, last = np.searchsorted(rows, [start, start + len(vectors)]).tolist()
    wanted = rows[first:last]
    if len(wanted) == len(vectors):
        yield wanted, vectors
    elif len(wanted):
        yield wanted, vectors[wanted - start]


def _pairwise(matrix: Matrix, snapshot: Snapshot, anchors: Places, rows: Places) -> Scores:
    cosines: Scores = np.zeros(len(anchors), np.float32)
    for start in range(0, len(anchors) if matrix.shape[1] else 0, _BLOCK):
        part = slice(start, start + _BLOCK)
        cosines[part] = np.einsum("ij,ij->i", matrix[anchors[part]], snapshot.rows_of(rows[part]))
    return cosines


def make_lists(
    anchors: Places, keys: Keys, scores: Scores, trust: Scores, *, count: int, limit: int
) -> Lists:
    """Sort entries by anchor, then best first, each key once per anchor, ``limit`` at most.

    What comes first is the score times the ``trust`` in the source; what is kept is the score, for
    a lookup multiplies it by the trust of that day. Scores are rounded to 4 decimals, as source
    document 003 stores them; ties go by key.
    """
    scores = np.round(scores, 4)
    order = np.lexsort((-scores, keys, anchors))
    anchors, keys, scores, trust = anchors[order], keys[order], scores[order], trust[order]
    is_first = np.ones(len(keys), np.bool_)
    is_first[1:] = (anchors[1:] != anchors[:-1]) | (keys[1:] != keys[:-1])
    anchors, keys, scores = anchors[is_first], keys[is_first], scores[is_first]
    order = np.lexsort((keys, -scores * trust[is_first], anchors))
    anchors, keys, scores = anchors[order], keys[order], scores[order]
    starts = np.searchsorted(anchors, np.arange(count + 1))
    rank = np.arange(len(anchors)) - starts[anchors] if len(anchors) else anchors
    kept = rank < limit
    starts = np.searchsorted(anchors[kept], np.arange(count + 1)).astype(np.int64)
    return Lists(starts, keys[kept], scores[kept].astype(np.float32))


def entries(lists: Lists) -> tuple[Places, Keys, Scores]:
    """Undo ``make_lists``: anchor, key and score of every entry."""
    anchors = np.repeat(np.arange(len(lists.starts) - 1), np.diff(lists.starts))
    return anchors, np.asarray(lists.keys), np.asarray(lists.scores)

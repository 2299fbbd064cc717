"""Where anchors lead: the passages nearest in meaning, and those that hold the term."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.corpus import AnchorWork, TermedPassage, curated_path
from memory_palace.anchors.policy import allowed_notes, trust_per_note
from memory_palace.anchors.terms import runs
from memory_palace.anchors.tier import Anchor, Keys, Lists
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix, Scores

MENTION = 0.2
"""What holding the term adds to a cosine: a name means little to an embedder."""
_FEW = 4
"""Rows that are fewer than one in as many are picked out one by one."""
_BLOCK = 8192
"""Rows per matrix product: 400 anchors take 13 MB."""

Places = NDArray[np.int64]
Mentions = tuple[Places, Places]
"""Anchors, and the rows that hold them, in parallel."""
Live = tuple[Keys, Places]
"""The key of every passage anchors may lead to, ascending, and one row of each."""
ScoredKeys = tuple[Places, Keys, Scores]
"""Anchor, key of the passage and score, in parallel."""
ScoredPairs = tuple[Places, Places, Scores]
"""Anchor, row and score, in parallel."""
_NO_ENTRIES: ScoredPairs = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))


def key_table(anchors: Sequence[Anchor]) -> dict[str, list[int]]:
    """Return the anchors that each key or alias triggers: a question is looked up in it."""
    table: dict[str, list[int]] = {}
    for place, anchor in enumerate(anchors):
        for key in dict.fromkeys((anchor.key, *anchor.aliases)):
            table.setdefault(key, []).append(place)
    return table


def connect(
    work: AnchorWork,
    snapshot: Snapshot,
    anchors: Sequence[Anchor],
    matrix: Matrix,
    passages: Iterable[TermedPassage],
    rows: Places,
    *,
    theta: float,
) -> ScoredPairs:
    """Connect anchors with the passages of some rows."""
    held, holding = find_mentions(passages, key_table(anchors))
    rows = allowed_rows(work, snapshot, rows)
    inside = np.isin(holding, rows)
    mentions = held[inside], holding[inside]
    return score_pairs(matrix, snapshot, rows, mentions, theta=theta)


def allowed_rows(work: AnchorWork, snapshot: Snapshot, rows: Places) -> Places:
    """Return those of some rows that the settings let anchors lead to."""
    is_allowed = allowed_notes(snapshot.paths, work.config.anchors)
    listing = curated_path(work.paths)
    first, last = bisect_left(snapshot.paths, listing), bisect_right(snapshot.paths, listing)
    is_allowed[first:last] = False  # it names all anchors and tells nothing of them
    return rows[is_allowed[snapshot.row_note[rows]]]


def find_mentions(
    passages: Iterable[TermedPassage], table: Mapping[str, Sequence[int]]
) -> Mentions:
    """Return anchors and the rows that hold them, each pair once."""
    anchors: list[int] = []
    rows: list[int] = []
    for passage in passages:
        keys = {key for _, _, key in runs(list(passage.words)) if key in table}
        held = sorted({place for key in keys for place in table[key]})
        anchors += held
        rows += [passage.row] * len(held)
    return np.array(anchors, np.int64), np.array(rows, np.int64)


def score_pairs(
    matrix: Matrix,
    snapshot: Snapshot,
    rows: Places,
    mentions: Mentions | None = None,
    *,
    theta: float,
) -> ScoredPairs:
    """Return anchor, row and score of every pair worth keeping, in no order.

    A pair is kept where the cosine reaches ``theta``, or where the passage holds the term. Scores
    are in [0, 1].
    """
    is_wanted = np.zeros(len(snapshot.row_note), np.bool_)
    is_wanted[rows] = True
    parts: list[ScoredPairs] = [_NO_ENTRIES]
    for block, vectors in _blocks(snapshot, rows) if theta < 1 and matrix.shape[1] else ():
        cosines = (matrix @ vectors.T).ravel()
        near = np.flatnonzero(cosines >= max(theta, 1e-6))
        near = near[is_wanted[block[near % len(block)]]]
        parts.append((near // len(block), block[near % len(block)], cosines[near]))
    if mentions is not None:
        anchors, held = mentions
        cosines = _pairwise(matrix, snapshot, anchors, held)
        parts.append((anchors, held, np.maximum(cosines, 0) + np.float32(MENTION)))
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return joined[0], joined[1], np.clip(joined[2], 0, 1)


def _blocks(snapshot: Snapshot, rows: Places) -> Iterator[tuple[Places, Matrix]]:
    """Yield rows with their vectors: of few rows copies, of many whole blocks, which are not."""
    if len(rows) * _FEW < len(snapshot.row_note):
        for start in range(0, len(rows), _BLOCK):
            yield rows[start : start + _BLOCK], snapshot.rows_of(rows[start : start + _BLOCK])
        return
    for segment, first in zip(snapshot.segments, snapshot.row_starts.tolist(), strict=False):
        for start in range(0, segment.rows, _BLOCK):
            vectors = segment.vectors[start : start + _BLOCK]
            yield np.arange(first + start, first + start + len(vectors)), vectors


def _pairwise(matrix: Matrix, snapshot: Snapshot, anchors: Places, rows: Places) -> Scores:
    cosines: Scores = np.zeros(len(anchors), np.float32)
    for start in range(0, len(anchors) if matrix.shape[1] else 0, _BLOCK):
        part = slice(start, start + _BLOCK)
        cosines[part] = np.einsum("ij,ij->i", matrix[anchors[part]], snapshot.rows_of(rows[part]))
    return cosines


def make_lists(
    work: AnchorWork, snapshot: Snapshot, live: Live, found: ScoredKeys, *, count: int, limit: int
) -> Lists:
    """Sort entries by anchor, then best first, each key once per anchor, ``limit`` at most.

    What comes first is the score times the trust in the source; what is kept is the score, for a
    lookup multiplies it by the trust of that day. Scores are rounded to 4 decimals, as source
    document 003 stores them; ties go by key. All keys are of ``live`` passages.
    """
    anchors, keys, scores = found[0], found[1], np.round(found[2], 4)
    trust = trust_per_note(snapshot.paths, work.config.sources)
    order = np.lexsort((-scores, keys, anchors))
    is_first = np.ones(len(keys), np.bool_)
    is_first[1:] = (np.diff(anchors[order]) != 0) | (keys[order][1:] != keys[order][:-1])
    order = order[is_first]
    notes = snapshot.row_note[live[1][np.searchsorted(live[0], keys[order])]]
    order = order[np.lexsort((keys[order], -scores[order] * trust[notes], anchors[order]))]
    starts = np.searchsorted(anchors[order], np.arange(count + 1))
    order = order[np.arange(len(order)) - starts[anchors[order]] < limit]
    starts = np.searchsorted(anchors[order], np.arange(count + 1)).astype(np.int64)
    return Lists(starts, keys[order], scores[order].astype(np.float32))

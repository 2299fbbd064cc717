"""Where anchors lead: the passages nearest in meaning, and those that hold the term."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.corpus import AnchorWork, TermedPassage
from memory_palace.anchors.policy import allowed_notes, trust_per_note
from memory_palace.anchors.terms import runs
from memory_palace.anchors.tier import Anchor, Keys, Lists
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix, Scores

MENTION = 0.2
"""What holding the term adds to a cosine: a name means little to an embedder."""
QUARANTINE_SHARE = 0.25
"""A passage whose words match more anchors than a quarter of its words, and more than
``QUARANTINE_LEAST``, is a list made to be found; anchors do not lead to it."""
QUARANTINE_LEAST = 48
_RUN = 16
"""Rows in a run on average from which on runs are worth looking for."""
_BLOCK = 8192
"""Rows per matrix product: 400 anchors take 13 MB."""

Places = NDArray[np.int64]
Pairs = tuple[Places, Places]
"""Anchors, and the rows that hold them, in parallel."""
Live = tuple[Keys, Places]
"""The key of every passage anchors may lead to, ascending, and one row of each."""
ScoredPairs = tuple[Places, Places, Scores]
"""Anchor, row and score, in parallel."""


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
    passages: Sequence[TermedPassage],
    rows: Places,
    *,
    theta: float,
) -> tuple[ScoredPairs, Places]:
    """Connect anchors with the passages of some rows; return stuffed rows, which are left out."""
    held, holding = find_mentions(passages, key_table(anchors))
    stuffed = find_stuffed(passages, holding)
    rows = np.setdiff1d(allowed_rows(work, snapshot, rows), stuffed)
    inside = np.isin(holding, rows)
    mentions = held[inside], holding[inside]
    return score_pairs(matrix, snapshot, rows, mentions, theta=theta), stuffed


def allowed_rows(work: AnchorWork, snapshot: Snapshot, rows: Places) -> Places:
    """Return those of some rows that the settings let anchors lead to."""
    allowed: Places = rows[
        allowed_notes(snapshot.paths, work.config.anchors)[snapshot.row_note[rows]]
    ]
    return allowed


def find_stuffed(passages: Sequence[TermedPassage], holding: Places) -> Places:
    """Return the rows of passages that match implausibly many anchors, ascending."""
    counts = Counter(holding.tolist())
    stuffed = [
        passage.row
        for passage in passages
        if counts[passage.row] > QUARANTINE_LEAST
        and counts[passage.row] > QUARANTINE_SHARE * len(passage.words)
    ]
    return np.array(sorted(stuffed), np.int64)


def name_places(snapshot: Snapshot, rows: Places) -> tuple[str, ...]:
    """Return ``path:line`` of each row."""
    notes, lines = snapshot.row_note[rows].tolist(), snapshot.row_lines[rows, 0].tolist()
    return tuple(f"{snapshot.paths[n]}:{line}" for n, line in zip(notes, lines, strict=True))


def find_mentions(passages: Iterable[TermedPassage], table: Mapping[str, Sequence[int]]) -> Pairs:
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
) -> ScoredPairs:
    """Return anchor, row and score of every pair worth keeping, in no order.

    A pair is kept where the cosine reaches ``theta``, or where the passage holds the term. Scores
    are in [0, 1].
    """
    parts: list[ScoredPairs] = []
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
    kept = np.arange(len(anchors)) - starts[anchors] < limit
    starts = np.searchsorted(anchors[kept], np.arange(count + 1)).astype(np.int64)
    return Lists(starts, keys[kept], scores[kept].astype(np.float32))


def trust_of_keys(work: AnchorWork, snapshot: Snapshot, live: Live, keys: Keys) -> Scores:
    """Return the trust in the source of each passage; all of them are live."""
    trust = trust_per_note(snapshot.paths, work.config.sources)
    return trust[snapshot.row_note[live[1][np.searchsorted(live[0], keys)]]]


def entries(lists: Lists) -> tuple[Places, Keys, Scores]:
    """Undo ``make_lists``: anchor, key and score of every entry."""
    anchors = np.repeat(np.arange(len(lists.starts) - 1), np.diff(lists.starts))
    return anchors, np.asarray(lists.keys), np.asarray(lists.scores)

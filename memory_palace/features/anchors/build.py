"""Make the anchors of a palace: the nightly build, and what every update of the index adds.

As passages are known by their digest, a build that began before an update simply does not cover
what the update brought. New names become anchors at a build; an update adds passages to those there
are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import WrongEmbedderError
from memory_palace.features.anchors.anchor_file import AnchorFile, Keys, key_table, write_anchors
from memory_palace.features.anchors.policy import row_keys, trust_per_note
from memory_palace.features.anchors.terms import runs
from memory_palace.features.anchors.vocabulary import (
    AnchorWork,
    TermedPassage,
    choose_anchors,
    distinct_rows,
    read_passages,
)
from memory_palace.index.build import sweep
from memory_palace.index.chance import find_tail
from memory_palace.index.commit import next_commit, read_commit, write_commit
from memory_palace.index.snapshot import SAMPLE, Snapshot
from memory_palace.index.words import NO_ROWS
from memory_palace.models import Matrix, Scores
from memory_palace.palace import Palace
from memory_palace.storage import writer_lock

THETA_TAIL = 0.01
"""Of anchors against a sample of passages: one passage in a hundred is about an anchor."""
MENTION = 0.2
"""What holding the term adds to a cosine: a name means little to an embedder."""
LEAST_COSINE = 0.01
"""A threshold below that would list passages that have nothing of the anchor."""
_BLOCK = 8192
"""Rows per matrix product: 400 anchors take 13 MB."""

Places = NDArray[np.int64]
Pairs = tuple[Places, Places]
"""Anchors and rows, in parallel."""
ScoredPairs = tuple[Places, Places, Scores]
"""Anchor, row and score, in parallel."""


def build_file(work: AnchorWork, snapshot: Snapshot) -> AnchorFile:
    """Choose anchors, embed them, and list where each leads."""
    settings = work.config.anchors
    keys, rows = distinct_rows(work, snapshot)
    passages = read_passages(work, snapshot, rows)
    anchors = choose_anchors(work, snapshot, passages)
    work.progress("embedding anchors", 0, len(anchors))
    matrix: Matrix = np.zeros((0, work.embedder.dimension), np.float32)
    if anchors:
        matrix = work.embedder.embed_passages([anchor.display for anchor in anchors])
    theta = calibrate_theta(matrix, snapshot) if settings.theta is None else settings.theta
    work.progress("comparing passages", 0, len(rows))
    mentions = find_mentions(passages, key_table(anchors))
    pairs = score_pairs(matrix, snapshot, rows, mentions, theta=theta)
    lists = make_lists(work, snapshot, pairs, count=len(anchors), limit=settings.k)
    fingerprint = snapshot.commit.fingerprint
    return AnchorFile(anchors, matrix, *lists, keys, fingerprint, theta, work.now_ns)


def commit_file(palace: Palace, work: AnchorWork, file: AnchorFile, *, wait_seconds: float) -> None:
    """Make a nightly build visible, with what came since it began; only this takes the lock."""
    paths = palace.paths
    with writer_lock(paths.lock, wait_seconds=wait_seconds):
        hot = palace.snapshot()
        if hot.commit.fingerprint != file.fingerprint:
            raise WrongEmbedderError(
                "the index got another embedder while anchors were built; "
                "run `palace graph anchors build` again"
            )
        name = write_anchors(paths.index, extend_file(work, hot, file))
        before = read_commit(paths.commit)
        commit = next_commit(before, replace(before, anchors=(name,)))
        write_commit(paths.commit, commit)
        sweep(paths.index, commit)


def extend_file(work: AnchorWork, hot: Snapshot, file: AnchorFile) -> AnchorFile:
    """Return the anchors with the passages that came since; the same file where none did."""
    keys, rows = distinct_rows(work, hot)
    is_new = ~np.isin(keys, file.covered)
    if not is_new.any():
        return file
    passages = read_passages(work, hot, rows[is_new])
    mentions = find_mentions(passages, key_table(file.anchors))
    new = score_pairs(file.matrix, hot, rows[is_new], mentions, theta=file.theta)
    owners, old_keys, scores = file.entries()
    is_alive = np.isin(old_keys, keys)
    places = np.searchsorted(keys, old_keys[is_alive])
    old = owners[is_alive], rows[places], scores[is_alive]
    pairs = _join([old, new])
    limit = work.config.anchors.k_max
    starts, listed, best = make_lists(work, hot, pairs, count=len(file.anchors), limit=limit)
    return replace(file, starts=starts, keys=listed, scores=best, covered=keys)


def calibrate_theta(matrix: Matrix, snapshot: Snapshot) -> float:
    """Return the least cosine of anchor and passage, at two passages or more; else 0.

    A fixed one (.80 in source document 003) leaves the lists nearly empty with some models: with
    MiniLM one anchor in two hundred had any passage above it.
    """
    rows = snapshot.sample
    if not matrix.size or not len(rows):
        return 0.0
    sample = matrix[:: max(len(matrix) // SAMPLE, 1)]
    cosines = (sample @ snapshot.rows_of(rows).T).ravel().astype(np.float64)
    return round(max(find_tail(cosines, THETA_TAIL)[0], 0.0), 4)


def find_mentions(passages: Iterable[TermedPassage], table: Mapping[str, Sequence[int]]) -> Pairs:
    """Return anchors and the rows that hold them, each pair once."""
    pairs = [
        (place, passage.row)
        for passage in passages
        for place in sorted({p for _, _, key in runs(passage.words) for p in table.get(key, ())})
    ]
    held = np.array(pairs, np.int64).reshape(-1, 2)
    return held[:, 0], held[:, 1]


def score_pairs(
    matrix: Matrix, snapshot: Snapshot, rows: Places, mentions: Pairs, *, theta: float
) -> ScoredPairs:
    """Return anchor, row and score of every pair worth keeping, each once, in no order.

    A pair is kept where the cosine reaches ``theta``, or where the passage holds the term. Scores
    are in [0, 1].
    """
    rows, (anchors, held) = np.sort(rows), mentions
    at = np.searchsorted(rows, held)
    parts: list[ScoredPairs] = []
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        scores: Matrix = matrix @ snapshot.rows_of(block).T
        is_kept = scores >= max(theta, LEAST_COSINE)
        here = (at >= start) & (at < start + _BLOCK)
        named = anchors[here], at[here] - start
        scores[named] = np.maximum(scores[named], 0) + np.float32(MENTION)
        is_kept[named] = True
        owners, columns = np.nonzero(is_kept)
        parts.append((owners, block[columns], np.clip(scores[is_kept], 0, 1)))
    return _join(parts)


def _join(parts: Iterable[ScoredPairs]) -> ScoredPairs:
    none: ScoredPairs = NO_ROWS, NO_ROWS, np.zeros(0, np.float32)
    owners, rows, scores = zip(none, *parts, strict=True)
    return np.concatenate(owners), np.concatenate(rows), np.concatenate(scores)


def make_lists(
    work: AnchorWork, snapshot: Snapshot, pairs: ScoredPairs, *, count: int, limit: int
) -> tuple[Places, Keys, Scores]:
    """Return starts, keys and scores: by anchor, best first, ``limit`` at most.

    What comes first is the score times the trust in the source; what is kept is the score, for a
    lookup multiplies it by the trust of that day. Scores are rounded to 4 decimals, as source
    document 003 stores them; ties go by key.
    """
    anchors, rows, scores = pairs[0], pairs[1], np.round(pairs[2], 4)
    keys = row_keys(snapshot)[rows]
    trust = trust_per_note(snapshot.paths, work.config.sources)[snapshot.row_note[rows]]
    order = np.lexsort((keys, -scores * trust, anchors))
    starts = np.searchsorted(anchors[order], np.arange(count + 1))
    order = order[np.arange(len(order)) - starts[anchors[order]] < limit]
    starts = np.searchsorted(anchors[order], np.arange(count + 1)).astype(np.int64)
    return starts, keys[order], scores[order].astype(np.float32)

"""Make the anchors of a palace: the nightly build, and what every update of the index adds.

As passages are known by their digest, a build that began before an update simply does not cover
what the update brought.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import IndexDamagedError, WrongEmbedderError
from memory_palace.features.anchors.anchor_file import (
    Anchor,
    AnchorFile,
    Keys,
    key_table,
    write_anchors,
)
from memory_palace.features.anchors.policy import row_keys, trust_per_note
from memory_palace.features.anchors.terms import runs
from memory_palace.features.anchors.vocabulary import (
    AnchorWork,
    TermedPassage,
    choose_anchors,
    distinct_rows,
    read_passages,
)
from memory_palace.index.calibration import SAMPLE, find_tail
from memory_palace.index.commit import next_commit, read_commit, write_commit
from memory_palace.index.publish import sweep
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.values import Progress
from memory_palace.models import Matrix, Scores
from memory_palace.shown import Shown
from memory_palace.storage.lock import writer_lock

if TYPE_CHECKING:
    from memory_palace.features.anchors.feature import Anchors

THETA_TAIL = 0.01
"""Of anchors against a sample of passages: one passage in a hundred is about an anchor."""
ADDED_PER_UPDATE = 64
_ADDED_KINDS = frozenset({"project", "entity", "title", "name"})
_SLICE = 32
"""Anchors embedded at a time."""
MENTION = 0.2
"""What holding the term adds to a cosine: a name means little to an embedder."""
LEAST_COSINE = 0.01
"""A threshold below that would list passages that have nothing of the anchor."""
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
_NO_MENTIONS: Mentions = (np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class AnchorBuild(Shown):
    """What a nightly build made."""

    anchors: int
    entries: int
    empty: int
    """Anchors without any passage: they stay in the vocabulary, aligned with their vectors."""
    theta: float
    passages: int
    seconds: float

    def lines(self) -> Iterable[str]:
        """Return the figures."""
        yield f"anchors     {self.anchors}"
        without = f"{self.empty} anchors without any"
        yield f"passages    {self.passages}, {self.entries} entries, {without}"
        yield f"threshold   {self.theta:.4f}"


def build_anchors(anchors: Anchors, *, wait_seconds: float, progress: Progress) -> AnchorBuild:
    """Build the anchors anew and commit them; the lock is taken only to commit."""
    started = time.monotonic()
    work = replace(anchors.work(), progress=progress)
    try:
        past = anchors.read()
    except IndexDamagedError:
        past = None  # derived data that does not verify is never used: made anew here
    file = build_file(work, anchors.engine.snapshot(), past)
    commit_file(anchors, file, wait_seconds=wait_seconds)
    return AnchorBuild(
        anchors=len(file.anchors),
        entries=len(file.keys),
        empty=int(np.count_nonzero(np.diff(file.starts) == 0)),
        theta=file.theta,
        passages=len(file.covered),
        seconds=time.monotonic() - started,
    )


def build_file(work: AnchorWork, snapshot: Snapshot, past: AnchorFile | None = None) -> AnchorFile:
    """Choose anchors, embed those that ``past`` has not, and list where each leads."""
    settings = work.config.anchors
    keys, rows = live = distinct_rows(work, snapshot)
    passages = read_passages(work, snapshot, rows)
    anchors = choose_anchors(work, snapshot, passages)
    known: Mapping[str, NDArray[np.float32]] = {}
    if past is not None and past.fingerprint == snapshot.commit.fingerprint:
        known = {a.display: vector for a, vector in zip(past.anchors, past.matrix, strict=True)}
    matrix = _embed(work, anchors, known)
    theta = calibrate_theta(matrix, snapshot) if settings.theta is None else settings.theta
    work.progress("comparing passages", 0, len(rows))
    mentions = find_mentions(passages, key_table(anchors))
    places, found, scores = score_pairs(matrix, snapshot, rows, mentions, theta=theta)
    scored = places, row_keys(snapshot)[found], scores
    lists = make_lists(work, snapshot, live, scored, count=len(anchors), limit=settings.k)
    fingerprint = snapshot.commit.fingerprint
    return AnchorFile(anchors, matrix, *lists, keys, fingerprint, theta, work.now_ns)


def commit_file(anchors: Anchors, file: AnchorFile, *, wait_seconds: float) -> None:
    """Make a nightly build visible, with what came since it began."""
    paths = anchors.engine.paths
    with writer_lock(paths.lock, wait_seconds=wait_seconds):
        hot = anchors.engine.snapshot()
        if hot.commit.fingerprint != file.fingerprint:
            raise WrongEmbedderError(
                "the index got another embedder while anchors were built; "
                "run `palace graph anchors build` again"
            )
        name = write_anchors(paths.index, extend_file(anchors.work(), hot, file))
        before = read_commit(paths.commit)
        commit = next_commit(before, replace(before, anchors=(name,)))
        write_commit(paths.commit, commit)
        sweep(paths.index, commit)


def extend_file(work: AnchorWork, hot: Snapshot, file: AnchorFile) -> AnchorFile:
    """Return the anchors with what came since; the same file where nothing did.

    New passages are compared with every anchor, and offer anchors of their own.
    """
    live = keys, rows = distinct_rows(work, hot)
    is_new = ~np.isin(keys, file.covered)
    if not is_new.any():
        return file
    passages = read_passages(work, hot, rows[is_new])
    added = _find_new(passages, file.anchors)
    anchors, vectors = (*file.anchors, *added), _embed(work, added, {})
    matrix = np.concatenate([file.matrix, vectors])
    mentions = find_mentions(passages, key_table(anchors))
    near = score_pairs(matrix, hot, rows[is_new], mentions, theta=file.theta)
    far = score_pairs(vectors, hot, rows, theta=file.theta)
    old, old_keys, old_scores = file.entries()
    is_alive = np.isin(old_keys, keys)
    entries = (
        np.concatenate([old[is_alive], near[0], far[0] + len(file.anchors)]),
        np.concatenate([old_keys[is_alive], *(row_keys(hot)[found[1]] for found in (near, far))]),
        np.concatenate([old_scores[is_alive], near[2], far[2]]),
    )
    limit = work.config.anchors.k_max
    starts, listed, scores = make_lists(work, hot, live, entries, count=len(anchors), limit=limit)
    return replace(
        file,
        anchors=anchors,
        matrix=matrix,
        starts=starts,
        keys=listed,
        scores=scores,
        covered=keys,
    )


def _find_new(passages: Sequence[TermedPassage], known: Sequence[Anchor]) -> tuple[Anchor, ...]:
    """Return the terms of new passages that are anchors until the next nightly build."""
    taken = key_table(known)
    added: dict[str, Anchor] = {}
    for term in (term for passage in passages for term in passage.terms):
        if term.kind in _ADDED_KINDS and not term.alias_of and term.key not in taken:
            added.setdefault(term.key, Anchor(term.key, term.display, (term.kind,)))
    return tuple(added.values())[:ADDED_PER_UPDATE]


def _embed(
    work: AnchorWork, anchors: Sequence[Anchor], known: Mapping[str, NDArray[np.float32]]
) -> Matrix:
    """Return one unit vector per anchor; only those that are not known are embedded."""
    missing = sorted({anchor.display for anchor in anchors} - known.keys())
    made = dict(known)
    for start in range(0, len(missing), _SLICE):
        work.progress("embedding anchors", start, len(missing))
        part = missing[start : start + _SLICE]
        made |= dict(zip(part, work.embedder.embed_passages(part), strict=True))
    matrix: Matrix = np.zeros((len(anchors), work.embedder.dimension), np.float32)
    for place, anchor in enumerate(anchors):
        matrix[place] = made[anchor.display]
    return matrix


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


def find_mentions(
    passages: Iterable[TermedPassage], table: Mapping[str, Sequence[int]]
) -> Mentions:
    """Return anchors and the rows that hold them, each pair once."""
    pairs = [
        (place, passage.row)
        for passage in passages
        for place in sorted({p for _, _, key in runs(passage.words) for p in table.get(key, ())})
    ]
    held = np.array(pairs, np.int64).reshape(-1, 2)
    return held[:, 0], held[:, 1]


def score_pairs(
    matrix: Matrix,
    snapshot: Snapshot,
    rows: Places,
    mentions: Mentions = _NO_MENTIONS,
    *,
    theta: float,
) -> ScoredPairs:
    """Return anchor, row and score of every pair worth keeping, in no order.

    A pair is kept where the cosine reaches ``theta``, or where the passage holds the term. Scores
    are in [0, 1].
    """
    anchors, held = mentions
    cosines: Scores = np.zeros(len(anchors), np.float32)
    parts: list[ScoredPairs] = []
    for start in range(0, len(anchors) if matrix.shape[1] else 0, _BLOCK):
        part = slice(start, start + _BLOCK)
        cosines[part] = np.einsum("ij,ij->i", matrix[anchors[part]], snapshot.rows_of(held[part]))
    parts.append((anchors, held, np.maximum(cosines, 0) + np.float32(MENTION)))
    for start in range(0, len(rows) if theta < 1 and matrix.shape[1] else 0, _BLOCK):
        block = rows[start : start + _BLOCK]
        near = (matrix @ snapshot.rows_of(block).T).ravel()
        found = np.flatnonzero(near >= max(theta, LEAST_COSINE))
        parts.append((found // len(block), block[found % len(block)], near[found]))
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return joined[0], joined[1], np.clip(joined[2], 0, 1)


def make_lists(
    work: AnchorWork, snapshot: Snapshot, live: Live, found: ScoredKeys, *, count: int, limit: int
) -> tuple[Places, Keys, Scores]:
    """Return starts, keys and scores: by anchor, best first, each key once, ``limit`` at most.

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
    return starts, keys[order], scores[order].astype(np.float32)

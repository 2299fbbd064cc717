"""Make the anchors of a palace anew: the nightly build."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from memory_palace.anchors.corpus import (
    AnchorWork,
    distinct_rows,
    read_passages,
    row_keys,
)
from memory_palace.anchors.postings import connect, make_lists
from memory_palace.anchors.tier import AnchorFiles, Tier, write_tier
from memory_palace.anchors.update import embed_anchors, follow_index
from memory_palace.anchors.vocabulary import choose_anchors
from memory_palace.errors import IndexDamagedError, WrongEmbedderError
from memory_palace.index.calibration import SAMPLE, find_tail, sample_rows
from memory_palace.index.commit import next_commit, read_commit, write_commit
from memory_palace.index.context import Progress
from memory_palace.index.publish import sweep
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix
from memory_palace.storage.lock import writer_lock

if TYPE_CHECKING:
    from memory_palace.anchors.palace_anchors import PalaceAnchors

THETA_TAIL = 0.01
"""Of anchors against a sample of passages: one passage in a hundred is about an anchor."""


@dataclass(frozen=True, slots=True)
class AnchorBuild:
    """What a nightly build made."""

    anchors: int
    discovered: int
    pruned: int
    entries: int
    empty: int
    """Anchors without any passage: they stay in the vocabulary, aligned with their vectors."""
    theta: float
    passages: int
    seconds: float


def build_anchors(
    anchors: PalaceAnchors, *, theta: float | None, wait_seconds: float, progress: Progress
) -> AnchorBuild:
    """Build the anchors anew and commit them.

    The lock is taken only to commit. What updates brought meanwhile is compared with the new
    anchors before that, so that a build which began earlier loses nothing.
    """
    started = time.monotonic()
    snapshot, work = anchors.snapshot(), replace(anchors.work(), progress=progress)
    try:
        past = AnchorFiles(anchors.tiers())
    except IndexDamagedError:
        past = AnchorFiles()  # derived data that does not verify is never used: made anew here
    tier = build_tier(work, snapshot, past, theta=theta)
    commit_tier(anchors, tier, wait_seconds=wait_seconds)
    known = {anchor.key for anchor in past.anchors}
    return AnchorBuild(
        anchors=len(tier.anchors),
        discovered=sum(anchor.key not in known for anchor in tier.anchors),
        pruned=len(tier.pruned) - len(past.pruned),
        entries=len(tier.lists.keys),
        empty=int(np.count_nonzero(np.diff(tier.lists.starts) == 0)),
        theta=tier.theta,
        passages=len(tier.covered),
        seconds=time.monotonic() - started,
    )


def build_tier(
    work: AnchorWork, snapshot: Snapshot, past: AnchorFiles, *, theta: float | None = None
) -> Tier:
    """Discover anchors, embed the new ones, and list where each leads; nothing is written.

    ``theta`` overrides the settings; without either it is calibrated.
    """
    settings = work.config.anchors
    keys, rows = live = distinct_rows(snapshot)
    passages = read_passages(work, snapshot, rows)
    anchors, pruned = choose_anchors(work, snapshot, passages, past)
    matrix = embed_anchors(work, anchors, past.vectors())
    theta = theta if theta is not None else settings.theta
    theta = theta if theta is not None else calibrate_theta(matrix, snapshot)
    work.progress("comparing passages", 0, len(rows))
    places, found, scores = connect(work, snapshot, anchors, matrix, passages, rows, theta=theta)
    scored = places, row_keys(snapshot)[found], scores
    return Tier(
        anchors=anchors,
        matrix=matrix,
        lists=make_lists(work, snapshot, live, scored, count=len(anchors), limit=settings.k),
        covered=keys,
        fingerprint=snapshot.commit.fingerprint,
        theta=theta,
        built_ns=work.now_ns,
        pruned=pruned,
    )


def commit_tier(anchors: PalaceAnchors, tier: Tier, *, wait_seconds: float) -> None:
    """Make a nightly build visible, with what came since it began."""
    paths = anchors.paths
    with writer_lock(paths.lock, wait_seconds=wait_seconds):
        hot = anchors.snapshot()
        if hot.commit.fingerprint != tier.fingerprint:
            raise WrongEmbedderError(
                "the index got another embedder while anchors were built; "
                "run `palace anchors build` again"
            )
        names = follow_index(anchors.work(), hot, (write_tier(paths.index, tier),))
        before = read_commit(paths.commit)
        commit = next_commit(before, replace(before, anchors=names))
        write_commit(paths.commit, commit)
        sweep(paths.index, commit)


def calibrate_theta(matrix: Matrix, snapshot: Snapshot) -> float:
    """Return the least cosine of anchor and passage, at two passages or more; else 0.

    A fixed one (.80 in source document 003) leaves the lists nearly empty with some models: with
    MiniLM one anchor in two hundred had any passage above it.
    """
    rows = sample_rows(snapshot)
    if not matrix.size or not len(rows):
        return 0.0
    cosines = thin_out(matrix) @ snapshot.rows_of(rows).T
    return round(max(find_tail(cosines.ravel().astype(np.float64), THETA_TAIL)[0], 0.0), 4)


def thin_out(matrix: Matrix) -> Matrix:
    """Return every so many rows, about ``SAMPLE`` of them."""
    return matrix[:: max(len(matrix) // SAMPLE, 1)]

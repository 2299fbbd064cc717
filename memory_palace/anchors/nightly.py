"""The nightly build, as a person asks for it: what was there, the new anchors, the commit."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memory_palace.anchors.build import Past, build_tier
from memory_palace.anchors.corpus import Reader
from memory_palace.anchors.tier import Tier, write_tier
from memory_palace.anchors.update import Updater
from memory_palace.errors import IndexDamagedError, WrongEmbedderError
from memory_palace.index.commit import next_commit, read_commit, write_commit
from memory_palace.index.publish import sweep
from memory_palace.storage.lock import writer_lock

if TYPE_CHECKING:
    from memory_palace.anchors.palace_anchors import PalaceAnchors


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
    sem_theta: float
    passages: int
    quarantined: tuple[str, ...]
    seconds: float


def build_anchors(
    anchors: PalaceAnchors, *, theta: float | None, wait_seconds: float
) -> AnchorBuild:
    """Build the anchors anew and commit them.

    The lock is taken only to commit. What updates brought meanwhile is compared with the new
    anchors before that, so that a build which began earlier loses nothing.
    """
    started, now_ns = time.monotonic(), time.time_ns()
    snapshot, config = anchors.snapshot(), anchors.config
    reader = Reader(anchors.paths.root, anchors.embedder(), config.max_note_bytes)
    try:
        past = Past(anchors.tiers())
    except IndexDamagedError:
        past = Past()  # derived data that does not verify is never used, and is made anew here
    tier = build_tier(
        reader,
        snapshot,
        config.anchors,
        past,
        sources=config.sources,
        now_ns=now_ns,
        theta=theta,
    )
    commit_tier(anchors, tier, reader, wait_seconds=wait_seconds)
    known = {anchor.key for anchor in past.anchors}
    filled = int((tier.lists.starts[1:] > tier.lists.starts[:-1]).sum())
    return AnchorBuild(
        anchors=len(tier.anchors),
        discovered=sum(anchor.key not in known for anchor in tier.anchors),
        pruned=len(tier.pruned) - len(past.pruned),
        entries=len(tier.lists.keys),
        empty=len(tier.anchors) - filled,
        theta=tier.theta,
        sem_theta=tier.sem_theta,
        passages=len(tier.covered),
        quarantined=tier.quarantined,
        seconds=time.monotonic() - started,
    )


def commit_tier(anchors: PalaceAnchors, tier: Tier, reader: Reader, *, wait_seconds: float) -> None:
    """Make a nightly build visible, with what came since it began."""
    folder, config = anchors.paths.index, anchors.config
    with writer_lock(anchors.paths.lock, wait_seconds=wait_seconds):
        hot = anchors.snapshot()
        if hot.commit.fingerprint != tier.fingerprint:
            raise WrongEmbedderError(
                "the index got another embedder while anchors were built; "
                "run `palace anchors build` again"
            )
        updater = Updater(folder, reader, config.anchors, config.sources, time.time_ns())
        names = updater.follow(hot, (write_tier(folder, tier),))
        before = read_commit(anchors.paths.commit)
        commit = next_commit(before, replace(before, anchors=names))
        write_commit(anchors.paths.commit, commit)
        sweep(folder, commit)

"""Anchors of a palace: build, look up, report, export."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from memory_palace.anchors.build import Past, build_tier
from memory_palace.anchors.corpus import Reader
from memory_palace.anchors.export import export_files
from memory_palace.anchors.lookup import EVERYTHING, Ranked, Switches, look_up
from memory_palace.anchors.policy import source_of
from memory_palace.anchors.tier import Tier, read_tier, write_tier
from memory_palace.anchors.update import Updater
from memory_palace.embedding.base import embed_query
from memory_palace.errors import IndexDamagedError, UsageError, WrongEmbedderError
from memory_palace.index.commit import next_commit, read_commit, write_commit
from memory_palace.index.publish import sweep
from memory_palace.models import ChunkRecord
from memory_palace.outcomes import IndexReport
from memory_palace.palace import Palace


@dataclass(frozen=True, slots=True)
class Built:
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


@dataclass(frozen=True, slots=True)
class Found:
    """One passage of a lookup."""

    chunk: ChunkRecord
    source: str
    score: float
    anchor: float
    query: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What a lookup found, and how."""

    path: str
    fired: tuple[tuple[str, str, float], ...]
    """Anchor, how it fired, how strongly."""
    found: tuple[Found, ...]


def build_anchors(
    palace: Palace, *, theta: float | None = None, wait_seconds: float = 30.0
) -> Built:
    """Build the anchors anew and commit them.

    The lock is taken only to commit. What updates brought meanwhile is compared with the new
    anchors before that, so that a build which began earlier loses nothing.
    """
    started, now_ns = time.monotonic(), time.time_ns()
    snapshot = palace.snapshot()
    reader = reader_of(palace)
    past = _past(palace, snapshot.commit.anchors)
    tier = build_tier(
        reader,
        snapshot,
        palace.config.anchors,
        past,
        sources=palace.config.sources,
        now_ns=now_ns,
        theta=theta,
    )
    commit_tier(palace, tier, reader, wait_seconds=wait_seconds)
    known = {anchor.key for anchor in past.anchors}
    filled = int((tier.lists.starts[1:] > tier.lists.starts[:-1]).sum())
    return Built(
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


def commit_tier(palace: Palace, tier: Tier, reader: Reader, *, wait_seconds: float) -> None:
    """Make a nightly build visible, with what came since it began."""
    folder = palace.paths.index
    with palace.writing(wait_seconds=wait_seconds):
        hot = palace.snapshot()
        if hot.commit.fingerprint != tier.fingerprint:
            raise WrongEmbedderError(
                "the index got another embedder while anchors were built; "
                "run `palace anchors build` again"
            )
        updater = Updater(
            folder, reader, palace.config.anchors, palace.config.sources, time.time_ns()
        )
        names = updater.follow(hot, (write_tier(folder, tier),))
        before = read_commit(palace.paths.commit)
        commit = next_commit(before, replace(before, anchors=names))
        write_commit(palace.paths.commit, commit)
        sweep(folder, commit)


def update_anchors(palace: Palace, *, wait_seconds: float = 0.0) -> IndexReport:
    """Bring index and anchors up to date with the notes: every update of the index does both."""
    return palace.index(wait_seconds=wait_seconds)


def look_up_anchors(
    palace: Palace,
    text: str,
    *,
    limit: int | None = None,
    projects: tuple[str, ...] | None = None,
    budget_bytes: int | None = None,
    switches: Switches = EVERYTHING,
) -> Answer:
    """Return the passages that the anchors of a text lead to.

    ``budget_bytes`` bounds the previews; nothing is returned where no anchor fires.
    """
    snapshot = palace.snapshot()
    vector = None
    if snapshot.commit.dimension:
        vector = embed_query(palace.embedder(), text)
    ranked = look_up(
        palace.anchoring.of(snapshot), text, vector, now_ns=time.time_ns(),
        projects=projects, limit=limit, switches=switches,
    )  # fmt: skip
    return Answer(
        ranked.path,
        tuple((anchor.display, anchor.how, anchor.strength) for anchor in ranked.fired),
        _passages(palace, ranked, budget_bytes),
    )


def _passages(palace: Palace, ranked: Ranked, budget_bytes: int | None) -> tuple[Found, ...]:
    snapshot, left = palace.snapshot(), budget_bytes
    found: list[Found] = []
    for place, row in enumerate(ranked.rows.tolist()):
        chunk = snapshot.chunk(row)
        if left is not None:
            left -= len(chunk.preview.encode())
            if left < 0:
                break
        found.append(
            Found(
                chunk,
                source_of(chunk.path, palace.config.sources),
                round(float(ranked.scores[place]), 6),
                round(float(ranked.anchor[place]), 6),
                round(float(ranked.query[place]), 6),
            )
        )
    return tuple(found)


def anchor_tiers(palace: Palace) -> tuple[Tier, ...]:
    """Return the anchor files of the committed generation, nightly first."""
    names = palace.snapshot().commit.anchors
    return tuple(read_tier(palace.paths.index, name) for name in names)


def export_anchors(palace: Palace, folder: Path) -> list[Path]:
    """Write the three files of source document 003, for people and for other programs."""
    book = palace.anchoring.of(palace.snapshot())
    if not book.anchors:
        raise UsageError("there are no anchors to export; run `palace anchors build`")
    return export_files(book, folder)


def reader_of(palace: Palace) -> Reader:
    """Return what reads this palace's notes."""
    return Reader(palace.paths.root, palace.embedder(), palace.config.max_note_bytes)


def _past(palace: Palace, names: tuple[str, ...]) -> Past:
    try:
        return Past(tuple(read_tier(palace.paths.index, name) for name in names))
    except IndexDamagedError:
        return Past()  # derived data that does not verify is never used, and is made anew here

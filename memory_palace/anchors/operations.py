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
from memory_palace.engine import Engine
from memory_palace.errors import IndexDamagedError, UsageError, WrongEmbedderError
from memory_palace.index.commit import next_commit, read_commit, write_commit
from memory_palace.index.publish import sweep
from memory_palace.models import ChunkRecord, IndexReport


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
    engine: Engine, *, theta: float | None = None, wait_seconds: float = 30.0
) -> Built:
    """Build the anchors anew and commit them.

    The lock is taken only to commit. What updates brought meanwhile is compared with the new
    anchors before that, so that a build which began earlier loses nothing.
    """
    started, now_ns = time.monotonic(), time.time_ns()
    snapshot = engine.snapshot()
    reader = reader_of(engine)
    past = _past(engine, snapshot.commit.anchors)
    tier = build_tier(
        reader,
        snapshot,
        engine.config.anchors,
        past,
        sources=engine.config.sources,
        now_ns=now_ns,
        theta=theta,
    )
    commit_tier(engine, tier, reader, wait_seconds=wait_seconds)
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


def commit_tier(engine: Engine, tier: Tier, reader: Reader, *, wait_seconds: float) -> None:
    """Make a nightly build visible, with what came since it began."""
    folder = engine.paths.index
    with engine.writing(wait_seconds=wait_seconds):
        hot = engine.snapshot()
        if hot.commit.fingerprint != tier.fingerprint:
            raise WrongEmbedderError(
                "the index got another embedder while anchors were built; "
                "run `palace anchors build` again"
            )
        updater = Updater(
            folder, reader, engine.config.anchors, engine.config.sources, time.time_ns()
        )
        names = updater.follow(hot, (write_tier(folder, tier),))
        before = read_commit(engine.paths.commit)
        commit = next_commit(before, replace(before, anchors=names))
        write_commit(engine.paths.commit, commit)
        sweep(folder, commit)


def update_anchors(engine: Engine, *, wait_seconds: float = 0.0) -> IndexReport:
    """Bring index and anchors up to date with the notes: every update of the index does both."""
    return engine.index(wait_seconds=wait_seconds)


def look_up_anchors(
    engine: Engine,
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
    snapshot = engine.snapshot()
    vector = None
    if snapshot.commit.dimension:
        vector = embed_query(engine.embedder(), text)
    ranked = look_up(
        engine.anchoring.of(snapshot), text, vector, now_ns=time.time_ns(),
        projects=projects, limit=limit, switches=switches,
    )  # fmt: skip
    return Answer(
        ranked.path,
        tuple((anchor.display, anchor.how, anchor.strength) for anchor in ranked.fired),
        _passages(engine, ranked, budget_bytes),
    )


def _passages(engine: Engine, ranked: Ranked, budget_bytes: int | None) -> tuple[Found, ...]:
    snapshot, left = engine.snapshot(), budget_bytes
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
                source_of(chunk.path, engine.config.sources),
                round(float(ranked.scores[place]), 6),
                round(float(ranked.anchor[place]), 6),
                round(float(ranked.query[place]), 6),
            )
        )
    return tuple(found)


def anchor_tiers(engine: Engine) -> tuple[Tier, ...]:
    """Return the anchor files of the committed generation, nightly first."""
    names = engine.snapshot().commit.anchors
    return tuple(read_tier(engine.paths.index, name) for name in names)


def export_anchors(engine: Engine, folder: Path) -> list[Path]:
    """Write the three files of source document 003, for people and for other programs."""
    book = engine.anchoring.of(engine.snapshot())
    if not book.anchors:
        raise UsageError("there are no anchors to export; run `palace anchors build`")
    return export_files(book, folder)


def reader_of(engine: Engine) -> Reader:
    """Return what reads this palace's notes."""
    return Reader(engine.paths.root, engine.embedder(), engine.config.max_note_bytes)


def _past(engine: Engine, names: tuple[str, ...]) -> Past:
    try:
        return Past(tuple(read_tier(engine.paths.index, name) for name in names))
    except IndexDamagedError:
        return Past()  # derived data that does not verify is never used, and is made anew here

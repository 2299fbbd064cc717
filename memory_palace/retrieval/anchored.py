"""Look a text up in the anchors of a palace: passages alone, and nothing where none fires."""

from __future__ import annotations

import time
from dataclasses import dataclass

from memory_palace.anchors.lookup import EVERYTHING, Ranked, Switches, look_up
from memory_palace.anchors.palace_anchors import PalaceAnchors
from memory_palace.anchors.policy import source_of
from memory_palace.embedding.base import embed_query
from memory_palace.models import ChunkRecord


@dataclass(frozen=True, slots=True)
class AnchoredPassage:
    """One passage that anchors lead to."""

    chunk: ChunkRecord
    source: str
    score: float
    anchor: float
    query: float


@dataclass(frozen=True, slots=True)
class AnchorAnswer:
    """What a lookup found, and how."""

    path: str
    fired: tuple[tuple[str, str, float], ...]
    """Anchor, how it fired, how strongly."""
    passages: tuple[AnchoredPassage, ...]


def look_up_anchors(
    anchors: PalaceAnchors,
    text: str,
    *,
    limit: int | None = None,
    projects: tuple[str, ...] | None = None,
    budget_bytes: int | None = None,
    switches: Switches = EVERYTHING,
) -> AnchorAnswer:
    """Return the passages that the anchors of a text lead to.

    ``budget_bytes`` bounds the previews; nothing is returned where no anchor fires.
    """
    snapshot = anchors.snapshot()
    vector = embed_query(anchors.embedder(), text) if snapshot.commit.dimension else None
    ranked = look_up(
        anchors.book(snapshot),
        text,
        vector,
        now_ns=time.time_ns(),
        projects=projects,
        limit=limit,
        switches=switches,
    )
    return AnchorAnswer(
        ranked.path,
        tuple((anchor.display, anchor.how, anchor.strength) for anchor in ranked.fired),
        _passages(anchors, ranked, budget_bytes),
    )


def _passages(
    anchors: PalaceAnchors, ranked: Ranked, budget_bytes: int | None
) -> tuple[AnchoredPassage, ...]:
    snapshot, left = anchors.snapshot(), budget_bytes
    found: list[AnchoredPassage] = []
    for place, row in enumerate(ranked.rows.tolist()):
        chunk = snapshot.chunk(row)
        if left is not None:
            left -= len(chunk.preview.encode())
            if left < 0:
                break
        found.append(
            AnchoredPassage(
                chunk,
                source_of(chunk.path, anchors.config.sources),
                round(float(ranked.scores[place]), 6),
                round(float(ranked.anchor[place]), 6),
                round(float(ranked.query[place]), 6),
            )
        )
    return tuple(found)

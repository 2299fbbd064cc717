"""Reviews of memories, and how memories fade between them.

The log is append-only, and a source of truth like the notes; the rate by score is an assumption.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from memory_palace.changes.journal import read_moves
from memory_palace.config import PalacePaths
from memory_palace.features.memories.memory_values import MOST_FACTORS, Memory
from memory_palace.shown import Shown
from memory_palace.storage import follow_moves, read_records

LOG = "reviews.jsonl"
FIBONACCI = (1, 2, 3, 5, 8, 13, 21, 34)
"""Days to the next review after none, one, two … in a row that succeeded (source document 000)."""
RECALLED_CONFIDENCE, FORGOTTEN_CONFIDENCE = 0.8, 0.4
"""Of a review that gives none: 4 and 2 of 5."""
DECAY_PER_DAY = (0.2, 0.18, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.025, 0.02, 0.015)
"""By SMASHIN SCOPE 0 to 12 (source document 000): half-lives from 3.5 to 46 days. The document has
two more tables that contradict this one, and measured none of them."""


@dataclass(frozen=True, slots=True)
class Review:
    """One line of the log."""

    memory: str
    """Path of the note at that time."""
    time: datetime
    is_recalled: bool
    confidence: float
    """Right after the review, 0 to 1."""
    smashin: int


@dataclass(frozen=True, slots=True)
class Standing(Shown):
    """When a memory is due, and how well it is remembered, on a day."""

    due: date
    confidence: float
    """Predicted for that day."""
    reviews: int
    streak: int
    """Reviews in a row that succeeded, up to the last."""

    def lines(self) -> Iterable[str]:
        return [f"next review on {self.due}, after {self.streak} in a row"]


def to_record(review: Review) -> dict[str, object]:
    """Return a review as a line of the log has it."""
    return {
        "time": review.time.astimezone(UTC).isoformat(timespec="seconds"),
        "memory": review.memory,
        "recalled": review.is_recalled,
        "confidence": review.confidence,
        "smashin": review.smashin,
    }


def read_reviews(
    logs: Path, moves: Iterable[tuple[str, str]] = ()
) -> Mapping[str, Sequence[Review]]:
    """Return the reviews of each memory, oldest first; records that make no sense are skipped.

    ``moves`` are pairs of an old and a new path, in order: reviews follow their note.
    """
    found: dict[str, list[Review]] = {}
    for review in filter(None, map(_read, read_records(logs / LOG))):
        found.setdefault(review.memory, []).append(review)
    follow_moves(found, moves)
    return {path: sorted(rows, key=lambda row: row.time) for path, rows in found.items()}


def load_reviews(paths: PalacePaths) -> Mapping[str, Sequence[Review]]:
    """Return the reviews of each memory of a palace by its present path, oldest first."""
    return read_reviews(paths.logs, read_moves(paths))


def stand(memory: Memory, reviews: Sequence[Review], *, today: date) -> Standing:
    """Return when a memory is due, and how well it is predicted to be remembered.

    ``memory`` was read with the same ``reviews``. One that nobody has reviewed is due the first
    interval after it was made, at once where that is unknown.
    """
    streak = _count_streak(reviews)
    last, confidence = memory.last_retrieved or memory.created, memory.confidence
    if last is None:
        return Standing(today, confidence, 0, 0)
    due = last + timedelta(days=FIBONACCI[min(streak, len(FIBONACCI) - 1)])
    faded = fade(confidence, (today - last).days, memory.smashin_score)
    return Standing(due, faded, len(reviews), streak)


def _count_streak(reviews: Sequence[Review]) -> int:
    streak = 0
    for review in reversed(reviews):
        if not review.is_recalled:
            break
        streak += 1
    return streak


def _read(record: Mapping[str, Any]) -> Review | None:
    try:
        time = datetime.fromisoformat(record["time"])
        confidence, smashin = float(record["confidence"]), int(record["smashin"])
        memory, recalled = record["memory"], record["recalled"]
    except (ValueError, KeyError, TypeError):
        return None
    is_sound = 0 <= confidence <= 1 and 0 <= smashin <= MOST_FACTORS
    if not is_sound or not isinstance(memory, str) or not isinstance(recalled, bool):
        return None
    return Review(memory, time.replace(tzinfo=time.tzinfo or UTC), recalled, confidence, smashin)


def fade(confidence: float, days: float, score: int) -> float:
    """Return a confidence after some days: ``C0 · e^(-λt)``. Days before the review count as 0."""
    return confidence * math.exp(-DECAY_PER_DAY[score] * max(0.0, days))

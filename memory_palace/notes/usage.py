"""What was retrieved and read, where ``usage_log: on``: one line for each time, notes untouched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from memory_palace.storage.logs import append_record, follow_moves, read_records

USAGE = "usage.jsonl"
Act: TypeAlias = Literal["retrieved", "read"]


@dataclass(frozen=True, slots=True)
class Usage:
    """The log, by note."""

    is_logged: bool = False
    """Whether there is a log: without one, unused notes cannot be told from used ones."""
    days: Mapping[str, Sequence[date]] = field(default_factory=dict)
    """The days on which each note was retrieved or read, one entry for each time."""

    def last(self, path: str) -> date | None:
        """Return the last day a note was used."""
        days = self.days.get(path)
        return max(days) if days else None

    def count(self, path: str) -> int:
        """Return how often a note was used."""
        return len(self.days.get(path, ()))


def record_usage(logs: Path, act: Act, paths: Sequence[str], *, now: datetime) -> None:
    """Append one line; the question itself is not kept.

    It is not flushed to the disk: a line lost in a power cut costs nothing, and asking stays quick.
    """
    if paths:
        stamp = now.astimezone(UTC).isoformat(timespec="seconds")
        record = {"time": stamp, "act": act, "paths": list(paths)}
        append_record(logs / USAGE, record, is_durable=False)


def read_usage(logs: Path, moves: Iterable[tuple[str, str]] = ()) -> Usage:
    """Read the log; ``moves`` are pairs of old and new path, oldest first."""
    days: dict[str, list[date]] = {}
    for record in read_records(logs / USAGE):
        try:
            day = datetime.fromisoformat(record["time"]).date()
            paths = [str(path) for path in record["paths"]]
        except (ValueError, KeyError, TypeError):
            continue
        for path in paths:
            days.setdefault(path, []).append(day)
    follow_moves(days, moves)
    return Usage((logs / USAGE).exists(), days)

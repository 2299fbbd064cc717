"""What was retrieved and read, where ``usage_log: on``: one line for each time, notes untouched."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal, TypeAlias

USAGE = "usage.jsonl"
Act: TypeAlias = Literal["retrieved", "read"]


@dataclass(frozen=True, slots=True)
class Usage:
    """The log, by note."""

    is_logged: bool = False
    """Whether there is a log: without one, no use is no evidence."""
    days: Mapping[str, Sequence[date]] = field(default_factory=dict)
    """The days on which each note was retrieved or read, oldest first, one entry for each time."""

    def last(self, path: str) -> date | None:
        """Return the last day a note was used."""
        days = self.days.get(path)
        return max(days) if days else None

    def count(self, path: str) -> int:
        """Return how often a note was used."""
        return len(self.days.get(path, ()))


def record_usage(logs: Path, act: Act, paths: Sequence[str], *, now: datetime) -> None:
    """Append one line, in one write, so that two processes do not mix theirs.

    It is not flushed to the disk: a line lost in a power cut costs nothing, and asking stays quick.
    The question itself is not kept.
    """
    if not paths:
        return
    logs.mkdir(parents=True, exist_ok=True)
    stamp = now.astimezone(UTC).isoformat(timespec="seconds")
    line = json.dumps({"time": stamp, "act": act, "paths": list(paths)}, ensure_ascii=False)
    descriptor = os.open(logs / USAGE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


def read_usage(logs: Path, moves: Iterable[tuple[str, str]] = ()) -> Usage:
    """Read the log; ``moves`` are pairs of old and new path, oldest first. Skip torn lines."""
    try:
        lines = (logs / USAGE).read_bytes().split(b"\n")
    except FileNotFoundError:
        return Usage()
    days: dict[str, list[date]] = {}
    for line in lines:
        try:
            record = json.loads(line)
            day = datetime.fromisoformat(record["time"]).date()
            paths = [str(path) for path in record["paths"]]
        except (ValueError, KeyError, TypeError):
            continue
        for path in paths:
            days.setdefault(path, []).append(day)
    for old, new in moves:
        if old in days:
            days[new] = sorted([*days.get(new, ()), *days.pop(old)])
    return Usage(True, days)

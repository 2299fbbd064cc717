"""The log of notes that were opened or cited: one line for each time, the notes untouched.

What a question merely lists is no use, and no question is ever kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from memory_palace.config import Config, PalacePaths
from memory_palace.storage import append_record, follow_moves, read_records

USAGE = "usage.jsonl"
Act: TypeAlias = Literal["opened", "cited"]
_ACTS = ("opened", "cited")
KNOWN_AFTER_DAYS = 90
"""Age of a log from which on it can tell that a note was not used."""
LONGEST_GAP = timedelta(days=30)
"""A longer time without any line begins the log anew: it was off, or nobody was there."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The log, by note."""

    began: date | None = None
    """The first day of logging without a gap; ``None`` where nothing is logged now."""
    days: Mapping[str, Sequence[date]] = field(default_factory=dict)
    """The days on which each note was opened or cited, one entry for each time."""

    def tells_disuse(self, today: date) -> bool:
        """Whether a note that was not used can be told from one of which nothing is known."""
        return self.began is not None and (today - self.began).days >= KNOWN_AFTER_DAYS

    def last(self, path: str) -> date | None:
        """Return the last day a note was used."""
        days = self.days.get(path)
        return max(days) if days else None

    def count(self, path: str) -> int:
        """Return the number of times a note was used."""
        return len(self.days.get(path, ()))


def logs_usage(paths: PalacePaths, config: Config) -> bool:
    """Whether use is logged here: as the settings say, else where metabolism has its wing."""
    if config.usage_log != "auto":
        return config.usage_log == "on"
    wings = (folder for folder, room in paths.rooms.folders.items() if room == "reflection_wing")
    return any((paths.root / folder).is_dir() for folder in wings)


def record_usage(logs: Path, act: Act, paths: Sequence[str], *, now: datetime) -> None:
    """Append one line; where it cannot be written, what was asked for goes on without."""
    if paths:
        stamp = now.astimezone(UTC).isoformat(timespec="seconds")
        record = {"time": stamp, "act": act, "paths": list(paths)}
        with suppress(OSError):  # a disk that is full or may only be read
            append_record(logs / USAGE, record, is_durable=False)  # a line lost costs nothing


def read_usage(
    logs: Path, moves: Iterable[tuple[str, str]] = (), *, today: date, is_kept: bool
) -> Usage:
    """Read the log; ``moves`` are pairs of old and new path, oldest first.

    Where it is not kept now, what it holds still counts as use, but no note is called unused.
    """
    days: dict[str, list[date]] = {}
    kept: set[date] = set()
    for record in read_records(logs / USAGE):
        try:
            day = datetime.fromisoformat(record["time"]).date()
            paths = [str(path) for path in record["paths"]]
        except (ValueError, KeyError, TypeError):
            continue
        kept.add(day)
        for path in paths if record.get("act") in _ACTS else ():
            days.setdefault(path, []).append(day)
    follow_moves(days, moves)
    began, later = None, today  # up to the last long gap, which may be the time since the last line
    for day in sorted(kept, reverse=True):
        if not is_kept or later - day > LONGEST_GAP:
            break
        began = later = day
    return Usage(began, days)

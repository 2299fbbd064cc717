"""The usage log: one JSON line each time notes are opened or cited; notes are not changed.

Being listed as a hit is not usage, and questions are never stored.
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
"""Least age of the log, in days, before a note without entries counts as unused."""
LONGEST_GAP = timedelta(days=30)
"""A longer gap between entries restarts the log: logging may have been off."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The parsed usage log."""

    began: date | None = None
    """First day of the latest entries without a long gap; ``None`` if nothing is logged now."""
    days: Mapping[str, Sequence[date]] = field(default_factory=dict)
    """Days of use by note path, one for each time the note was opened or cited."""

    def tells_disuse(self, today: date) -> bool:
        """Whether the log is old enough to call a note without entries unused."""
        return self.began is not None and (today - self.began).days >= KNOWN_AFTER_DAYS

    def last(self, path: str) -> date | None:
        """Return the last day a note was used."""
        days = self.days.get(path)
        return max(days) if days else None

    def count(self, path: str) -> int:
        """Return the number of times a note was used."""
        return len(self.days.get(path, ()))


def logs_usage(paths: PalacePaths, config: Config) -> bool:
    """Whether usage is logged: by ``usage_log``, or if ``auto``, where a reflection wing exists."""
    if config.usage_log != "auto":
        return config.usage_log == "on"
    wings = (folder for folder, room in paths.rooms.folders.items() if room == "reflection_wing")
    return any((paths.root / folder).is_dir() for folder in wings)


def record_usage(logs: Path, act: Act, paths: Sequence[str], *, now: datetime) -> None:
    """Append one entry for ``paths``, if any; an ``OSError`` is ignored."""
    if paths:
        stamp = now.astimezone(UTC).isoformat(timespec="seconds")
        record = {"time": stamp, "act": act, "paths": list(paths)}
        with suppress(OSError):  # the disk is full or read-only
            append_record(logs / USAGE, record, is_durable=False)  # a line lost costs nothing


def read_usage(
    logs: Path, moves: Iterable[tuple[str, str]] = (), *, today: date, is_kept: bool
) -> Usage:
    """Return the parsed log; ``moves`` are pairs of old and new path, oldest first.

    With ``is_kept`` false (logging is off), entries still count as use, but ``began`` is ``None``.
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
    began, later = None, today  # since the last long gap, which may be up to today
    for day in sorted(kept, reverse=True):
        if not is_kept or later - day > LONGEST_GAP:
            break
        began = later = day
    return Usage(began, days)

"""When a note is from: what it says, what its name says, what git says."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from memory_palace.models import NoteDate
from memory_palace.notes.git import PATHS_ON_A_COMMAND_LINE, is_in_repository, run_git

_KEYS = ("updated", "modified", "date", "created")
_IN_NAME = re.compile(r"(?<!\d)(\d{4})([-_.]?)(\d{2})\2(\d{2})(?!\d)")
_LOG_OPTIONS = "--format=%x01%ct --name-only -z --no-renames --diff-filter=AMR".split()
_EARLIEST, _LATEST = 1900, 2200


def date_in_front_matter(values: Mapping[str, Any]) -> NoteDate | None:
    """Return the first readable of updated, modified, date and created."""
    for key in _KEYS:
        timestamp = _timestamp(values.get(key))
        if timestamp is not None:
            return NoteDate(timestamp, "front matter")
    return None


def date_in_name(path: str) -> NoteDate | None:
    """Return the first valid date in a file name, such as ``2026-03-01 flour.md``."""
    for year, _, month, day in _IN_NAME.findall(path.rpartition("/")[2]):
        timestamp = _timestamp(f"{year}-{month}-{day}")
        if timestamp is not None:
            return NoteDate(timestamp, "file name")
    return None


def git_head(root: Path) -> str | None:
    """Return the commit that is checked out, or ``None`` outside a repository."""
    if not is_in_repository(root):
        return None
    out = run_git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    return out.strip() or None if out else None


def git_commit_times(root: Path, paths: Collection[str]) -> dict[str, float]:
    """Return the time of the last commit of those paths that are tracked and clean.

    One pass over the log and one over the status, whatever the number of paths.
    """
    if not is_in_repository(root):
        return {}
    prefix = (run_git(root, "rev-parse", "--show-prefix") or "").strip("\n")
    changed = run_git(root, "status", "--porcelain", "-z", "--no-renames", "--", ".")
    asked = sorted(paths) if len(paths) <= PATHS_ON_A_COMMAND_LINE else ["."]
    log = run_git(root, "log", *_LOG_OPTIONS, "--", *asked)
    if changed is None or log is None:
        return {}
    dirty = {entry[3:] for entry in changed.split("\0") if len(entry) > 3}
    times: dict[str, float] = {}
    for block in log.split("\x01")[1:]:
        stamp, *names = block.replace("\n", "\0").split("\0")
        if not stamp.isdigit():
            continue  # a file name holds the mark
        for name in names:
            if name.startswith(prefix) and name:
                times.setdefault(name[len(prefix) :], float(stamp))
    return {p: times[p] for p in paths if p in times and prefix + p not in dirty}


def _timestamp(value: Any) -> float | None:
    if isinstance(value, str):
        value = _parse(value.strip())
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time(), UTC)
    if not isinstance(value, datetime) or not _EARLIEST <= value.year <= _LATEST:
        return None
    if value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    return float(value.timestamp())


def _parse(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None

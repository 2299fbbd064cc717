"""How far the index is behind the notes: a cheap scan that a query can afford."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memory_palace.config import Config, PalacePaths
from memory_palace.index.segment import STAT
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Problem
from memory_palace.notes.discovery import discover_notes

MOST_ENTRIES = 10_000
"""A query looks at no more files and folders, and says nothing about freshness where there are."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """What a scan found, compared with a snapshot."""

    state: Literal["current", "stale", "unchecked"]
    behind: int = 0
    """Notes that are new, changed or gone."""
    left_out: tuple[str, ...] = ()
    """What is left out by default, by path; folders end with a slash."""
    problems: tuple[Problem, ...] = ()
    """What could not be looked at, or is not followed."""


def check_freshness(
    paths: PalacePaths,
    config: Config,
    snapshot: Snapshot,
    *,
    most_entries: int | None = MOST_ENTRIES,
) -> Freshness:
    """Compare stat figures of the notes in the snapshot's zones; nothing is opened.

    Where the snapshot leaves the cold zone out, so does the comparison. More than ``most_entries``
    files and folders are not compared: the state is ``unchecked``.
    """
    found = discover_notes(paths, ignore=config.ignore, most_entries=most_entries)
    if not found.is_complete:
        return Freshness("unchecked", problems=found.problems)
    stats = snapshot.stats[:, [STAT.size, STAT.mtime_ns, STAT.ctime_ns, STAT.inode]].tolist()
    known = dict(zip(snapshot.paths, stats, strict=True))
    has_cold = bool(snapshot.cold.any())
    behind = 0
    for file in found.files:
        if file.is_cold and not has_cold:
            continue
        behind += known.pop(file.path, None) != list(file.stat)
    behind += len(known)
    return Freshness("stale" if behind else "current", behind, found.left_out, found.problems)

"""How far the index is behind the notes: a cheap scan that a query can afford."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, TypeAlias

from memory_palace.config import Config, PalacePaths
from memory_palace.index.segment import STAT
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Problem
from memory_palace.notes.discovery import discover_notes

FreshnessState: TypeAlias = Literal["current", "stale", "unchecked"]
MOST_ENTRIES = 10_000
"""A query looks at no more files and folders, and says nothing about freshness where there are."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """What a scan found, compared with a snapshot."""

    state: FreshnessState
    behind: int = 0
    """Notes that are new, changed or gone."""
    left_out: tuple[str, ...] = ()
    """What is left out by default, by path; folders end with a slash."""
    problems: tuple[Problem, ...] = ()
    """What could not be looked at, or is not followed."""
    folders: tuple[str, ...] | None = ()
    """As ``Discovery`` has them."""


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
        return Freshness("unchecked", problems=found.problems, folders=found.folders)
    stats = snapshot.stats[:, [STAT.size, STAT.mtime_ns, STAT.ctime_ns, STAT.inode]].tolist()
    known = dict(zip(snapshot.paths, stats, strict=True))
    has_cold = bool(snapshot.cold.any())
    problems = list(found.problems)
    behind = 0
    for file in found.files:
        if file.is_cold and not has_cold:
            continue
        if known.pop(file.path, None) != list(file.stat):
            behind += 1
            if not os.access(paths.root / file.path, os.R_OK):
                message = "cannot be read; check who may read it"
                problems.append(Problem(file.path, None, "unreadable", message, is_failure=True))
    behind += len(known)
    state: FreshnessState = "stale" if behind else "current"
    return Freshness(state, behind, found.left_out, tuple(problems), found.folders)

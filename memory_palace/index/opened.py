"""The committed generation: open for readers, as a writer starts from it, and how far behind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from memory_palace.config import Config, PalacePaths
from memory_palace.errors import IndexDamagedError, IndexMissingError
from memory_palace.index.commit import (
    Commit,
    SegmentRef,
    check_companion,
    check_recipe,
    read_commit,
)
from memory_palace.index.segment import STAT, Segment, damaged, open_segment
from memory_palace.index.snapshot import Fold, Snapshot, fold_segments
from memory_palace.language.words import Languages
from memory_palace.models import FileStat, Problem
from memory_palace.notes.discovery import discover_notes
from memory_palace.storage import is_named_by_content


class OpenedIndex:
    """The committed generation, and its segments, which stay open while the next one has them."""

    def __init__(self, paths: PalacePaths, languages: Languages = ()) -> None:
        """``languages`` are those of the settings; an index for others is refused."""
        self._paths, self._languages = paths, languages
        self._snapshots: dict[bool, Snapshot] = {}
        self._segments: dict[SegmentRef, tuple[_Stamp, Segment]] = {}

    def snapshot(self, *, include_cold: bool = False) -> Snapshot:
        """Return the generation, read again only where it is another, or a file has changed."""
        held, folder = self._snapshots.get(include_cold), self._paths.index
        if (
            held is None
            or held.commit != read_commit(self._paths.commit)
            or any(_stamp(folder, ref) != stamp for ref, (stamp, _) in self._segments.items())
        ):
            held = open_snapshot(self._paths, include_cold=include_cold, opener=self._open)
            check_recipe(held.commit, self._languages)
            kept = set(held.commit.segments)
            self._segments = {ref: opened for ref, opened in self._segments.items() if ref in kept}
            self._snapshots = {
                is_cold: snapshot
                for is_cold, snapshot in self._snapshots.items()
                if snapshot.commit == held.commit
            } | {include_cold: held}
        return held

    def _open(self, folder: Path, ref: SegmentRef) -> Segment:
        stamp = _stamp(folder, ref)
        before = self._segments.get(ref)
        if before is not None and before[0] == stamp:
            return before[1]
        self._segments.pop(ref, None)
        segment = open_segment(folder, ref)
        self._segments[ref] = stamp, segment
        return segment


_Stamp: TypeAlias = tuple[tuple[int, ...], ...]


def _stamp(folder: Path, ref: SegmentRef) -> _Stamp:
    """Return figures of the files of a segment, which change when the files do."""
    with suppress(FileNotFoundError):
        found = [os.stat(f"{folder}/{ref.name}{kind}") for kind in (".npz", ".jsonl")]  # noqa: PTH116
        return tuple((s.st_ino, s.st_size, s.st_mtime_ns) for s in found)
    return ()


def open_snapshot(
    paths: PalacePaths,
    *,
    include_cold: bool = False,
    opener: Callable[..., Segment] = open_segment,
) -> Snapshot:
    """Open the committed generation.

    A writer may commit and sweep between reading the record and opening what it names. That is
    not damage: the record is read again. The same record failing twice is.
    """
    commit = read_commit(paths.commit)
    while True:
        try:
            folds = [
                fold_segments(
                    [opener(paths.index, ref) for ref in commit.segments if ref.is_cold == is_cold]
                )
                for is_cold in ((False, True) if include_cold else (False,))
            ]
        except IndexDamagedError:
            again = read_commit(paths.commit)
            if again == commit:
                raise
            commit = again
        else:
            return Snapshot(commit, folds, rooms=paths.rooms)


MENDED = " (mended in this run)"
"""A build adds this to damage; an examination mends nothing."""


@dataclass(frozen=True, slots=True)
class KnownNote:
    """A live note as the index knows it."""

    path: str
    is_cold: bool
    place: int
    """Its index in the fold of its zone."""
    stat: FileStat
    digest: bytes


@dataclass(frozen=True, slots=True)
class CommittedState:
    """The committed index as a writer sees it."""

    commit: Commit | None
    refs: tuple[SegmentRef, ...]
    """Those of the commit that verify."""
    hot: Fold
    cold: Fold
    problems: tuple[Problem, ...]
    """Damaged files, by name. Their notes are found missing and indexed again."""

    def known(self) -> Iterator[KnownNote]:
        """Every live note, hot ones first."""
        for fold, is_cold in ((self.hot, False), (self.cold, True)):
            if not fold.paths:
                continue
            stats = fold.column("stat")[:, : STAT.changed_ns].tolist()
            digests = np.ascontiguousarray(fold.column("note_digest")).view("V16").ravel()
            for place, path in enumerate(fold.paths):
                yield KnownNote(
                    path, is_cold, place, FileStat(*stats[place]), digests[place].tobytes()
                )

    def fold(self, is_cold: bool) -> Fold:
        """Return the fold of one zone."""
        return self.cold if is_cold else self.hot

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All opened segments."""
        return self.hot.segments + self.cold.segments


EMPTY = CommittedState(None, (), fold_segments([]), fold_segments([]), ())


def open_state(paths: PalacePaths, *, verify: bool = False) -> CommittedState:
    """Open what is committed. Damage is reported in ``problems``, never raised."""
    try:
        commit = read_commit(paths.commit)
    except IndexMissingError:
        return EMPTY
    except IndexDamagedError as error:
        return replace(EMPTY, problems=(_problem(paths.commit, paths, error),))
    opened: dict[SegmentRef, Segment] = {}
    problems: list[Problem] = []
    for ref in commit.segments:
        try:
            segment = open_segment(paths.index, ref)
            if verify:
                segment.verify()
            opened[ref] = segment
        except IndexDamagedError as error:
            problems.append(_problem(paths.index / f"{ref.name}.npz", paths, error))
    if verify:
        for name in (name for ref in commit.segments for name in ref.vectors):
            path = paths.index / f"{name}.npz"
            if not (path.exists() and is_named_by_content(path)):
                unlike = damaged(path.name, "does not match its SHA-256")
                problems.append(_problem(path, paths, unlike))
        for name in commit.anchors:  # a build leaves damaged ones out of the next generation
            try:
                check_companion(paths.index, name)
            except IndexDamagedError as error:
                where = paths.index.relative_to(paths.root).as_posix()
                problems.append(Problem(where, None, "index", str(error)))
    return CommittedState(
        commit,
        tuple(opened),
        fold_segments([s for ref, s in opened.items() if not ref.is_cold]),
        fold_segments([s for ref, s in opened.items() if ref.is_cold]),
        tuple(problems),
    )


def _problem(path: Path, paths: PalacePaths, error: IndexDamagedError) -> Problem:
    where = path.relative_to(paths.root).as_posix()
    return Problem(where, None, "index", f"{error}{MENDED}")


FreshnessState: TypeAlias = Literal["current", "stale", "unchecked"]
MOST_ENTRIES = 10_000
"""A query looks at no more files and folders, and says nothing about freshness where there are."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """The result of a scan, compared with a snapshot."""

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
    stats = snapshot.stats[:, : STAT.changed_ns].tolist()
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

"""What a writer starts from: the committed segments that verify, and which did not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from memory_palace.config import PalacePaths
from memory_palace.errors import IndexDamagedError, IndexMissingError
from memory_palace.index.commit import Commit, SegmentRef, check_companion, read_commit
from memory_palace.index.fold import Fold, fold_segments
from memory_palace.index.segment import STAT, Segment, damaged, open_segment
from memory_palace.index.writing import NUMBER_COLUMNS, TEXT_COLUMNS, NoteRow
from memory_palace.models import FileStat, Problem
from memory_palace.storage.atomic import is_named_by_content

MENDED = " (mended in this run)"
"""What a build says of damage; an examination mends nothing."""


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
            stats = fold.column("stat")[:, :4].tolist()
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
            opened[ref] = _open(paths.index, ref, verify=verify)
        except IndexDamagedError as error:
            problems.append(_problem(paths.index / f"{ref.name}.npz", paths, error))
    if verify:
        names = (f"{name}.npz" for ref in commit.segments for name in ref.vectors)
        for name in names:
            path = paths.index / name
            if not (path.exists() and is_named_by_content(path)):
                problems.append(_problem(path, paths, damaged(name, "does not match its SHA-256")))
        problems += check_anchors(paths, commit)
    return CommittedState(
        commit,
        tuple(opened),
        fold_segments([s for ref, s in opened.items() if not ref.is_cold]),
        fold_segments([s for ref, s in opened.items() if ref.is_cold]),
        tuple(problems),
    )


def check_anchors(paths: PalacePaths, commit: Commit) -> list[Problem]:
    """Name the anchor files that are damaged. A build leaves them out of the next generation."""
    found = []
    for name in commit.anchors:
        try:
            check_companion(paths.index, name)
        except IndexDamagedError as error:
            where = paths.index.relative_to(paths.root).as_posix()
            found.append(Problem(where, None, "index", str(error)))
    return found


def read_row(fold: Fold, place: int, *, kind: int) -> NoteRow:
    """Rebuild the record of a live note, without its chunks."""
    segment, record = fold.locate(int(fold.winners[place]))
    columns: dict[str, Any] = {
        field: segment.texts(member)[record] for member, field in TEXT_COLUMNS.items()
    }
    columns |= {member: segment[member][record].item() for member in NUMBER_COLUMNS}
    return NoteRow(
        **columns | {"path": fold.paths[place], "kind": kind},
        line=segment.note_bytes(record),
        digest=bytes(segment["note_digest"][record]),
        days=tuple(segment["days"][record].tolist()),
        stat=tuple(segment["stat"][record].tolist()),
    )


def changed_ns(fold: Fold, place: int) -> int:
    """Return when the content of a live note last changed, by its mtime at that moment."""
    segment, record = fold.locate(int(fold.winners[place]))
    return int(segment["stat"][record][STAT.changed_ns])


def _open(folder: Path, ref: SegmentRef, *, verify: bool) -> Segment:
    segment = open_segment(folder, ref)
    if verify and not segment.arrays_are_whole():
        raise damaged(f"{ref.name}.npz", "does not match its SHA-256")
    if verify and not segment.lines_are_whole():
        raise damaged(f"{ref.name}.jsonl", "does not match its SHA-256")
    return segment


def _problem(path: Path, paths: PalacePaths, error: IndexDamagedError) -> Problem:
    where = path.relative_to(paths.root).as_posix()
    return Problem(where, None, "index", f"{error}{MENDED}")

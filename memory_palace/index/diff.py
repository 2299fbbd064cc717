"""Diff the notes, the manifest and git against the committed index.

Files are compared by stat figures, as in git's index, then by digests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from memory_palace.config import PalacePaths, Rooms
from memory_palace.errors import IndexDamagedError, IndexMissingError
from memory_palace.index.commit import Commit, SegmentRef, check_companion, read_commit
from memory_palace.index.segment import (
    META,
    PRIORITIES,
    SOURCES,
    STAT,
    Fold,
    Segment,
    damaged,
    fold_segments,
    open_segment,
)
from memory_palace.index.values import BuildContext
from memory_palace.index.writing import NoteRow, read_row
from memory_palace.models import FileStat, NoteDate, Problem
from memory_palace.notes.discovery import SourceFile
from memory_palace.notes.manifest import (
    Manifest,
    ManifestEntry,
    add_lines,
    git_commit_times,
    git_head,
    manifest_key,
    own_line,
    read_manifest,
    swap_lines,
)
from memory_palace.notes.note import NoteUnreadable, default_type
from memory_palace.storage import is_named_by_content, write_atomic

MENDED = " (mended in this run)"


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
    """Segments of the commit that opened, and verified if asked, without damage."""
    hot: Fold
    cold: Fold
    problems: tuple[Problem, ...]
    """Damaged files, by name. Their notes are found missing and indexed again."""

    def known(self) -> Iterator[KnownNote]:
        """Yield every live note, hot ones first."""
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
    """Open the committed index. Damage is reported in ``problems``, never raised."""
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


MARGIN_NS = 2_000_000_000
"""A file whose inode changed this shortly before the last scan, or later, is hashed: a second
change in the same clock tick would leave the same figures. Two seconds is the coarsest clock of
the file systems in use (FAT); git calls such a file racily clean."""


@dataclass(slots=True)
class Diff:
    """Notes by their fate since the commit. ``problems`` has those that could not be read."""

    new: list[SourceFile] = field(default_factory=list)
    changed: list[tuple[SourceFile, KnownNote]] = field(default_factory=list)
    touched: list[tuple[SourceFile, KnownNote]] = field(default_factory=list)
    """Same bytes, other stat figures."""
    moved: list[tuple[SourceFile, KnownNote]] = field(default_factory=list)
    removed: list[KnownNote] = field(default_factory=list)
    unchanged: list[tuple[SourceFile, KnownNote]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    hashed: int = 0

    def to_read(self) -> list[SourceFile]:
        """Return the files whose content is to be indexed."""
        return [*self.new, *(file for file, _ in (*self.changed, *self.moved))]


def diff_notes(
    files: Iterable[SourceFile],
    known: Iterable[KnownNote],
    read_digest: Callable[[SourceFile], bytes],
    *,
    scanned_ns: int,
    verify: bool = False,
    may_hold: Callable[[str], bool] = lambda path: False,
) -> Diff:
    """Return the fate of every note, hashing only files whose stat figures leave a doubt.

    ``read_digest`` returns 16 bytes, or raises ``FileNotFoundError`` or ``NoteUnreadable``. A note
    that was not found is unchanged if ``may_hold`` says that its folder could not be read.
    """
    diff = Diff()
    left = {(note.path, note.is_cold): note for note in known}
    threshold = scanned_ns - MARGIN_NS
    for file in files:
        note = left.pop((file.path, file.is_cold), None)
        if note is None:
            diff.new.append(file)
        elif note.stat == file.stat and file.stat.ctime_ns < threshold and not verify:
            diff.unchanged.append((file, note))
        else:
            _compare(diff, file, note, read_digest)
    for note in left.values():
        if may_hold(note.path):
            diff.unchanged.append((SourceFile(note.path, note.stat, note.is_cold), note))
        else:
            diff.removed.append(note)
    _pair_moves(diff, read_digest)
    return diff


def _compare(
    diff: Diff, file: SourceFile, note: KnownNote, read_digest: Callable[[SourceFile], bytes]
) -> None:
    diff.hashed += 1
    try:
        digest = read_digest(file)
    except (FileNotFoundError, NoteUnreadable) as error:
        diff.removed.append(note)
        if isinstance(error, NoteUnreadable):
            diff.problems.append(error.problem)
        return
    if digest != note.digest:
        diff.changed.append((file, note))
    elif note.stat != file.stat:
        diff.touched.append((file, note))
    else:
        diff.unchanged.append((file, note))


def _pair_moves(diff: Diff, read_digest: Callable[[SourceFile], bytes]) -> None:
    """Match new files with removed notes of the same bytes, both in path order."""
    if not diff.new or not diff.removed:
        return
    gone: dict[bytes, list[KnownNote]] = {}
    for note in sorted(diff.removed, key=lambda note: note.path, reverse=True):
        gone.setdefault(note.digest, []).append(note)
    sizes = {note.stat.size for note in diff.removed}
    still_new: list[SourceFile] = []
    for file in diff.new:
        if file.stat.size in sizes:
            with suppress(FileNotFoundError, NoteUnreadable):  # reported when it is indexed
                if same := gone.get(read_digest(file)):
                    diff.moved.append((file, same.pop()))
                    continue
        still_new.append(file)
    taken = {(note.path, note.is_cold) for _, note in diff.moved}
    diff.new = still_new
    diff.removed = [n for n in diff.removed if (n.path, n.is_cold) not in taken]


_GIT, _MTIME = SOURCES.index("git"), SOURCES.index("mtime")
_UNDATED = {_GIT, _MTIME}


@dataclass(frozen=True, slots=True)
class Listing:
    """Manifest, git and rooms as they stood when the build began."""

    manifest: Manifest
    git_times: Mapping[str, float]
    """Commit times of tracked and clean notes that may have no date of their own."""
    head: str
    rooms: Rooms

    def line_of(self, path: str) -> ManifestEntry | None:
        """Return a note's manifest line."""
        return self.manifest.entries.get(manifest_key(path))

    def type_of(self, path: str, own: str) -> str:
        """Return a type: front matter, else the manifest line, else the room's default."""
        line = self.line_of(path)
        return own or (line.type if line and line.type else default_type(self.rooms, path))

    def priority_of(self, path: str, own: int) -> int:
        """Return a priority: front matter, else the manifest line, else 0 for none."""
        line = self.line_of(path)
        return own or (PRIORITIES.index(line.priority) if line and line.priority else 0)

    def date_of(self, path: str, own: NoteDate | None) -> tuple[float, int]:
        """Return a date and its source; for mtime the stat record holds the date."""
        if own is not None:
            return own.timestamp, SOURCES.index(own.source)
        if path in self.git_times:
            return self.git_times[path], _GIT
        return 0.0, _MTIME


def consult(context: BuildContext, state: CommittedState, diff: Diff) -> Listing:
    """Read the manifest, and from git the dates of notes that may need one."""
    root = context.paths.root
    manifest = read_manifest(context.paths)
    head = git_head(root) or ""
    times: dict[str, float] = {}
    if head:
        asked = [file.path for file in diff.to_read()]
        if state.commit is None or state.commit.git_head != head:
            for fold in filter(lambda fold: fold.paths, (state.hot, state.cold)):
                sources = fold.column("date_source").tolist()
                asked += [p for p, s in zip(fold.paths, sources, strict=True) if s in _UNDATED]
        times = git_commit_times(root, asked) if asked else {}
    return Listing(manifest, times, head, context.paths.rooms)


def meta_rows(
    state: CommittedState, diff: Diff, listing: Listing, *, is_cold: bool
) -> Iterator[NoteRow]:
    """Yield meta records of notes with the same bytes but other stat figures or metadata.

    Every note is compared if the manifest or the git head changed or the index was damaged;
    otherwise only touched ones are.
    """
    fold = state.fold(is_cold)
    commit = state.commit
    is_relisted = (
        commit is None or commit.manifest != listing.manifest.digest or bool(state.problems)
    )
    is_redated = commit is None or commit.git_head != listing.head
    touched = {note.place: file for file, note in diff.touched if note.is_cold == is_cold}
    compared = list(touched)
    if is_relisted or is_redated:
        compared += [note.place for _, note in diff.unchanged if note.is_cold == is_cold]
    if not compared:
        return
    types, own_types = fold.texts("types"), fold.texts("own_types")
    priorities, own_priorities = fold.column("priority"), fold.column("own_priority")
    dates, sources = fold.column("date").tolist(), fold.column("date_source").tolist()
    for place in sorted(compared):
        path = fold.paths[place]
        kind = listing.type_of(path, own_types[place])
        priority = listing.priority_of(path, int(own_priorities[place]))
        date, source = dates[place], sources[place]
        if is_redated and source in _UNDATED:
            date, source = listing.date_of(path, None)
        new = (kind, priority, date, source)
        old = (types[place], int(priorities[place]), dates[place], sources[place])
        if place in touched or new != old:
            row = read_row(fold, place, kind=META)
            stat = (*touched[place].stat, fold.changed_ns(place)) if place in touched else row.stat
            yield replace(
                row, type=kind, priority=priority, date=date, date_source=source, stat=stat
            )


def append_lines(context: BuildContext, listing: Listing, diff: Diff, gone: set[str]) -> str:
    """Add a manifest line for every hot note without one; return the manifest's digest.

    A frozen manifest and a dry run write nothing. A moved note takes the fields of its old line,
    which is renamed if the program wrote it and nobody added to it. Other lines never change.
    """
    manifest = listing.manifest
    if context.config.manifest == "frozen" or context.is_dry_run:
        return manifest.digest
    moved = {file.path: note.path for file, note in diff.moved}
    files = (*diff.to_read(), *(file for file, _ in (*diff.touched, *diff.unchanged)))
    hot = (file.path for file in files if not file.is_cold and file.path not in gone)
    new = list(_missing_lines(listing, hot, moved))
    if not new:
        return manifest.digest
    path = context.paths.manifest
    before = path.read_bytes() if path.exists() else b""
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    renamed = {own_line(moved[e.path]): own_line(e.path) for e in new if e.path in moved}
    after = swap_lines(before, renamed)
    known = set(after.splitlines()) if moved else set()
    new = [entry for entry in new if own_line(entry.path) not in known]
    write_atomic(path, add_lines(after, new), mode=mode)
    return read_manifest(context.paths).digest


def _missing_lines(
    listing: Listing, paths: Iterable[str], moved: dict[str, str]
) -> Iterator[ManifestEntry]:
    for path in sorted(paths):
        if listing.line_of(path):
            continue
        old = listing.line_of(moved.get(path, ""))
        if old is None:
            yield ManifestEntry(path=path, type=None, priority=None, line=0, extra={})
        else:
            yield replace(old, path=path, line=0)

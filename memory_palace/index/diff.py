"""What changed since the last commit: git's index rule, then digests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from memory_palace.index.state import KnownNote
from memory_palace.models import Problem
from memory_palace.notes.discovery import SourceFile
from memory_palace.notes.reading import NoteUnreadable

MARGIN_NS = 2_000_000_000
"""A file whose inode changed this shortly before the last scan, or later, is hashed: a second
change in the same clock tick would leave the same figures. Two seconds is the coarsest clock of
the file systems in use (FAT); git calls such a file racily clean."""


@dataclass(slots=True)
class Diff:
    """Notes by fate. ``failed`` holds those that could not be read."""

    new: list[SourceFile] = field(default_factory=list)
    changed: list[tuple[SourceFile, KnownNote]] = field(default_factory=list)
    touched: list[tuple[SourceFile, KnownNote]] = field(default_factory=list)
    """Same bytes, other stat figures."""
    moved: list[tuple[SourceFile, KnownNote]] = field(default_factory=list)
    removed: list[KnownNote] = field(default_factory=list)
    unchanged: list[tuple[SourceFile, KnownNote]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    hashed: int = 0


ReadDigest = Callable[[SourceFile], bytes]
"""Hash a file's bytes: 16 bytes. Raises ``FileNotFoundError`` or ``NoteUnreadable``."""


def diff_notes(
    files: Iterable[SourceFile],
    known: Iterable[KnownNote],
    read_digest: ReadDigest,
    *,
    scanned_ns: int,
    verify: bool = False,
) -> Diff:
    """Sort every note into its fate, reading only files whose figures leave a doubt."""
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
    diff.removed.extend(left.values())
    _pair_moves(diff, read_digest)
    return diff


def _compare(diff: Diff, file: SourceFile, note: KnownNote, read_digest: ReadDigest) -> None:
    diff.hashed += 1
    try:
        digest = read_digest(file)
    except FileNotFoundError:
        diff.removed.append(note)
        return
    except NoteUnreadable as error:
        diff.problems.append(error.problem)
        diff.removed.append(note)
        return
    if digest != note.digest:
        diff.changed.append((file, note))
    elif note.stat != file.stat:
        diff.touched.append((file, note))
    else:
        diff.unchanged.append((file, note))


def _pair_moves(diff: Diff, read_digest: ReadDigest) -> None:
    """Match new files with removed notes of the same bytes, both in path order."""
    if not diff.new or not diff.removed:
        return
    gone: dict[bytes, list[KnownNote]] = {}
    for note in sorted(diff.removed, key=lambda note: note.path, reverse=True):
        gone.setdefault(note.digest, []).append(note)
    still_new: list[SourceFile] = []
    for file in diff.new:
        source = _take(gone, file, read_digest)
        if source is None:
            still_new.append(file)
        else:
            diff.moved.append((file, source))
    taken = {(note.path, note.is_cold) for _, note in diff.moved}
    diff.new = still_new
    diff.removed = [n for n in diff.removed if (n.path, n.is_cold) not in taken]


def _take(
    gone: Mapping[bytes, list[KnownNote]], file: SourceFile, read_digest: ReadDigest
) -> KnownNote | None:
    if not any(file.stat.size == note.stat.size for notes in gone.values() for note in notes):
        return None
    try:
        candidates = gone.get(read_digest(file))
    except (FileNotFoundError, NoteUnreadable):
        return None  # the pass that indexes it reports it
    return candidates.pop() if candidates else None

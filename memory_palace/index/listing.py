"""What the manifest and git say about notes, and which records that changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memory_palace.config import SEVEN, Rooms
from memory_palace.index.context import BuildContext
from memory_palace.index.diff import Diff
from memory_palace.index.segment import META, PRIORITIES, SOURCES
from memory_palace.index.state import CommittedState, changed_ns, read_row
from memory_palace.index.writing import NoteRow
from memory_palace.models import NoteDate
from memory_palace.notes.discovery import SourceFile
from memory_palace.notes.git import git_commit_times, git_head
from memory_palace.notes.manifest import (
    Manifest,
    ManifestEntry,
    add_lines,
    manifest_key,
    own_line,
    read_manifest,
    swap_lines,
)
from memory_palace.notes.rooms import default_type
from memory_palace.storage.atomic import write_atomic

_GIT, _MTIME = SOURCES.index("git"), SOURCES.index("mtime")
_UNDATED = {_GIT, _MTIME}


@dataclass(frozen=True, slots=True)
class Listing:
    """Who is asked beside the note itself, as they stood when the build began."""

    manifest: Manifest
    git_times: Mapping[str, float]
    """Last commit of tracked and clean notes that have no date of their own."""
    head: str
    rooms: Rooms = SEVEN

    def line_of(self, path: str) -> ManifestEntry | None:
        """Return a note's manifest line."""
        return self.manifest.entries.get(manifest_key(path))

    def type_of(self, path: str, own: str) -> str:
        """Front matter, then the manifest line, then the room's default."""
        line = self.line_of(path)
        return own or (line.type if line and line.type else default_type(self.rooms, path))

    def priority_of(self, path: str, own: int) -> int:
        """Front matter, then the manifest line, else none."""
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
    """Read the manifest; ask git for dates of notes that may need one."""
    root = context.paths.root
    manifest = read_manifest(context.paths)
    head = git_head(root) or ""
    times: dict[str, float] = {}
    if head:
        asked = [file.path for file in diff.new]
        asked += [file.path for file, _ in (*diff.changed, *diff.moved)]
        if state.commit is None or state.commit.git_head != head:
            asked += _undated(state)
        times = git_commit_times(root, asked) if asked else {}
    return Listing(manifest, times, head, context.paths.rooms)


def meta_rows(
    state: CommittedState, diff: Diff, listing: Listing, *, is_cold: bool
) -> Iterator[NoteRow]:
    """Yield records of notes whose bytes are the same but whose figures or listing are not.

    Every note is compared when the manifest, the last git commit or the trust in the index
    changed; otherwise only touched ones are.
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
            stat = (*touched[place].stat, changed_ns(fold, place)) if place in touched else row.stat
            yield replace(
                row, type=kind, priority=priority, date=date, date_source=source, stat=stat
            )


def append_lines(context: BuildContext, listing: Listing, diff: Diff, gone: set[str]) -> str:
    """Give every hot note a manifest line, unless that is forbidden; return the digest after.

    Lines of people are never touched. A renamed note takes the other fields of its old line; one
    that the program wrote, and to which nobody added anything, gets the new name.
    """
    manifest = listing.manifest
    if context.config.manifest == "frozen" or context.is_dry_run:
        return manifest.digest
    moved = {file.path: note.path for file, note in diff.moved}
    hot = [file for file in _all_files(diff) if not file.is_cold and file.path not in gone]
    new = list(_missing_lines(listing, (file.path for file in hot), moved))
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


def _all_files(diff: Diff) -> Sequence[SourceFile]:
    pairs = (*diff.changed, *diff.touched, *diff.moved, *diff.unchanged)
    return [*diff.new, *(file for file, _ in pairs)]


def _undated(state: CommittedState) -> Iterator[str]:
    for fold in (state.hot, state.cold):
        if fold.paths:
            sources = fold.column("date_source").tolist()
            yield from (p for p, s in zip(fold.paths, sources, strict=True) if s in _UNDATED)

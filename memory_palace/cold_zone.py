"""What a palace does with its cold zone: prove that it is blind to it, archive, restore, undo."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from memory_palace.graph.blindness import Leak, find_cold_leaks
from memory_palace.graph.names import NoteNames
from memory_palace.models import Filters, IndexReport
from memory_palace.notes.archive import plan_archive, plan_restore
from memory_palace.notes.journal import Move, apply_moves, last_change, recover, render_diff
from memory_palace.notes.manifest import drop_lines, read_manifest
from memory_palace.notes.rooms import is_cold_path
from memory_palace.palace import Palace
from memory_palace.storage.atomic import write_atomic


@dataclass(frozen=True, slots=True)
class Change:
    """Moves that were shown, and whether they were made."""

    moves: tuple[Move, ...]
    diff: str
    is_applied: bool
    report: IndexReport | None = None
    """Of the build that followed."""


def find_leaks(palace: Palace) -> list[Leak]:
    """Look for cold paths in manifest, index, graph and the answer to a test query."""
    snapshot = palace.snapshot()
    manifest = read_manifest(palace.paths.manifest)
    probe = palace.query("", filters=Filters(since=0.0), limit=len(snapshot.paths) or 1)
    return find_cold_leaks(
        is_cold=lambda path: is_cold_path(palace.paths.root, path),
        manifest=[entry.path for entry in manifest.entries.values()],
        indexed=snapshot.paths,
        graph=palace.graph(),
        hits=[hit.path for hit in probe.hits],
    )


def fix_leaks(palace: Palace) -> None:
    """Take cold lines out of the manifest, every other byte kept, and build the index again."""
    path = palace.paths.manifest
    with palace.writing():
        if path.exists():
            before = path.read_bytes()
            after = drop_lines(before, lambda name: is_cold_path(palace.paths.root, name))
            if after != before:
                write_atomic(path, after, mode=path.stat().st_mode & 0o777)
    palace.index(verify=True)


def archive_note(palace: Palace, note: str, *, apply: bool) -> Change:
    """Move a note into the cold zone. Links to it become archived: not broken, not followed."""
    path = NoteNames.from_snapshot(palace.snapshot()).find(note)
    move = plan_archive(path, year=datetime.now(UTC).year)
    return _change(palace, [move], f"archive {path}", apply=apply)


def restore_note(palace: Palace, note: str, *, apply: bool) -> Change:
    """Bring an archived note back to where it was."""
    snapshot = palace.snapshot(include_cold=True)
    move = plan_restore(palace.paths, NoteNames.from_snapshot(snapshot).find(note))
    return _change(palace, [move], f"restore {move.old}", apply=apply)


def undo_last(palace: Palace, *, apply: bool) -> Change:
    """Take the last archive or restore back."""
    identity, moves = last_change(palace.paths)
    back = [Move(move.new, move.old) for move in reversed(moves)]
    return _change(palace, back, f"undo {identity}", apply=apply, undoes=identity)


def _change(
    palace: Palace, moves: list[Move], reason: str, *, apply: bool, undoes: str | None = None
) -> Change:
    diff = render_diff(moves)
    if not apply:
        return Change(tuple(moves), diff, is_applied=False)
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    with palace.writing():
        recover(palace.paths)
        apply_moves(palace.paths, moves, reason=reason, now=now, undoes=undoes)
    return Change(tuple(moves), diff, is_applied=True, report=palace.index())

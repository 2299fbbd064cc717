"""What a palace does with its cold zone: prove that it is blind to it, archive, restore, undo."""

from __future__ import annotations

from datetime import UTC, datetime

from memory_palace.changes.archive import plan_archive, plan_restore
from memory_palace.changes.change import Outcome, Plan, change_notes, undo_change
from memory_palace.changes.editing import Move
from memory_palace.engine import Engine
from memory_palace.graph.blindness import Leak, find_cold_leaks
from memory_palace.graph.names import NoteNames
from memory_palace.models import Filters
from memory_palace.notes.manifest import drop_lines, read_manifest
from memory_palace.notes.rooms import is_cold_path
from memory_palace.storage.atomic import write_atomic


def find_leaks(engine: Engine) -> list[Leak]:
    """Look for cold paths in manifest, index, graph and the answer to a test query."""
    snapshot = engine.snapshot()
    manifest = read_manifest(engine.paths.manifest)
    probe = engine.query("", filters=Filters(since=0.0), limit=len(snapshot.paths) or 1)
    return find_cold_leaks(
        is_cold=lambda path: is_cold_path(engine.paths.root, path),
        manifest=[entry.path for entry in manifest.entries.values()],
        indexed=snapshot.paths,
        graph=engine.graph(),
        hits=[hit.path for hit in probe.hits],
    )


def fix_leaks(engine: Engine) -> None:
    """Take cold lines out of the manifest, every other byte kept, and build the index again."""
    path = engine.paths.manifest
    with engine.writing():
        if path.exists():
            before = path.read_bytes()
            after = drop_lines(before, lambda name: is_cold_path(engine.paths.root, name))
            if after != before:
                write_atomic(path, after, mode=path.stat().st_mode & 0o777)
    engine.index(verify=True)


def archive_note(
    engine: Engine, note: str, *, apply: bool = False, allow_uncommitted: bool = False
) -> Outcome:
    """Move a note into the cold zone. Links to it become archived: not broken, not followed."""
    path = NoteNames.from_snapshot(engine.snapshot()).find(note)
    move = plan_archive(path, year=datetime.now(UTC).year)
    return _move(engine, move, f"archive {path}", apply, allow_uncommitted)


def restore_note(
    engine: Engine, note: str, *, apply: bool = False, allow_uncommitted: bool = False
) -> Outcome:
    """Bring an archived note back to where it was."""
    snapshot = engine.snapshot(include_cold=True)
    move = plan_restore(engine.paths, NoteNames.from_snapshot(snapshot).find(note))
    return _move(engine, move, f"restore {move.old}", apply, allow_uncommitted)


def undo_last(engine: Engine, *, apply: bool = False) -> Outcome:
    """Take the last archive or restore back."""
    return undo_change(engine, command="cold", identity=None, apply=apply)


def _move(engine: Engine, move: Move, reason: str, apply: bool, allow_uncommitted: bool) -> Outcome:
    return change_notes(
        engine, lambda _: Plan([move], reason), command="cold", apply=apply,
        allow_uncommitted=allow_uncommitted,
    )  # fmt: skip

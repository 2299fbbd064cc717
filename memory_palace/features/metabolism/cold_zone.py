"""The cold zone of a palace: archive and restore notes, find and fix leaks of archived notes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from memory_palace.changes.changing import Outcome, Plan, change_notes, write_file
from memory_palace.changes.journal import Move, Replace, read_log
from memory_palace.config import PalacePaths, Rooms
from memory_palace.errors import UsageError
from memory_palace.graph.naming import NoteNames
from memory_palace.notes.document import Library
from memory_palace.notes.manifest import drop_lines, read_manifest
from memory_palace.notes.note import is_cold_path
from memory_palace.palace import Feature, Palace, Verb
from memory_palace.places import ARCHIVE
from memory_palace.query import Query


@dataclass(frozen=True, slots=True, order=True)
class Leak:
    """An archived note's path in a place that may only have hot notes."""

    where: Literal["manifest", "index", "graph", "query"]
    path: str
    detail: str = ""
    """Through which note it is reached, where it is reached through one."""

    def __str__(self) -> str:
        return f"{self.where}: {self.path}" + (f" ({self.detail})" if self.detail else "")


def find_leaks(palace: Palace) -> list[Leak]:
    """Return all cold paths in the manifest, hot index, graph, and hits of a test query."""
    snapshot, graph = palace.snapshot(), palace.graph()
    manifest = read_manifest(palace.paths).entries.values()
    probe = palace.ask(Query(since="1970-01-01", limit=len(snapshot.paths) or 1))
    shown = [Leak("manifest", entry.path) for entry in manifest]
    shown += [Leak("index", path) for path in snapshot.paths]
    shown += [Leak("graph", path) for path in graph.paths]
    shown += [
        Leak("graph", target, f"linked from {edge.source}")
        for edge in graph.edges
        for target in edge.targets
    ]
    shown += [Leak("query", hit.path) for hit in probe.hits]
    cold = {path for path in {leak.path for leak in shown} if is_cold_path(palace.paths, path)}
    return sorted({leak for leak in shown if leak.path in cold})


def fix_leaks(palace: Palace) -> None:
    """Rebuild the index and remove the manifest's lines of cold notes; other bytes are kept."""
    palace.index(verify=True, takes_up=False)

    def drop() -> Replace | None:
        path = palace.paths.manifest
        before = path.read_bytes() if path.exists() else b""
        after = drop_lines(before, lambda name: is_cold_path(palace.paths, name))
        return Replace(palace.paths.shown(path), before, after) if after != before else None

    write_file(palace, drop, command="cold", reason="take archived notes out of the manifest")
    palace.index(takes_up=False)


def archive_note(palace: Palace, note: str, *, apply: bool = False) -> Outcome:
    """Move a note into the cold zone; links to it count as archived: not broken, not followed."""
    path = NoteNames.from_snapshot(palace.snapshot()).find(note)

    def plan(_: Library) -> Plan:
        move = plan_archive(palace.paths.rooms, path, year=datetime.now(UTC).year)
        return Plan([move], f"archive {path}")

    return change_notes(palace, plan, command="cold", apply=apply)


def restore_note(palace: Palace, note: str, *, apply: bool = False) -> Outcome:
    """Move an archived note back to its former path."""
    snapshot = palace.snapshot(include_cold=True)
    move = plan_restore(palace.paths, NoteNames.from_snapshot(snapshot).find(note))
    plan = Plan([move], f"restore {move.old}")
    return change_notes(palace, lambda _: plan, command="cold", apply=apply)


def plan_archive(rooms: Rooms, path: str, *, year: int) -> Move:
    """Return the move into the archive's ``year`` folder, where room and folders are kept."""
    if rooms.before_archived(path):
        raise UsageError(f"{path} is archived already")
    return Move(path, rooms.path_of(f"{ARCHIVE}/{year}/{path.removeprefix(rooms.prefix)}"))


def plan_restore(paths: PalacePaths, path: str) -> Move:
    """Return the move to a note's path before archiving, by the log or else by its folders."""
    before = paths.rooms.before_archived(path)
    if before is None:
        raise UsageError(f"{path} is not in the archive")
    for entry in reversed(read_log(paths)):
        for move in entry.moves:
            if move.new == path and not paths.rooms.before_archived(move.old):
                return Move(path, move.old)
    if paths.is_classic and before.count("/") < 2:
        raise UsageError(f"the log does not say where {path} came from; move it back by hand")
    return Move(path, before)


class ColdZone(Feature):
    """The archive basement, which queries do not search by default."""

    check = Verb(find_leaks)
    fix = Verb(fix_leaks)
    archive = Verb(archive_note)
    restore = Verb(restore_note)

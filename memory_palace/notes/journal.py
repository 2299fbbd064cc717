"""Move notes: several files at once, all or nothing, and undoable.

Order: the journal, the moves, the log line, the end of the journal. The log line is the commit:
an interrupted change without one is rolled back by the next command that moves anything.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_palace.config import PALACE, PalacePaths
from memory_palace.errors import PalaceError, UsageError
from memory_palace.storage.atomic import append_line, remove_files, sync_folder, write_atomic

LOG = "moves.jsonl"
_JOURNAL = ".journal.json"


@dataclass(frozen=True, slots=True)
class Move:
    """One note and where it goes, relative to the root."""

    old: str
    new: str


def render_diff(moves: Sequence[Move]) -> str:
    """Return the moves as git shows renames."""
    return "".join(
        f"diff --git a/{move.old} b/{move.new}\nsimilarity index 100%\n"
        f"rename from {move.old}\nrename to {move.new}\n"
        for move in moves
    )


def apply_moves(
    paths: PalacePaths,
    moves: Sequence[Move],
    *,
    reason: str,
    now: str,
    undoes: str | None = None,
) -> None:
    """Move every note, or none. The caller holds the writer's lock.

    Nothing is ever overwritten: a target that exists is a ``UsageError`` before anything moves.
    """
    recover(paths)
    for move in moves:
        _check(paths.root, move)
        if [other.new for other in moves].count(move.new) > 1:
            raise UsageError(f"{move.new} is named twice; two notes cannot go to one place")
    identity = f"{now}-{len(read_log(paths)) + 1}"
    record = {
        "id": identity,
        "time": now,
        "reason": reason,
        "moves": [[move.old, move.new] for move in moves],
        **({"undoes": undoes} if undoes else {}),
    }
    write_atomic(paths.palace / _JOURNAL, json.dumps(record).encode())
    try:
        for move in moves:
            _move(paths.root, move)
        paths.logs.mkdir(parents=True, exist_ok=True)
        append_line(paths.logs / LOG, json.dumps(record, ensure_ascii=False).encode())
    except OSError as error:
        recover(paths)
        if identity in {entry["id"] for entry in read_log(paths)}:
            raise
        raise PalaceError(f"{reason}: {error}; every note is where it was") from error
    remove_files([paths.palace / _JOURNAL])


def recover(paths: PalacePaths) -> bool:
    """Roll back a change that was interrupted before its log line; say whether there was one."""
    journal = paths.palace / _JOURNAL
    try:
        record = _parse(json.loads(journal.read_bytes()))
    except FileNotFoundError:
        return False
    except ValueError:
        record = None
    if record is None:
        raise PalaceError(f"{journal} is damaged; look at it and delete it")
    moves = [Move(old, new) for old, new in record["moves"]]
    for path in [path for move in moves for path in (move.old, move.new)]:
        _check_inside(paths.root, path)  # the file may have come with somebody else's palace
    if record["id"] not in {entry["id"] for entry in read_log(paths)}:
        for move in reversed(moves):
            _move_back(paths.root, move)
    remove_files([journal])
    return True


def last_change(paths: PalacePaths) -> tuple[str, list[Move]]:
    """Return id and moves of the last change that has not been undone."""
    entries = read_log(paths)
    undone = {entry.get("undoes") for entry in entries}
    for entry in reversed(entries):
        if entry["id"] not in undone and "undoes" not in entry:
            return entry["id"], [Move(old, new) for old, new in entry["moves"]]
    raise UsageError("there is nothing to undo")


def read_log(paths: PalacePaths) -> list[Mapping[str, Any]]:
    """Return every whole line of the log, oldest first; a torn one is passed over."""
    try:
        lines = (paths.logs / LOG).read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    return list(_entries(lines))


def _entries(lines: Sequence[bytes]) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        try:
            entry = _parse(json.loads(line))
        except ValueError:
            continue
        if entry is not None:
            yield entry


def _parse(entry: object) -> Mapping[str, Any] | None:
    """Return a record that has an id and pairs of paths, and ``None`` for anything else."""
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        return None
    moves = entry.get("moves")
    if not isinstance(moves, list) or not all(_is_pair(move) for move in moves):
        return None
    return entry


def _is_pair(move: object) -> bool:
    return isinstance(move, list) and [type(path) for path in move] == [str, str]


def _check_inside(root: Path, path: str) -> None:
    home = (root / PALACE).resolve()
    if ".." in path.split("/") or not (root / path).resolve().is_relative_to(home):
        raise UsageError(f"{path} is outside the palace; it is left alone")


def _check(root: Path, move: Move) -> None:
    for path in (move.old, move.new):
        _check_inside(root, path)
    if not (root / move.old).is_file() or (root / move.old).is_symlink():
        raise UsageError(f"{move.old} is not a file of its own; it is left alone")
    if (root / move.new).exists():
        raise UsageError(f"{move.new} exists already; move or rename it first")


def _move(root: Path, move: Move) -> None:
    """Link the new name, then drop the old one: a rename would overwrite."""
    (root / move.new).parent.mkdir(parents=True, exist_ok=True)
    os.link(root / move.old, root / move.new)
    sync_folder((root / move.new).parent)
    os.unlink(root / move.old)  # noqa: PTH108 - tests stop at this call
    sync_folder((root / move.old).parent)


def _move_back(root: Path, move: Move) -> None:
    """Undo what was done of a move: nothing, the link, or all of it."""
    old, new = root / move.old, root / move.new
    if new.exists() and not old.exists():
        _move(root, Move(move.new, move.old))
    elif new.exists() and old.samefile(new):
        remove_files([new])

"""What may be done to notes, as values: checked and shown before anything is touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TypeAlias

from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError, UsageError
from memory_palace.storage.logs import to_line


@dataclass(frozen=True, slots=True)
class Move:
    """One note and where it goes, relative to the root."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Replace:
    """New bytes for a note that must still hold the bytes they were made from."""

    path: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Create:
    """A note that must not exist yet."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Remove:
    """A note that goes away; its bytes are kept for undo."""

    path: str
    before: bytes


Operation: TypeAlias = Move | Replace | Create | Remove
ChangeSet: TypeAlias = Sequence[Operation]
"""Done together or not at all: texts first, then moves.

Every path means the file as it is before the change, so a note may be replaced and moved."""


def render_diff(change: ChangeSet) -> str:
    """Return the change as git would show it: renames as headers, texts as unified diffs."""
    return "".join(_render(operation) for operation in change)


def check_change(paths: PalacePaths, change: ChangeSet) -> None:
    """Raise before anything is touched where a part of the change cannot be done."""
    targets = [target_of(operation) for operation in change]
    sources = [operation.old for operation in change if isinstance(operation, Move)]
    gone = [operation.path for operation in change if isinstance(operation, Remove)]
    for named in (targets, [*sources, *gone]):
        for path, count in Counter(named).items():
            if count > 1:
                raise UsageError(f"{path} is named twice in one change")
    for operation in change:
        _check(paths, operation)


def target_of(operation: Operation) -> str:
    """Return the path that the operation writes."""
    return operation.new if isinstance(operation, Move) else operation.path


def grow(paths: PalacePaths, log: str, records: Iterable[Mapping[str, object]]) -> Create | Replace:
    """Return the change that adds lines at the end of a log."""
    file, data = paths.logs / log, b"".join(map(to_line, records))
    if not file.exists():
        return Create(paths.shown(file), data)
    before = file.read_bytes()
    gap = b"" if before[-1:] in (b"", b"\n") else b"\n"
    return Replace(paths.shown(file), before, before + gap + data)


def has_grown(operation: Replace | Remove) -> bool:
    """Whether the change adds lines to a log, whose first lines are the bytes before."""
    return (
        isinstance(operation, Replace)
        and operation.path.endswith(".jsonl")
        and operation.before.endswith(b"\n")
        and operation.after.startswith(operation.before)
    )


def touched_paths(change: ChangeSet) -> list[str]:
    """Return the paths of the notes that exist before the change and are not as before after it."""
    return [
        operation.old if isinstance(operation, Move) else operation.path
        for operation in change
        if not isinstance(operation, Create)
    ]


def new_folders(root: Path, change: ChangeSet) -> tuple[str, ...]:
    """Return the folders that a change makes, each before those inside it."""
    made = {
        folder
        for operation in change
        for folder in (root / target_of(operation)).parents
        if not folder.exists() and not target_of(operation).startswith(".")
    }
    return tuple(sorted(folder.relative_to(root).as_posix() for folder in made))


def check_inside(paths: PalacePaths, path: str) -> None:
    """Raise ``UsageError`` for a path that is hidden, or outside the palace, links followed.

    Golden questions, settings, manifest and logs are ours to change, though they may be hidden.
    """
    file = paths.root / path
    if file in (paths.golden, paths.settings, paths.manifest) or (
        file.parent == paths.logs and file.suffix == ".jsonl"
    ):
        return
    parts = path.split("/")
    is_plain = path.startswith(paths.prefix) and path != paths.prefix and "\0" not in path
    if not is_plain or any(not part or part.startswith(".") for part in parts):
        raise UsageError(f"{path} is outside the palace and is left alone")
    if not (paths.root / path).resolve().is_relative_to(paths.notes.resolve()):
        raise UsageError(f"{path} is outside the palace and is left alone")


def _check(paths: PalacePaths, operation: Operation) -> None:
    root = paths.root
    match operation:
        case Move(old, new):
            check_inside(paths, old)
            check_inside(paths, new)
            _check_file(root, old)
            _check_absent(root, new)
        case Replace(path, before) | Remove(path, before):
            check_inside(paths, path)
            _check_file(root, path)
            if (root / path).read_bytes() != before:
                raise PalaceError(
                    f"{path} has been changed by another program; run the command again"
                )
        case Create(path, _):
            check_inside(paths, path)
            _check_absent(root, path)


def _check_file(root: Path, path: str) -> None:
    if not (root / path).is_file() or (root / path).is_symlink():
        raise UsageError(f"{path} is a link or not a file, and is left alone")


def _check_absent(root: Path, path: str) -> None:
    if (root / path).exists() or (root / path).is_symlink():
        raise UsageError(f"{path} already exists; move or rename it first")


def _render(operation: Operation) -> str:
    match operation:
        case Move(old, new):
            return (
                f"diff --git a/{old} b/{new}\nsimilarity index 100%\n"
                f"rename from {old}\nrename to {new}\n"
            )
        case Replace(path, before, after):
            return _render_text(f"a/{path}", f"b/{path}", before, after)
        case Create(path, data):
            return _render_text("/dev/null", f"b/{path}", b"", data)
        case Remove(path, before):
            return _render_text(f"a/{path}", "/dev/null", before, b"")


def _render_text(old: str, new: str, before: bytes, after: bytes) -> str:
    """Lines end at line feeds alone, as for git; a last line without one says so."""
    texts = [list(_lines(data.decode("utf-8", "backslashreplace"))) for data in (before, after)]
    return "".join(unified_diff(texts[0], texts[1], old, new))


def _lines(text: str) -> Iterator[str]:
    *whole, last = text.split("\n")
    yield from (f"{line}\n" for line in whole)
    if last:
        yield f"{last}\n\\ No newline at end of file\n"

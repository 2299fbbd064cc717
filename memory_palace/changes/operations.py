"""What may be done to notes, as values: checked and shown before, written down afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from typing import Any, ClassVar, TypeAlias, TypeGuard

from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError, UsageError
from memory_palace.storage import to_line


@dataclass(frozen=True, slots=True)
class Move:
    """One note and where it goes, relative to the root."""

    old: str
    new: str

    @property
    def path(self) -> str:
        """The file as it is before the change."""
        return self.old


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
    before: ClassVar[None] = None

    @property
    def after(self) -> bytes:
        """The bytes of the note."""
        return self.data


@dataclass(frozen=True, slots=True)
class Remove:
    """A note that goes away; its bytes are kept for undo."""

    path: str
    before: bytes
    after: ClassVar[None] = None


Operation: TypeAlias = Move | Replace | Create | Remove
ChangeSet: TypeAlias = Sequence[Operation]
"""Done together or not at all: texts first, then moves.

Every path means the file as it is before the change, so a note may be replaced and moved."""


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


def render_diff(change: ChangeSet) -> str:
    """Return the change as git would show it: renames as headers, texts as unified diffs."""
    return "".join(_render(operation) for operation in change)


def _render(operation: Operation) -> str:
    if isinstance(operation, Move):
        return (
            f"diff --git a/{operation.old} b/{operation.new}\nsimilarity index 100%\n"
            f"rename from {operation.old}\nrename to {operation.new}\n"
        )
    before, after = operation.before, operation.after
    old = "/dev/null" if before is None else f"a/{operation.path}"
    new = "/dev/null" if after is None else f"b/{operation.path}"
    return "".join(unified_diff(_lines(before or b""), _lines(after or b""), old, new))


def _lines(data: bytes) -> list[str]:
    """Return the lines of a text as git shows them; a last one without a line feed says so."""
    *whole, last = data.decode("utf-8", "backslashreplace").split("\n")
    ending = [f"{last}\n\\ No newline at end of file\n"] if last else []
    return [*(f"{line}\n" for line in whole), *ending]


def check_change(paths: PalacePaths, change: ChangeSet) -> None:
    """Raise before anything is touched where a part of the change cannot be done."""
    gone = [operation.path for operation in change if isinstance(operation, Move | Remove)]
    for named in (map(target_of, change), gone):
        for path, count in Counter(named).items():
            if count > 1:
                raise UsageError(f"{path} is named twice in one change")
    for operation in change:
        _check(paths, operation)


def _check(paths: PalacePaths, operation: Operation) -> None:
    source, target = operation.path, target_of(operation)
    check_inside(paths, source)
    check_inside(paths, target)
    file, new = paths.root / source, paths.root / target
    if not isinstance(operation, Create) and (not file.is_file() or file.is_symlink()):
        raise UsageError(f"{source} is a link or not a file, and is left alone")
    if isinstance(operation, Replace | Remove) and file.read_bytes() != operation.before:
        raise PalaceError(f"{source} has been changed by another program; run the command again")
    if isinstance(operation, Move | Create) and (new.exists() or new.is_symlink()):
        raise UsageError(f"{target} already exists; move or rename it first")


def check_inside(paths: PalacePaths, path: str) -> None:
    """Raise ``UsageError`` for a path that is hidden, or outside the palace, links followed.

    Golden questions, settings, manifest and logs are ours to change, though they may be hidden.
    """
    file = paths.root / path
    if file in (paths.golden, paths.settings, paths.manifest) or (
        file.parent == paths.logs and file.suffix == ".jsonl"
    ):
        return
    is_plain = path.startswith(paths.prefix) and path != paths.prefix and "\0" not in path
    if (
        not is_plain
        or any(not part or part.startswith(".") for part in path.split("/"))
        or not file.resolve().is_relative_to(paths.notes.resolve())
    ):
        raise UsageError(f"{path} is outside the palace and is left alone")


@dataclass(frozen=True, slots=True)
class Write:
    """What happened to one text; bytes are named by their SHA-256, hexadecimal."""

    path: str
    before: str | None
    """``None`` where there was no file."""
    after: str | None
    """``None`` where there is no file any more."""


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """One change, without the bytes: the record of the journal and, once done, the line of the log.

    Its fields are the members of the record, but for ``identity``, which is ``id`` there.
    """

    identity: str
    time: str = ""
    command: str = ""
    """The noun of the verb that made it: cold, task, conflict, metabolism, map…"""
    reason: str = ""
    evidence: tuple[str, ...] = ()
    """Why, one line for each thing counted."""
    writes: tuple[Write, ...] = ()
    moves: tuple[Move, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of every note the change leaves behind, by its path after the change."""
    undoes: str | None = None
    agent: str = ""
    """Who made it, where an agent said so."""
    folders: tuple[str, ...] = ()
    """Folders that it made, outer ones first."""
    continues: str | None = None
    """Id of the change of which this is the next part."""

    def to_record(self) -> dict[str, object]:
        """Return the entry as it is written; what it seldom has is left out where it has none."""
        values: dict[str, object] = {
            "id": self.identity,
            "time": self.time,
            "command": self.command,
            "reason": self.reason,
            "evidence": list(self.evidence),
            "writes": [[write.path, write.before, write.after] for write in self.writes],
            "moves": [[move.old, move.new] for move in self.moves],
            "digests": dict(self.digests),
        }
        seldom = ("undoes", "agent", "folders", "continues")
        return values | {name: value for name in seldom if (value := getattr(self, name))}

    @classmethod
    def of_record(cls, values: Mapping[str, Any]) -> LoggedChange | None:
        """Read a record; ``None`` where it makes no sense. Old ones have moves alone."""
        moves, writes = values.get("moves"), values.get("writes", [])
        if not isinstance(values.get("id"), str) or not (
            _are_rows(moves, 2, nullable=False) and _are_rows(writes, 3, nullable=True)
        ):
            return None
        digests = values.get("digests")
        return cls(
            identity=values["id"],
            time=str(values.get("time", "")),
            command=str(values.get("command", "cold")),
            reason=str(values.get("reason", "")),
            evidence=_texts(values.get("evidence")),
            writes=tuple(Write(*row) for row in writes),
            moves=tuple(Move(*row) for row in moves),
            digests={str(path): str(each) for path, each in digests.items()}
            if isinstance(digests, dict)
            else {},
            undoes=undoes if isinstance(undoes := values.get("undoes"), str) else None,
            agent=str(values.get("agent", "")),
            folders=_texts(values.get("folders")),
            continues=known if isinstance(known := values.get("continues"), str) else None,
        )

    def joined(self, later: LoggedChange) -> LoggedChange:
        """Return one change of two parts; neither moves a note."""
        writes = {write.path: write for write in self.writes}
        for write in later.writes:
            before = writes[write.path].before if write.path in writes else write.before
            writes[write.path] = Write(write.path, before, write.after)
        return replace(
            later,
            evidence=self.evidence + later.evidence,
            writes=tuple(writes.values()),
            digests={**self.digests, **later.digests},
            folders=self.folders + later.folders,
        )


def _are_rows(rows: Any, width: int, *, nullable: bool) -> TypeGuard[list[list[Any]]]:
    allowed = (str, type(None)) if nullable else (str,)
    return isinstance(rows, list) and all(
        isinstance(row, list)
        and len(row) == width
        and isinstance(row[0], str)
        and all(isinstance(value, allowed) for value in row)
        for row in rows
    )


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(str, values)) if isinstance(values, list) else ()

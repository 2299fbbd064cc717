"""A change as it is written down: the same record is the journal and, once done, a log line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, TypeGuard

from memory_palace.changes.operations import ChangeSet, Create, Move, Remove, Replace


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
    """One change, without the bytes."""

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

    @property
    def new_paths(self) -> dict[str, str | None]:
        """The paths that it made, each with the one that its note had before, if any."""
        made = {write.path: None for write in self.writes if write.before is None}
        return {**made, **{move.new: move.old for move in self.moves}}

    def to_record(self) -> dict[str, object]:
        """Return the entry as it is written."""
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
        more = {name: getattr(self, name) for name in _SELDOM}
        return values | {name: value for name, value in more.items() if value}


_SELDOM = ("undoes", "agent", "folders", "continues")


def describe_writes(change: ChangeSet) -> tuple[Write, ...]:
    """Return the texts of a change by their digests."""
    writes: list[Write] = []
    for operation in change:
        match operation:
            case Replace(path, before, after):
                writes.append(Write(path, digest(before), digest(after)))
            case Create(path, data):
                writes.append(Write(path, None, digest(data)))
            case Remove(path, before):
                writes.append(Write(path, digest(before), None))
            case Move():
                pass
    return tuple(writes)


def digests_after(
    writes: Sequence[Write], moves: Sequence[Move], moved: Mapping[str, str]
) -> dict[str, str]:
    """Return the digest of each note that a change leaves; ``moved`` has those before it."""
    left = dict(moved)
    left |= {write.path: write.after for write in writes if write.after is not None}
    for move in moves:
        left[move.new] = left.pop(move.old)
    return left


def join_changes(first: LoggedChange, later: LoggedChange) -> LoggedChange:
    """Return one change of two parts; neither moves a note."""
    writes = {write.path: write for write in first.writes}
    for write in later.writes:
        before = writes[write.path].before if write.path in writes else write.before
        writes[write.path] = Write(write.path, before, write.after)
    return replace(
        later,
        evidence=first.evidence + later.evidence,
        writes=tuple(writes.values()),
        digests={**first.digests, **later.digests},
        folders=first.folders + later.folders,
    )


def digest(data: bytes) -> str:
    """Return the SHA-256 that names bytes, hexadecimal."""
    return sha256(data).hexdigest()


def first_lines(data: bytes, wanted: str) -> bytes | None:
    """Return as many of the first lines as have this digest, ``None`` where none have."""
    seen, size = sha256(), 0
    for line in data.splitlines(keepends=True):
        seen.update(line)
        size += len(line)
        if seen.hexdigest() == wanted:
            return data[:size]
    return None


def parse_logged_change(values: Mapping[str, Any]) -> LoggedChange | None:
    """Read a record; ``None`` where it makes no sense. Old ones have moves alone."""
    if not isinstance(values.get("id"), str):
        return None
    moves, writes = values.get("moves"), values.get("writes", [])
    if not _are_rows(moves, 2, nullable=False) or not _are_rows(writes, 3, nullable=True):
        return None
    return LoggedChange(
        identity=values["id"],
        time=str(values.get("time", "")),
        command=str(values.get("command", "cold")),
        reason=str(values.get("reason", "")),
        evidence=tuple(_texts(values.get("evidence"))),
        writes=tuple(Write(*row) for row in writes),
        moves=tuple(Move(*row) for row in moves),
        digests=_strings(values.get("digests")),
        undoes=undoes if isinstance(undoes := values.get("undoes"), str) else None,
        agent=str(values.get("agent", "")),
        folders=tuple(_texts(values.get("folders"))),
        continues=known if isinstance(known := values.get("continues"), str) else None,
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


def _texts(values: Any) -> list[str]:
    return [str(value) for value in values] if isinstance(values, list) else []


def _strings(values: Any) -> dict[str, str]:
    if not isinstance(values, dict):
        return {}
    return {str(key): str(value) for key, value in values.items()}

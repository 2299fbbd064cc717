"""A change as it is written down: whole, to take it back, and as one line, to remember it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_palace.errors import PalaceError
from memory_palace.notes.editing import Create, Move, Operation, Remove, Replace

_NAMES = {Move: "move", Replace: "replace", Create: "create", Remove: "remove"}


@dataclass(frozen=True, slots=True)
class Record:
    """One change, with every byte that it replaces."""

    identity: str
    time: str
    reason: str
    operations: tuple[Operation, ...]
    """Texts first, then moves."""
    digests: Mapping[str, str]
    """SHA-256 of every note the change leaves behind, by its path after the change."""
    undoes: str | None = None

    def to_bytes(self) -> bytes:
        """Return the record as JSON; bytes of notes are in base64, they need not be UTF-8."""
        operations = [
            [_NAMES[type(operation)], *(_to_json(value) for value in _values(operation))]
            for operation in self.operations
        ]
        record = {**self._head(), "operations": operations, "digests": dict(self.digests)}
        return json.dumps(record).encode()

    def to_log_line(self) -> bytes:
        """Return what happened, without the bytes."""
        writes = [
            [_NAMES[type(operation)], operation.path]
            for operation in self.operations
            if not isinstance(operation, Move)
        ]
        moves = [[op.old, op.new] for op in self.operations if isinstance(op, Move)]
        line = {**self._head(), "moves": moves, **({"writes": writes} if writes else {})}
        return json.dumps(line, ensure_ascii=False).encode()

    def _head(self) -> dict[str, str]:
        head = {"id": self.identity, "time": self.time, "reason": self.reason}
        return {**head, **({"undoes": self.undoes} if self.undoes else {})}


def kept_name(identity: str) -> str:
    """Return the name of the file in which the record of a finished change is kept."""
    return f"{sha256(identity.encode()).hexdigest()[:16]}.json"


def digests_after(operations: Sequence[Operation], moved: Mapping[str, bytes]) -> dict[str, str]:
    """Return the digest of each note that the operations leave behind."""
    left = dict(moved)
    for operation in operations:
        match operation:
            case Replace(path, _, data) | Create(path, data):
                left[path] = data
            case Move(old, new):
                left[new] = left.pop(old)
            case Remove():
                pass
    return {path: sha256(data).hexdigest() for path, data in left.items()}


def invert(operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """Return the operations that lead back, written for the paths as they are afterwards."""
    places = {op.old: op.new for op in operations if isinstance(op, Move)}
    back: list[Operation] = []
    for operation in operations:
        match operation:
            case Replace(path, before, after):
                back.append(Replace(places.get(path, path), after, before))
            case Create(path, data):
                back.append(Remove(path, data))
            case Remove(path, before):
                back.append(Create(path, before))
            case Move(old, new):
                back.append(Move(new, old))
    return tuple(back)


def read_record(path: Path) -> Record | None:
    """Read a record; ``None`` where there is none, ``PalaceError`` where it makes no sense."""
    try:
        values = json.loads(path.read_bytes())
        operations = tuple(_parse(*operation) for operation in values["operations"])
        head = [str(values[key]) for key in ("id", "time", "reason")]
        digests = {str(key): str(value) for key, value in values["digests"].items()}
        return Record(head[0], head[1], head[2], operations, digests, values.get("undoes"))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PalaceError(f"{path} is damaged; look at it and delete it") from error


def read_entries(path: Path) -> list[Mapping[str, Any]]:
    """Return every whole line of the log, oldest first; a torn one is passed over."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    entries: list[Mapping[str, Any]] = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and "id" in entry and _are_pairs(entry.get("moves")):
            entries.append(entry)
    return entries


def _are_pairs(moves: object) -> bool:
    return isinstance(moves, list) and all(
        isinstance(move, list) and len(move) == 2 and all(isinstance(path, str) for path in move)
        for move in moves
    )


def _values(operation: Operation) -> tuple[str | bytes, ...]:
    return tuple(getattr(operation, name) for name in operation.__match_args__)


def _to_json(value: str | bytes) -> str:
    return value if isinstance(value, str) else base64.b64encode(value).decode()


def _parse(kind: str, path: str, *rest: str) -> Operation:
    if not isinstance(path, str):
        raise TypeError(f"{path!r} is no path")
    if kind == "move":
        (new,) = rest
        if not isinstance(new, str):
            raise TypeError(f"{new!r} is no path")
        return Move(path, new)
    data = [base64.b64decode(text, validate=True) for text in rest]
    return _build(kind, path, data)


def _build(kind: str, path: str, data: Sequence[bytes]) -> Operation:
    if kind == "replace":
        before, after = data
        return Replace(path, before, after)
    (only,) = data
    if kind not in ("create", "remove"):
        raise ValueError(f"{kind!r} is no operation")
    return Create(path, only) if kind == "create" else Remove(path, only)

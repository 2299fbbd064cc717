"""Persistent searches: a JSON file as commit record, and a log whose length it records."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.seek.belief import (
    PATIENCE,
    BeliefState,
    SchemaError,
    check_belief,
    check_schema,
)
from memory_palace.features.seek.nodes import NodePlace, Null, Pose2D
from memory_palace.notes.discovery import original_name
from memory_palace.shown import Shown, to_record
from memory_palace.storage import (
    append_record,
    make_folder,
    remove_files,
    write_atomic,
    writer_lock,
)

FORMAT = 1


@dataclass(slots=True)
class SearchSession(Shown):
    """The persistent state of a search."""

    id: str
    kind: Literal["notes", "loci"]
    created: str
    belief: BeliefState
    embedder: str
    """Fingerprint of the embedder that its threshold was measured with; empty without vectors."""
    k: int = 5
    step: int = 0
    nodes: dict[int, str] = field(default_factory=dict)
    """Path of each node that was named, by id."""
    places: dict[int, NodePlace] = field(default_factory=dict)
    """Where the candidates of the last step are, and the node that it leads to, by id."""
    closed: dict[int, str] = field(default_factory=dict)
    """Why a node was ruled out, by id."""
    misses: dict[int, int] = field(default_factory=dict)
    """Looks at a locus that missed the target since it was last seen there, by id."""
    position: tuple[float, float, float] | None = None
    """X, Y and yaw."""
    log_bytes: int = 0
    """Length of the log that the session vouches for."""
    threshold_null: Null | None = None
    """Cosines of unrelated goals and texts, by which the threshold is set."""

    @property
    def pose(self) -> Pose2D | None:
        return Pose2D(*self.position) if self.position else None

    def lines(self) -> Iterable[str]:
        belief = self.belief
        yield f"{self.id}  {belief['target_status']}  {belief['goal_text']}"
        for candidate in belief["candidate_nodes"]:
            node = candidate["node_id"]
            where = self.places[node].where if node in self.places else self.nodes[node]
            yield f"  {candidate['score']:.3f}  {node:<4} {where}"
        for node, why in sorted(self.closed.items()):
            yield f"  closed {node:<4} {self.nodes[node]}  {why}"
        for node, count in sorted(self.misses.items()):
            if count and node not in self.closed:
                yield f"  open {node:<6} {self.nodes[node]}  not seen, {count} of {PATIENCE} looks"
        if belief["target_status"] == "done":
            place = belief["current_node_id"]
            yield f"  found at {place} {self.nodes[place] if place is not None else ''}"


class SearchSessions:
    """The sessions of one palace: ``ID.json``, ``ID.jsonl`` and ``ID.lock`` in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()

    def names(self) -> list[str]:
        """Return the ids of all sessions, the last changed one last."""
        if not self._folder.exists():
            return []
        # Path.glob raises no error for an unreadable folder.
        files = [path for path in self._folder.iterdir() if path.match("[!.]*.json")]
        files = [path for path in files if original_name(path.name) is None]
        return [path.stem for path in sorted(files, key=lambda p: (p.stat().st_mtime_ns, p.name))]

    def find(self, name: str | None) -> str:
        """Return the id that equals or starts with ``name``; for ``None`` the last changed one."""
        names = self.names()
        if not names:
            raise UsageError("there is no search; start one with `palace seek start GOAL`")
        if name is None:
            return names[-1]
        found = [known for known in names if known == name]
        found = found or [known for known in names if known.startswith(name)]
        if len(found) != 1:
            what = f"{len(found)} searches start" if found else "no search starts"
            raise UsageError(f"{what} with {name!r}; the searches are {', '.join(names)}")
        return found[0]

    def free_name(self, name: str) -> str:
        number, found = 1, name
        while (self._folder / f"{found}.json").exists():
            number += 1
            found = f"{name}-{number}"
        return found

    @contextmanager
    def writing(self, name: str, *, wait_seconds: float = 0.0) -> Iterator[None]:
        """Hold the lock of one session; raise ``IndexLockedError`` naming its holder."""
        make_folder(self._folder, mode=0o700)
        lock = self._folder / f"{name}.lock"
        with writer_lock(lock, wait_seconds=wait_seconds, what=f"the search {name}"):
            remove_files(self._folder.glob(f".{name}.json.*.tmp"))
            yield

    def load(self, name: str) -> SearchSession:
        """Read a session; raise ``PalaceError`` naming the file if it is damaged."""
        path = self._folder / f"{name}.json"
        try:
            value = json.loads(path.read_text("utf-8"))
            check_schema(value, "session", where=path.name)
            check_belief(value["belief"], where=f"{path.name}: belief")
            session = _from_json(value)
            _check_names(session, name)
            return session
        except (ValueError, SchemaError) as error:
            raise PalaceError(
                f"{path} is damaged: {error}; remove it and start again with `palace seek start`"
            ) from error

    def save(self, session: SearchSession, record: Mapping[str, object]) -> None:
        """Append a log record, then commit the session; a crash in between keeps the old state.

        The caller must hold the session's lock.
        """
        check_belief(session.belief, where=session.id)
        log, size = self._find_log(session)
        if size > session.log_bytes:  # a step that was logged and never committed
            os.truncate(log, session.log_bytes)
        append_record(log, record)
        session.log_bytes = log.stat().st_size
        for name in ("nodes", "places", "closed", "misses"):
            setattr(session, name, dict(sorted(getattr(session, name).items())))
        kept = {**to_record(session), "schema": FORMAT}
        text = json.dumps(kept, ensure_ascii=False, indent=1, allow_nan=False)
        write_atomic(self._folder / f"{session.id}.json", text.encode() + b"\n")

    def log(self, session: SearchSession) -> list[dict[str, object]]:
        """Return the committed log records of a session.

        Raise ``PalaceError`` for a damaged line: every byte up to ``log_bytes`` is committed.
        """
        path, size = self._find_log(session)
        data = path.read_bytes() if size else b""
        lines = data[: session.log_bytes].split(b"\n")[:-1]
        try:
            return [json.loads(line) for line in lines]
        except ValueError as error:
            raise PalaceError(f"{path} is damaged: {error}; restore it from a backup") from error

    def _find_log(self, session: SearchSession) -> tuple[Path, int]:
        """Return the log of a session and its size; raise ``PalaceError`` if part of it is lost."""
        log = self._folder / f"{session.id}.jsonl"
        size = log.stat().st_size if log.exists() else 0
        if size < session.log_bytes:
            raise PalaceError(
                f"{log} is shorter than when it was written; restore it from a backup"
            )
        return log, size


def _from_json(value: Mapping[str, Any]) -> SearchSession:
    """Return the session in a JSON value that the schema has checked."""
    null, position = value["threshold_null"], value["position"]
    kept = {name: each for name, each in value.items() if name != "schema"}
    for name in ("nodes", "places", "closed", "misses"):
        kept[name] = {int(node): each for node, each in value[name].items()}
    kept["places"] = {n: NodePlace.from_json(place) for n, place in kept["places"].items()}
    kept["position"] = tuple(position) if position else None
    kept["threshold_null"] = Null(*null) if null else None
    return SearchSession(**kept)


def _check_names(session: SearchSession, name: str) -> None:
    """Raise ``SchemaError`` if the file belongs to another session, or a node has no note."""
    if session.id != name:
        raise SchemaError(f"it belongs to the search {session.id}")
    used = {*session.closed, *(found["node_id"] for found in session.belief["candidate_nodes"])}
    unknown = sorted(used - session.nodes.keys())
    if unknown:
        raise SchemaError(f"node {unknown[0]} has no note")

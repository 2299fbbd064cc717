"""The rounds that were applied, and the notes that rest after one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memory_palace.changes.journal import find_undone, read_log
from memory_palace.engine import Engine
from memory_palace.shown import to_record
from memory_palace.storage.logs import append_record, read_records

COMMAND = "redqueen"
LOG = "redqueen.jsonl"
REST = timedelta(hours=24)
"""A memory is never evolved twice within this time (source document 000)."""


@dataclass(frozen=True, slots=True)
class PastRound:
    """A round whose proposals were applied."""

    identity: str
    """Under which its change is logged, and can be undone."""
    time: str
    strategy: str
    seed: int
    questions: int
    score: float
    """Before its changes, 0 to 1."""
    evolved: tuple[str, ...]
    is_undone: bool = False


def find_resting(engine: Engine, *, now: datetime) -> set[str]:
    """Return the notes that the Red Queen has changed within the last day, undone ones left out."""
    log = read_log(engine.paths)
    undone = find_undone(log)
    return {
        write.path
        for entry in log
        if entry.command == COMMAND and not entry.undoes and entry.identity not in undone
        if now - datetime.fromisoformat(entry.time) < REST
        for write in entry.writes
    }


def read_history(engine: Engine) -> list[PastRound]:
    """Return the rounds that were applied, oldest first."""
    undone = find_undone(read_log(engine.paths))
    rounds = (_parse(record, undone) for record in read_records(engine.paths.logs / LOG))
    return [past for past in rounds if past is not None]


def log_round(engine: Engine, past: PastRound) -> None:
    """Log a round that was applied."""
    record = to_record(past)
    del record["undone"]  # it may be, later
    append_record(engine.paths.logs / LOG, record)


def _parse(record: Mapping[str, Any], undone: set[str]) -> PastRound | None:
    try:
        return PastRound(
            identity=str(record["id"]),
            time=str(record["time"]),
            strategy=str(record["strategy"]),
            seed=int(record["seed"]),
            questions=int(record["questions"]),
            score=float(record["score"]),
            evolved=tuple(map(str, record["evolved"])),
            is_undone=str(record["id"]) in undone,
        )
    except (ValueError, KeyError, TypeError):
        return None

"""The Red Queen over a palace: run a round, apply what it proposes, and its history."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from memory_palace.changes.changing import Outcome, Plan, change_notes, read_notes
from memory_palace.changes.journal import read_log
from memory_palace.changes.operations import Operation, Replace
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.graph.resolve import Resolver
from memory_palace.mnemonics.memories import find_embedder
from memory_palace.mnemonics.reviews import load_reviews
from memory_palace.notes.document import Library
from memory_palace.redqueen.evolver import patch_note
from memory_palace.redqueen.examined import ExaminedMemory, read_memories
from memory_palace.redqueen.round_values import Evolution, Strategy
from memory_palace.redqueen.session import (
    EVOLVED_AT_MOST,
    Roles,
    RoundFindings,
    offline_roles,
    run_session,
)
from memory_palace.storage.logs import append_record, read_records

COMMAND = "redqueen"
LOG = "redqueen.jsonl"
REST = timedelta(hours=24)
"""A memory is never evolved twice within this time (source document 000)."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round, and the change it made or would make."""

    session: RoundFindings
    outcome: Outcome
    uses_vectors: bool


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
    """Mean over its questions, before its changes."""
    evolved: tuple[str, ...]
    gaps: tuple[tuple[str, str], ...]
    """Pairs of memory and gap."""
    is_undone: bool = False


def load_memories(engine: Engine, library: Library, *, now: datetime) -> dict[str, ExaminedMemory]:
    """Return every memory that may be examined, by path."""
    documents = library.documents
    paths = list(documents)
    resolver = Resolver(paths, [documents[path].texts("aliases") for path in paths])
    links: dict[str, list[str]] = {}
    for path, document in documents.items():
        found = (resolver.resolve(link.target, path) for link in document.links if link.target)
        links[path] = [paths[r.places[0]] for r in found if r.state == "resolved"]
    return read_memories(documents, links, load_reviews(engine.paths), today=now.date())


def run(
    engine: Engine,
    *,
    strategy: Strategy = Strategy.WEAK_SPOTS,
    question_count: int = 10,
    seed: int = 0,
    evolve_at_most: int | None = EVOLVED_AT_MOST,
    roles: Roles | None = None,
    apply: bool = False,
    allow_uncommitted: bool = False,
    now: datetime | None = None,
) -> Round:
    """Play one round, and write what it proposes where ``apply`` says so.

    The round reads the notes as they are; the change is made from their text at the moment of
    writing, under the writer's lock, so an edit made meanwhile is kept.
    """
    moment = now or datetime.now(UTC)
    embedder = find_embedder(engine) if roles is None else None
    memories = load_memories(engine, read_notes(engine), now=moment)
    if not memories:
        raise UsageError("no note has prose to examine; write one with `palace new`")
    session = asyncio.run(
        run_session(
            memories,
            roles or offline_roles(embedder),
            strategy=strategy,
            question_count=question_count,
            seed=seed,
            evolve_at_most=evolve_at_most,
            resting=find_resting(engine, now=moment),
        )
    )
    outcome = change_notes(
        engine,
        partial(_plan, engine, session, moment),
        command=COMMAND,
        apply=apply,
        allow_uncommitted=allow_uncommitted,
    )
    if outcome.identity is not None:
        _record(engine, session, outcome, seed=seed, now=moment)
    return Round(session, outcome, embedder is not None)


def find_resting(engine: Engine, *, now: datetime) -> set[str]:
    """Return the notes that the Red Queen has changed within the last day, undone ones left out."""
    log = read_log(engine.paths)
    undone = {entry.undoes for entry in log}
    return {
        write.path
        for entry in log
        if entry.command == COMMAND and not entry.undoes and entry.identity not in undone
        if now - datetime.fromisoformat(entry.time) < REST
        for write in entry.writes
    }


def read_history(engine: Engine) -> list[PastRound]:
    """Return the rounds that were applied, oldest first."""
    undone = {entry.undoes for entry in read_log(engine.paths) if entry.undoes}
    rounds = (_parse(record, undone) for record in read_records(engine.paths.logs / LOG))
    return [past for past in rounds if past is not None]


def find_round(engine: Engine, identity: str | None = None) -> PastRound:
    """Return the last round that was applied, or the one of an id."""
    history = read_history(engine)
    for past in reversed(history):
        if identity in (None, past.identity):
            return past
    what = "no round has been applied yet" if identity is None else f"no round is called {identity}"
    raise UsageError(f"{what}; see `palace redqueen history`")


def _plan(engine: Engine, session: RoundFindings, now: datetime, library: Library) -> Plan:
    resting = find_resting(engine, now=now)
    chosen = [e for e in session.evolutions if e.memory_id not in resting]
    evidence = tuple(f"{e.memory_id}: {gap}" for e in chosen for gap in e.reasons)
    reason = f"red queen: {len(chosen)} memories after {len(session.questions)} questions"
    return Plan(list(_patches(library, chosen)), reason, evidence)


def _patches(library: Library, evolutions: Sequence[Evolution]) -> Iterator[Operation]:
    for evolution in evolutions:
        document = library.documents.get(evolution.memory_id)
        if document is None:  # gone since the round began
            continue
        after = patch_note(document, evolution)
        if after != document.data:
            yield Replace(document.path, document.data, after)


def _record(
    engine: Engine, session: RoundFindings, outcome: Outcome, *, seed: int, now: datetime
) -> None:
    record = {
        "id": outcome.identity,
        "time": now.isoformat(timespec="milliseconds"),
        "strategy": session.strategy.value,
        "seed": seed,
        "questions": len(session.questions),
        "score": round(session.score, 6),
        "evolved": sorted(set(outcome.paths)),
        "gaps": [
            [evaluation.memory_id, gap]
            for evaluation in session.evaluations
            for gap in evaluation.gaps
        ],
    }
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
            gaps=tuple((str(memory), str(gap)) for memory, gap in record["gaps"]),
            is_undone=str(record["id"]) in undone,
        )
    except (ValueError, KeyError, TypeError):
        return None

"""The Red Queen over a palace: run a round, and apply what it proposes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from memory_palace.changes.changing import Outcome, Plan, change_notes, read_notes
from memory_palace.changes.journal import edits_not_in_git
from memory_palace.changes.operations import Operation, Replace
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.features.memories.memories import find_embedder, plan_reviews
from memory_palace.features.memories.reviews import load_reviews
from memory_palace.features.redqueen.askings import (
    Meanings,
    ask_search,
    choose_askings,
    collect_askings,
)
from memory_palace.features.redqueen.examined import ExaminedMemory, read_memories
from memory_palace.features.redqueen.findings import RoundReport, make_report
from memory_palace.features.redqueen.history import COMMAND, LOG, find_resting
from memory_palace.features.redqueen.proposals import name_notes, patch_note, propose, shared_names
from memory_palace.features.redqueen.round_values import RoundProposal, Strategy
from memory_palace.features.redqueen.session import MOST_CHANGED, Roles, RoundFindings, run_session
from memory_palace.graph.resolve import fold_name
from memory_palace.notes.document import Library
from memory_palace.notes.golden import read_golden
from memory_palace.storage.logs import append_record

QUESTIONS = 100
MODEL_QUESTIONS = 10
"""With a model each costs tokens, where the search answers a hundred in seconds."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round, and the change it made or would make."""

    strategy: Strategy
    askings: int
    """Questions that there are; the report has those that were asked."""
    report: RoundReport
    """What the search was asked and what reviews say; empty where a model played the round."""
    session: RoundFindings | None
    """What a model asked and answered, where one played the round."""
    proposals: tuple[RoundProposal, ...]
    """Most useful first; ``outcome`` holds those on the first notes."""
    shared: Mapping[str, tuple[str, ...]]
    """Names that several notes have, with their paths: only a person can say which keeps it."""
    outcome: Outcome
    resting: tuple[str, ...]
    """Notes that something is proposed for, and that were changed within the last day."""
    uncommitted: tuple[str, ...]
    """Notes that something is proposed for, and that have edits git does not know."""
    uses_vectors: bool

    @property
    def score(self) -> float:
        """Share of the questions whose note is found, or the mean of the model's marks; 0 to 1."""
        if self.session is not None:
            return self.session.score
        asked = self.report.asked
        return sum(found.rank > 0 for found in asked) / len(asked) if asked else 0.0


def load_memories(engine: Engine, library: Library, *, now: datetime) -> dict[str, ExaminedMemory]:
    """Return every memory that may be examined, by path."""
    documents = library.documents
    meanings = Meanings(documents)
    links: dict[str, list[str]] = {}
    for path, document in documents.items():
        found = (meanings.resolve(link.target, path) for link in document.links if link.target)
        links[path] = list(filter(None, found))
    return read_memories(documents, links, load_reviews(engine.paths), today=now.date())


def run(
    engine: Engine,
    *,
    strategy: Strategy = Strategy.WEAK_SPOTS,
    question_count: int = QUESTIONS,
    seed: int = 0,
    limit: int | None = MOST_CHANGED,
    roles: Roles | None = None,
    apply: bool = False,
    now: datetime | None = None,
) -> Round:
    """Play one round, and write what it proposes where ``apply`` says so, on ``limit`` notes.

    Without ``roles`` the search is asked what people ask. The round reads the notes as they are;
    the change is made from their text at the moment of writing, under the writer's lock, so an
    edit made meanwhile is kept.
    """
    moment = now or datetime.now(UTC)
    library = read_notes(engine)
    memories = load_memories(engine, library, now=moment)
    if not memories:
        raise UsageError("no note has prose to examine; write one with `palace new`")
    golden = {known.question: known.notes for known in read_golden(engine.paths)}
    askings = collect_askings(library, golden)
    resting = find_resting(engine, now=moment)
    session, report = None, RoundReport()
    if roles is None:
        asked = choose_askings(askings, memories, strategy, question_count, seed=seed)
        standings = plan_reviews(engine, today=moment.date())
        results = ask_search(engine, asked)
        report = make_report(results, library.documents, standings, today=moment.date())
        made = propose(library)
    else:
        play = partial(run_session, strategy=strategy, question_count=question_count, seed=seed)
        session = asyncio.run(play(memories, roles, evolve_at_most=limit, resting=resting))
        made = list(_drop_taken_names(session.proposals, library))
    paths = sorted(set(name_notes(made)))
    may_change = engine.config.changes.allow_uncommitted
    edited = () if may_change else tuple(edits_not_in_git(engine.paths, paths))
    awake = [p for p in made if p.path in memories and p.path not in {*resting, *edited}]
    first = set(list(name_notes(awake))[:limit])
    chosen = [proposal for proposal in awake if proposal.path in first]
    outcome = change_notes(
        engine,
        partial(_plan, engine, chosen, moment),
        command=COMMAND,
        apply=apply,
    )
    tired = tuple(sorted(resting & {*paths, *(session.resting if session else ())}))
    shared = shared_names({path: d for path, d in library.documents.items() if not d.is_cold})
    found = (len(askings), report, session, tuple(awake), shared, outcome, tired, edited)
    done = Round(strategy, *found, uses_vectors=find_embedder(engine) is not None)
    _record(engine, done, seed=seed, now=moment)
    return done


def _drop_taken_names(
    proposals: Sequence[RoundProposal], library: Library
) -> Iterator[RoundProposal]:
    """Yield proposals but names that a note has already, or that are proposed for two notes."""
    names = (fold_name(name) for d in library.documents.values() for name in d.names)
    proposed = {(fold_name(p.text), p.path) for p in proposals if p.kind == "alias"}
    uses = Counter({*names}) + Counter(name for name, _ in proposed)
    yield from (p for p in proposals if p.kind != "alias" or uses[fold_name(p.text)] == 1)


def _plan(
    engine: Engine, proposals: Sequence[RoundProposal], now: datetime, library: Library
) -> Plan:
    resting = find_resting(engine, now=now)
    chosen = [p for p in proposals if p.path not in resting and p.path in library.documents]
    operations: list[Operation] = []
    for path in name_notes(chosen):
        document = library.documents[path]
        after = patch_note(document, [p for p in chosen if p.path == path])
        if after != document.data:
            operations.append(Replace(path, document.data, after))
    evidence = tuple(f"{p.path}: {p.kind} {p.text}: {p.reason}" for p in chosen)
    return Plan(operations, f"red queen: {len(chosen)} proposals", evidence)


def _record(engine: Engine, played: Round, *, seed: int, now: datetime) -> None:
    """Log a round that was applied."""
    if played.outcome.identity is None:
        return
    session = played.session
    record = {
        "id": played.outcome.identity,
        "time": now.isoformat(timespec="milliseconds"),
        "strategy": played.strategy.value,
        "seed": seed,
        "questions": len(session.questions if session else played.report.asked),
        "score": round(played.score, 6),
        "evolved": sorted(set(played.outcome.paths)),
        "gaps": [list(gap) for gap in _find_gaps(played)],
    }
    append_record(engine.paths.logs / LOG, record)


def _find_gaps(played: Round) -> Iterator[tuple[str, str]]:
    """Yield pairs of a note and what was found wrong with it."""
    for evaluation in played.session.evaluations if played.session else ():
        yield from ((evaluation.memory_id, gap) for gap in evaluation.gaps)
    for found in played.report.missed:
        yield found.asking.answers[0], f"not found: {found.asking.text}"
    for pair in played.report.confused:
        yield pair.path, f"taken for {pair.rival}: {pair.asked[0].asking.text}"

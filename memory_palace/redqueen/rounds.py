"""The Red Queen over a palace: run a round, and apply what it proposes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial

from memory_palace.changes.changing import Outcome, Plan, change_notes, read_notes
from memory_palace.changes.journal import edits_not_in_git
from memory_palace.changes.operations import Operation, Replace
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.mnemonics.memories import find_embedder
from memory_palace.mnemonics.reviewing import plan_reviews
from memory_palace.mnemonics.reviews import load_reviews
from memory_palace.notes.document import Library
from memory_palace.notes.golden import read_golden
from memory_palace.redqueen.askings import Asking, Meanings, collect_askings
from memory_palace.redqueen.choosing import choose_askings
from memory_palace.redqueen.examination import ask_search
from memory_palace.redqueen.examined import ExaminedMemory, Memories, read_memories
from memory_palace.redqueen.findings import EMPTY, RoundReport, make_report
from memory_palace.redqueen.history import COMMAND, LOG, find_resting
from memory_palace.redqueen.patching import patch_note
from memory_palace.redqueen.proposals import RoundProposal, name_notes
from memory_palace.redqueen.proposing import propose
from memory_palace.redqueen.round_values import Strategy
from memory_palace.redqueen.session import MOST_CHANGED, Roles, RoundFindings, run_session
from memory_palace.redqueen.trial import try_proposals
from memory_palace.redqueen.vetting import Vetted, vet_proposals
from memory_palace.storage.logs import append_record

QUESTIONS = 100
MODEL_QUESTIONS = 10
"""With a model each costs tokens, where the search answers a hundred in seconds."""
_NO_GAIN = "with it the search finds the note no better, or another worse"


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
    """Tried, most useful first; ``outcome`` holds those on the first notes."""
    outcome: Outcome
    resting: tuple[str, ...]
    """Notes that something is proposed for, and that were changed within the last day."""
    uncommitted: tuple[str, ...]
    """Notes that something is proposed for, and that have edits git does not know."""
    uses_vectors: bool
    refused: tuple[tuple[RoundProposal, str], ...] = ()
    """What a model proposed in vain, each with the reason."""

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
    allow_uncommitted: bool = False,
    now: datetime | None = None,
) -> Round:
    """Play one round, and write what it proposes where ``apply`` says so, on ``limit`` notes.

    Without ``roles`` the search is asked what people ask. The round reads the notes as they are;
    the change is made from their text at the moment of writing, under the writer's lock, so an
    edit made meanwhile is kept.
    """
    moment = now or datetime.now(UTC)
    state = _read_state(engine, now=moment)
    chosen = _Choice(strategy, question_count, seed)
    report, session = EMPTY, None
    if roles is None:
        report, vetted = _examine(engine, state, chosen, today=moment.date())
    else:
        session, vetted = _play(engine, state, chosen, roles, limit=limit)
    edited = () if allow_uncommitted else _find_edited(engine, vetted)
    busy = {*state.resting, *edited}
    awake = [p for p in vetted.kept if p.path in state.memories and p.path not in busy]
    tried = tuple(try_proposals(engine, state.library, awake, state.askings))
    outcome = change_notes(
        engine,
        partial(_plan, engine, _first_notes(tried, limit), moment),
        command=COMMAND,
        apply=apply,
        allow_uncommitted=allow_uncommitted,
    )
    left = {p.path for p in vetted.kept} | set(session.resting if session else ())
    gone = vetted.refused + tuple((p, _NO_GAIN) for p in awake if session and p not in tried)
    known, resting = len(state.askings), tuple(sorted(left & state.resting))
    by_meaning = find_embedder(engine) is not None
    found = (report, session, tried, outcome, resting, edited, by_meaning, gone)
    done = Round(strategy, known, *found)
    _record(engine, done, seed=seed, now=moment)
    return done


def _first_notes(proposals: Sequence[RoundProposal], limit: int | None) -> list[RoundProposal]:
    """Return the proposals on the first ``limit`` notes."""
    paths = set(list(name_notes(proposals))[:limit])
    return [proposal for proposal in proposals if proposal.path in paths]


@dataclass(frozen=True, slots=True)
class _State:
    """What a round reads before it asks anything."""

    library: Library
    memories: Memories
    askings: list[Asking]
    resting: set[str]


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which questions shall be asked."""

    strategy: Strategy
    question_count: int
    seed: int


def _find_edited(engine: Engine, vetted: Vetted) -> tuple[str, ...]:
    return tuple(edits_not_in_git(engine.paths, sorted(set(name_notes(vetted.kept)))))


def _read_state(engine: Engine, *, now: datetime) -> _State:
    library = read_notes(engine)
    memories = load_memories(engine, library, now=now)
    if not memories:
        raise UsageError("no note has prose to examine; write one with `palace new`")
    golden = {known.question: known.notes for known in read_golden(engine.paths)}
    askings = collect_askings(library, golden)
    return _State(library, memories, askings, find_resting(engine, now=now))


def _examine(
    engine: Engine, state: _State, choice: _Choice, *, today: date
) -> tuple[RoundReport, Vetted]:
    """Ask the search; return what was found, and what is proposed for it."""
    chosen = choose_askings(
        state.askings, state.memories, choice.strategy, choice.question_count, seed=choice.seed
    )
    agenda = plan_reviews(engine, today=today)
    asked = ask_search(engine, chosen)
    report = make_report(asked, state.library.documents, agenda.standings, today=today)
    return report, Vetted(tuple(propose(state.library)))


def _play(
    engine: Engine, state: _State, choice: _Choice, roles: Roles, *, limit: int | None
) -> tuple[RoundFindings, Vetted]:
    """Let a model ask and answer; return what it did, and what it proposes."""
    session = asyncio.run(
        run_session(
            state.memories,
            roles,
            strategy=choice.strategy,
            question_count=choice.question_count,
            seed=choice.seed,
            evolve_at_most=limit,
            resting=state.resting,
        )
    )
    return session, vet_proposals(engine, state.library, state.memories, session.proposals)


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

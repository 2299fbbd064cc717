"""The Red Queen over a palace: run a round, and apply what it proposes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from memory_palace.changes.changing import Plan, change_notes, read_notes
from memory_palace.changes.journal import edits_not_in_git
from memory_palace.changes.operations import Operation, Replace
from memory_palace.cli.changes import ChangeShown
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.features.memories.reviews import load_reviews
from memory_palace.features.redqueen.askings import (
    Asking,
    Confusion,
    ask_search,
    choose_askings,
    collect_askings,
    judge_search,
)
from memory_palace.features.redqueen.examined import ExaminedMemory, examine, may_change
from memory_palace.features.redqueen.history import COMMAND, PastRound, find_resting, log_round
from memory_palace.features.redqueen.proposals import patch_note, propose
from memory_palace.features.redqueen.session import (
    MOST_CHANGED,
    Evaluation,
    Roles,
    RoundProposal,
    Strategy,
    run_session,
)
from memory_palace.graph.resolve import fold_name
from memory_palace.notes.document import Library
from memory_palace.notes.golden import read_golden
from memory_palace.shown import Shown, plural

QUESTIONS = 100
MODEL_QUESTIONS = 10
"""With a model each costs tokens, where the search answers a hundred in seconds."""
_SHOWN = 5
"""Findings of a kind in the lines: the record has all."""


@dataclass(frozen=True, slots=True)
class Round(Shown):
    """One round, and the change it made or would make."""

    strategy: Strategy
    questions: int
    """Number of those that were asked."""
    known_questions: int
    score: float
    """Share of the questions whose note is found, or the mean of the model's marks; 0 to 1."""
    missed: tuple[Asking, ...]
    """Questions whose note is not among the first five."""
    confused: tuple[Confusion, ...]
    evaluations: tuple[Evaluation, ...]
    """The verdicts of a model, where one played the round."""
    proposals: tuple[RoundProposal, ...]
    """Most useful first; ``change`` holds those on the first notes."""
    resting: tuple[str, ...]
    """Notes that something is proposed for, and that were changed within the last day."""
    uncommitted: tuple[str, ...]
    """Notes that something is proposed for, and that have edits git does not know."""
    spent: str | None
    """Calls and tokens of the model."""
    change: ChangeShown

    def lines(self) -> Iterator[str]:
        """Yield what was found, most useful first, each kind with what to run next; the diff."""
        for verdict in self.evaluations:
            yield f"{verdict.score:.2f}  {verdict.memory_id}"
            yield f"      asked: {verdict.question}"
            yield from (f"      gap: {gap}" for gap in verdict.gaps)
        if self.confused:
            yield from _list_first("taken for another note", self.confused)
            yield f'  next: palace query "{self.confused[0].questions[0].question}"'
        if self.missed:
            yield from _list_first("not found by the words of others", self.missed)
            yield f'  next: palace query "{self.missed[0].question}"'
        if self.proposals:
            yield from _list_first("proposed", self.proposals)
            if self.change.id is None:
                shown = plural(len(self.change.paths), "note")
                yield f"  next: palace redqueen run --apply  ({shown}, see below)"
        yield from self.change.lines()

    def remarks(self, *, as_json: bool) -> Iterator[str]:
        """Yield the score, the notes that are left alone, and what became of the change."""
        if not as_json:
            yield from self._remark_score()
            for path in self.resting:
                yield f"{path} was changed within the last day and is left alone"
            for path in self.uncommitted:
                yield f"{path} has edits that are not committed to git and is left alone"
            if self.change.diff:
                yield from self.change.remarks(as_json=False)
        if self.spent is not None:
            yield self.spent

    def _remark_score(self) -> Iterator[str]:
        count = plural(self.questions, "question")
        if self.evaluations:
            yield f"{count}, score {self.score:.2f}"
        elif not self.questions:
            yield "no note is spoken of in words that make a question"
        else:
            yield f"{round(self.score * self.questions)} found of {count} in people's words"
            if self.questions < self.known_questions:
                yield f"there are {self.known_questions}; --questions asks more of them"


def _list_first(name: str, found: Sequence[object]) -> Iterator[str]:
    yield f"{name}: {len(found)}"
    yield from (f"  {one}" for one in found[:_SHOWN])
    if len(found) > _SHOWN:
        yield f"  and {len(found) - _SHOWN} more; --json has all"


def load_memories(engine: Engine, library: Library, *, now: datetime) -> dict[str, ExaminedMemory]:
    """Return every memory that may be examined, by path.

    Left out are cold and pinned notes, those that cannot be read, and those without prose. Private
    text is not in a ``Document`` at all.
    """
    reviews, found = load_reviews(engine.paths), {}
    for path, document in library.documents.items():
        if may_change(document):
            memory = examine(document, reviews.get(path, ()), today=now.date())
            if memory.content:
                found[path] = memory
    return found


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
    moment, library = now or datetime.now(UTC), read_notes(engine)
    if not (memories := load_memories(engine, library, now=moment)):
        raise UsageError("no note has prose to examine; write one with `palace new`")
    golden = {known.question: known.notes for known in read_golden(engine.paths)}
    askings, resting = collect_askings(library, golden), find_resting(engine, now=moment)
    session, asked = None, list[Asking]()
    if roles is None:
        chosen = choose_askings(askings, memories, strategy, question_count, seed=seed)
        asked, made = ask_search(engine, chosen), propose(library)
    else:
        play = partial(run_session, strategy=strategy, question_count=question_count, seed=seed)
        session = asyncio.run(play(memories, roles, evolve_at_most=limit, resting=resting))
        made = list(_drop_taken_names(session.proposals, library))
    missed, confused = judge_search(asked, library.documents)
    found = sum(asking.rank is not None for asking in asked)
    paths = sorted({one.path for one in made})
    weak = {one.memory_id for one in session.evaluations if one.should_evolve} if session else set()
    may_change = engine.config.changes.allow_uncommitted
    edited = () if may_change else tuple(edits_not_in_git(engine.paths, paths))
    awake = [p for p in made if p.path in memories and p.path not in {*resting, *edited}]
    first = list(dict.fromkeys(one.path for one in awake))[:limit]
    plan = partial(_plan, engine, [one for one in awake if one.path in first], moment)
    outcome = change_notes(engine, plan, command=COMMAND, apply=apply)
    done = Round(
        strategy=strategy,
        questions=len(session.evaluations if session else asked),
        known_questions=len(askings),
        score=session.score if session else found / max(len(asked), 1),
        missed=missed,
        confused=confused,
        evaluations=session.evaluations if session else (),
        proposals=tuple(awake),
        resting=tuple(sorted(resting & {*paths, *weak})),
        uncommitted=edited,
        spent=None,
        change=ChangeShown.of(outcome),
    )
    if outcome.identity is not None:
        time, evolved = moment.isoformat(timespec="milliseconds"), tuple(sorted(outcome.paths))
        asked_of = strategy.value, seed, done.questions, done.score
        log_round(engine, PastRound(outcome.identity, time, *asked_of, evolved))
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
    for path in dict.fromkeys(one.path for one in chosen):
        document = library.documents[path]
        after = patch_note(document, [p for p in chosen if p.path == path])
        if after != document.data:
            operations.append(Replace(path, document.data, after))
    evidence = tuple(f"{p.path}: {p.kind} {p.text}: {p.reason}" for p in chosen)
    return Plan(operations, f"red queen: {len(chosen)} proposals", evidence)

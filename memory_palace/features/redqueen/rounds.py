"""``Palace.redqueen``: run a round over a palace, and apply a model's proposals."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from memory_palace.changes.changing import Outcome, Plan, change_notes, read_notes
from memory_palace.changes.journal import (
    Operation,
    Replace,
    edits_not_in_git,
    find_undone,
    read_log,
)
from memory_palace.errors import UsageError
from memory_palace.features.memories.form import IMAGE, is_memory, load_reviews
from memory_palace.features.redqueen.askings import (
    Asking,
    Confusion,
    ask_search,
    choose_askings,
    collect_askings,
    judge_search,
)
from memory_palace.features.redqueen.session import (
    MOST_CHANGED,
    Evaluation,
    ExaminedMemory,
    Roles,
    RoundFindings,
    RoundProposal,
    Strategy,
    examine,
    run_session,
)
from memory_palace.graph.resolve import fold_name
from memory_palace.language.visible import MARKER
from memory_palace.notes.document import (
    Document,
    Library,
    read_section,
    replace_section,
    set_fields,
)
from memory_palace.notes.golden import read_golden
from memory_palace.palace import Feature, Palace, Verb
from memory_palace.shown import Shown, plural

COMMAND = "redqueen"
REST = timedelta(hours=24)
"""Least time between two changes of a memory (source document 000)."""
QUESTIONS = 100
MODEL_QUESTIONS = 10
"""Default with a model, whose questions cost tokens; the search answers 100 in seconds."""
_SHOWN = 5
"""Most findings of a kind in the text output; JSON has all."""
_UNSAFE = re.compile(r"<!--|-->|^#{1,6}[ \t].*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Round(Shown):
    """The result of one round, and the change it made or would make."""

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
    """Questions, names and images that the model proposes; ``change`` holds them."""
    resting: tuple[str, ...]
    """Weak memories that were changed within the last day: nothing is proposed for them."""
    uncommitted: tuple[str, ...]
    """Notes that something is proposed for, and that have edits git does not know."""
    spent: str | None
    """Calls and tokens of the model."""
    change: Outcome

    def lines(self) -> Iterator[str]:
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
        yield from self.change.lines()

    def remarks(self, *, as_json: bool) -> Iterator[str]:
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


def load_memories(palace: Palace, library: Library, *, now: datetime) -> dict[str, ExaminedMemory]:
    """Return every memory that may be examined, by path.

    Cold, pinned and unreadable notes, and notes without prose, are left out. A ``Document`` holds
    no private text.
    """
    reviews, found = load_reviews(palace.paths), {}
    for path, document in library.documents.items():
        if not (document.is_cold or document.problem or document.text("pinned") == "true"):
            memory = examine(document, reviews.get(path, ()), today=now.date())
            if memory.content:
                found[path] = memory
    return found


def run(
    palace: Palace,
    *,
    strategy: Strategy = Strategy.WEAK_SPOTS,
    question_count: int = QUESTIONS,
    seed: int = 0,
    limit: int | None = MOST_CHANGED,
    roles: Roles | None = None,
    apply: bool = False,
    now: datetime | None = None,
) -> Round:
    """Run one round: ask the search people's questions, or let ``roles`` examine the memories.

    Proposals of ``roles``, for at most ``limit`` notes, are written if ``apply``. The change is
    made from the text of the notes at the moment of writing, under the writer's lock, so an edit
    made meanwhile is kept.
    """
    moment, library = now or datetime.now(UTC), read_notes(palace)
    if not (memories := load_memories(palace, library, now=moment)):
        raise UsageError("no note has prose to examine; write one with `palace new`")
    golden = {known.question: known.notes for known in read_golden(palace.paths)}
    askings, resting = collect_askings(library, golden), set[str]()
    session, asked = RoundFindings((), ()), list[Asking]()
    if roles is None:
        chosen = choose_askings(askings, memories, strategy, question_count, seed=seed)
        asked = ask_search(palace, chosen)
    else:
        resting = find_resting(palace, now=moment)
        play = partial(run_session, strategy=strategy, question_count=question_count, seed=seed)
        session = asyncio.run(play(memories, roles, evolve_at_most=limit, resting=resting))
    made = list(_drop_taken_names(session.proposals, library))
    missed, confused = judge_search(asked, library.documents)
    found = sum(asking.rank is not None for asking in asked)
    weak = {one.memory_id for one in session.evaluations if one.should_evolve}
    paths = sorted({one.path for one in made})
    may_change = palace.config.changes.allow_uncommitted
    edited = () if may_change else tuple(edits_not_in_git(palace.paths, paths))
    kept = tuple(one for one in made if one.path not in edited)
    plan = partial(_plan, palace, kept, moment)
    outcome = change_notes(palace, plan, command=COMMAND, apply=apply and bool(kept))
    return Round(
        strategy=strategy,
        questions=len(session.evaluations or asked),
        known_questions=len(askings),
        score=session.score or found / max(len(asked), 1),
        missed=missed,
        confused=confused,
        evaluations=session.evaluations,
        proposals=kept,
        resting=tuple(sorted(resting & weak)),
        uncommitted=edited,
        spent=None,
        change=outcome,
    )


def find_resting(palace: Palace, *, now: datetime) -> set[str]:
    """Return the notes that a round changed within the last day, without undone changes."""
    log = read_log(palace.paths)
    undone = find_undone(log)
    return {
        write.path
        for entry in log
        if entry.command == COMMAND and not entry.undoes and entry.identity not in undone
        if now - datetime.fromisoformat(entry.time) < REST
        for write in entry.writes
    }


def _drop_taken_names(
    proposals: Sequence[RoundProposal], library: Library
) -> Iterator[RoundProposal]:
    """Yield the proposals without aliases that a note has already, or that two notes would get."""
    names = (fold_name(name) for d in library.documents.values() for name in d.names)
    proposed = {(fold_name(p.text), p.path) for p in proposals if p.kind == "alias"}
    uses = Counter({*names}) + Counter(name for name, _ in proposed)
    yield from (p for p in proposals if p.kind != "alias" or uses[fold_name(p.text)] == 1)


def _plan(
    palace: Palace, proposals: Sequence[RoundProposal], now: datetime, library: Library
) -> Plan:
    resting = find_resting(palace, now=now)
    chosen = [p for p in proposals if p.path not in resting and p.path in library.documents]
    operations: list[Operation] = []
    for path in dict.fromkeys(one.path for one in chosen):
        document = library.documents[path]
        after = patch_note(document, [p for p in chosen if p.path == path])
        if after != document.data:
            operations.append(Replace(path, document.data, after))
    evidence = tuple(f"{p.path}: {p.kind} {p.text}: {p.reason}" for p in chosen)
    return Plan(operations, f"red queen: {len(chosen)} proposals", evidence)


def patch_note(document: Document, proposals: Sequence[RoundProposal]) -> bytes:
    """Return the note's bytes with the proposals added; what it has already is not repeated.

    Raise ``PalaceError`` for a note that is not UTF-8.
    """
    path, data = document.path, document.data
    images = [proposal.text for proposal in proposals if proposal.kind == "image"]
    old = read_section(path, data, IMAGE) if images and is_memory(document) else None
    if old is not None:
        tokens = (match[0] for match in MARKER.finditer(old))
        data = replace_section(path, data, IMAGE, " ".join([_clean(images[-1]), *tokens]))
    fields = {}
    for key, kind in (("aliases", "alias"), ("questions", "question")):
        known = document.texts(key)
        if new := _missing(known, (p.text for p in proposals if p.kind == kind)):
            fields[key] = [*known, *new]
    return set_fields(path, data, fields) if fields else data


def _missing(known: Sequence[str], texts: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for text in map(_clean, texts):
        found.setdefault(fold_name(text), text)
    taken = {"", *map(fold_name, known)}
    return [text for key, text in found.items() if key not in taken]


def _clean(text: str) -> str:
    """Return a text on one line, without tokens, comment marks and headings."""
    return " ".join(_UNSAFE.sub(" ", MARKER.sub(" ", text)).split())


class RedQueen(Feature):
    """Rounds of questions about the memories of a palace."""

    run = Verb(run)

"""What a run of reverse elimination would do, what the golden questions forbid, and the change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memory_palace.changes.changing import Plan
from memory_palace.changes.cold_zone import plan_archive
from memory_palace.changes.operations import Create, Move, Remove, Replace
from memory_palace.changes.overlay import overlay
from memory_palace.changes.relinking import relink
from memory_palace.config import ROOMS
from memory_palace.engine import Engine
from memory_palace.errors import CheckFailedError
from memory_palace.features.metabolism.elimination import Elimination, find_proposals
from memory_palace.features.metabolism.ledger import Ledger
from memory_palace.features.metabolism.likeness import open_cosine
from memory_palace.features.tasks.conflict_notes import make_quote, plan_open
from memory_palace.features.tasks.golden import Answered, ask_golden
from memory_palace.notes.document import Document, parse_document
from memory_palace.notes.frontmatter import set_fields
from memory_palace.notes.golden import read_golden
from memory_palace.notes.rooms import stem_of

_LOWER = {"high": "medium", "medium": "low", "low": "low", "": "low"}
RAISED_BY = "metabolism"
_UNASKED = "the golden questions cannot be asked without an index; run `palace index`"


def propose(engine: Engine, ledger: Ledger) -> list[Elimination]:
    """Return what the rules say, held where a golden question would lose its answer by it.

    All questions are asked with the whole change in effect. A step that changes a note which
    answers one that is lost is held, then the rest is asked again.
    """
    found = find_proposals(ledger, cosine=open_cosine(engine))
    if not any(not each.held for each in found) or not read_golden(engine.paths):
        return found
    if not engine.paths.commit.exists():
        return [each if each.held else replace(each, held=_UNASKED) for each in found]
    asked = [one for one in ask_golden(engine) if one.rank is not None]
    while lost := _find_lost(engine, ledger, found, asked):
        found = _hold(found, lost)
    return found


def check_promotion(engine: Engine, plan: Plan, source: str) -> None:
    """Raise ``CheckFailedError`` naming golden questions that an asset would take the answer of.

    What the note it is made of answers the asset answers too.
    """
    if not read_golden(engine.paths):
        return
    if not engine.paths.commit.exists():
        raise CheckFailedError(_UNASKED)
    asked = [one for one in ask_golden(engine) if one.rank is not None]
    assets = {each.path: each.data for each in plan.change if isinstance(each, Create)}
    with overlay(engine, assets) as changed:
        found = {one.question: one.found for one in ask_golden(changed)}
    lost = [
        repr(one.question)
        for one in asked
        if {*one.notes, *(assets if source in one.notes else ())}.isdisjoint(found[one.question])
    ]
    if lost:
        raise CheckFailedError(
            f"{source} is not promoted: {', '.join(lost)} would lose its answer; give the asset "
            "other words with --section, or take the question out of golden_questions.md"
        )


def _find_lost(
    engine: Engine, ledger: Ledger, steps: Sequence[Elimination], asked: Sequence[Answered]
) -> list[Answered]:
    """Return the questions that would lose their answer by what is not held of some steps."""
    going = [step for step in steps if not step.held]
    if not going:
        return []
    with overlay(engine, _notes_after(ledger, going)) as changed:
        found = {one.question for one in ask_golden(changed) if one.rank is not None}
    return [one for one in asked if one.question not in found]


def _notes_after(ledger: Ledger, steps: Sequence[Elimination]) -> dict[str, bytes | None]:
    """Return the hot notes that the steps leave with other bytes, or with none.

    A room that a step needs and no folder is would be made.
    """
    named = {room: room for room in ROOMS if room not in ledger.rooms.folders.values()}
    rooms = replace(ledger.rooms, folders={**ledger.rooms.folders, **named})
    documents, plan = ledger.documents, carry_out(replace(ledger, rooms=rooms), steps)
    after: dict[str, bytes | None] = {}
    for operation in relink(documents, plan.change, rooms=rooms, redirects=plan.redirects):
        match operation:
            case Create(path, data) | Replace(path, _, data):
                after[path] = data
            case Remove(path, _):
                after[path] = None
            case Move(old, new):
                after[new] = after.get(old, documents[old].data)
                after[old] = None
    return {path: data for path, data in after.items() if not rooms.is_archived(path)}


def _hold(steps: Sequence[Elimination], lost: Sequence[Answered]) -> list[Elimination]:
    """Hold the steps that touch an answer of a lost question; all of them where none does."""
    reasons: dict[str, str] = {}
    going = [step for step in steps if not step.held]
    for one in lost:
        touched = [step for step in going if {step.path, step.other} & set(one.notes)]
        for step in touched or going:
            reasons.setdefault(step.path, f"{one.question!r} would lose its answer")
    return [replace(s, held=reasons.get(s.path)) if not s.held else s for s in steps]


def carry_out(ledger: Ledger, proposals: Sequence[Elimination]) -> Plan:
    """Return the change for those proposals that nothing holds up."""
    draft = _Draft(ledger, ledger.today.isoformat())
    for proposal in proposals:
        if proposal.held:
            draft.held.append(f"{proposal.action} {proposal.path}: {proposal.held}")
        else:
            draft.take(proposal)
    return draft.finish()


@dataclass(slots=True)
class _Draft:
    ledger: Ledger
    today: str
    texts: dict[str, bytes] = field(default_factory=dict)
    moves: dict[str, Move] = field(default_factory=dict)
    creates: dict[str, Create] = field(default_factory=dict)
    evidence: list[str] = field(default_factory=list)
    redirects: dict[str, str] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)

    def take(self, proposal: Elimination) -> None:
        path = proposal.path
        document = self.ledger.documents[path]
        match proposal.action:
            case "demote":
                lower = _LOWER.get(document.text("priority").casefold(), "low")
                self._set(path, status="stale", stale_since=self.today, priority=lower)
            case "revive":
                self._set(path, status=None, stale_since=None)
            case "archive" | "finish":
                self._archive(path)
            case "supersede":
                self._succeed(document, proposal.other or "")
                self._archive(path)
            case "return":
                self._return(document, proposal.other or "")
            case "merge" | "contradiction":
                self._open(proposal)
        words = "; ".join(proposal.evidence)
        target = f" ({proposal.other})" if proposal.other else ""
        self.evidence.append(f"{proposal.action} {path}{target}: {words}")

    def finish(self) -> Plan:
        """Return the change; texts that came out as they were are left out."""
        documents = self.ledger.documents
        replaced = [
            Replace(path, documents[path].data, text)
            for path, text in sorted(self.texts.items())
            if text != documents[path].data
        ]
        return Plan(
            (*replaced, *self.creates.values(), *self.moves.values()),
            f"reverse elimination: {len(self.evidence)} steps",
            tuple(self.evidence),
            self.redirects,
            held=tuple(self.held),
        )

    def _set(self, path: str, **values: object) -> None:
        before = self.texts.get(path, self.ledger.documents[path].data)
        self.texts[path] = set_fields(path, before, values)

    def _archive(self, path: str) -> None:
        self.moves[path] = plan_archive(self.ledger.rooms, path, year=int(self.today[:4]))

    def _succeed(self, loser: Document, winner: str) -> None:
        """Give the successor the loser's names, so that links by name lead to it."""
        text = self.texts.get(winner, self.ledger.documents[winner].data)
        successor = parse_document(winner, text)
        own = successor.texts("aliases") if successor is not None else ()
        stem = stem_of(winner)
        names = [name for name in (loser.stem, *loser.texts("aliases")) if name != stem]
        self._set(winner, aliases=list(dict.fromkeys([*own, *names])))
        self.redirects[loser.path] = winner

    def _return(self, document: Document, project: str) -> None:
        self._set(document.path, status="returned", returned_at=self.today)
        room = self.ledger.rooms.path_of(f"project_rooms/{project}")
        self.moves[document.path] = Move(document.path, f"{room}/{document.path.split('/')[-1]}")

    def _open(self, proposal: Elimination) -> None:
        older, newer = (self.ledger.documents[p or ""] for p in (proposal.other, proposal.path))
        kind = "duplicate" if proposal.action == "merge" else "contradiction"
        evidence = list(proposal.evidence)
        if kind == "duplicate":
            richer = max((older, newer), key=lambda d: (len(d.body), d is older))
            evidence.append(
                f"the richer of the two is {richer.path}; its aliases can take the other's name"
            )
        lines = proposal.lines or ((None, None), (None, None))
        quotes = [
            make_quote(each, first_line=first, last_line=last)
            for each, (first, last) in zip((older, newer), lines, strict=True)
        ]
        note = plan_open(
            (quotes[0], quotes[1]),
            self.ledger.rooms,
            title=f"{older.title} or {newer.title}",
            kind=kind,
            raised_by=RAISED_BY,
            today=self.today,
            evidence=evidence,
        )
        self.creates[note.path] = note

"""What a run of reverse elimination would do, and what the golden questions forbid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memory_palace.changes.changing import Plan
from memory_palace.changes.operations import Create, Move, Remove, Replace
from memory_palace.changes.overlay import overlay
from memory_palace.changes.relinking import relink
from memory_palace.config import ROOMS
from memory_palace.engine import Engine
from memory_palace.errors import CheckFailedError
from memory_palace.metabolism.elimination import Elimination, find_proposals
from memory_palace.metabolism.ledger import Ledger
from memory_palace.metabolism.likeness import open_cosine
from memory_palace.metabolism.steps import carry_out
from memory_palace.notes.golden import read_golden
from memory_palace.workflow.golden import Answered, ask_golden

_UNASKED = "the golden questions cannot be asked without an index; run `palace index`"


def propose(engine: Engine, ledger: Ledger) -> list[Elimination]:
    """Return what the rules say, held where a golden question would lose its answer by it.

    All questions are asked with the whole change in effect. A step that changes a note which
    answers one that is lost is held, then the rest is asked again; where none does, the steps are
    tried one by one.
    """
    found = find_proposals(ledger, cosine=open_cosine(engine))
    if not any(not each.held for each in found) or not read_golden(engine.paths):
        return found
    if not engine.paths.commit.exists():
        return [each if each.held else replace(each, held=_UNASKED) for each in found]
    asked = [one for one in ask_golden(engine) if one.rank is not None]
    guard = _Guard(engine, ledger, asked)
    while lost := guard.find_lost(found):
        found = _hold(guard, found, lost)
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
            "other words with --section, or `palace golden remove` the question"
        )


class _Guard:
    """Asks the golden questions that are answered now as if steps had been done."""

    def __init__(self, engine: Engine, ledger: Ledger, answered: Sequence[Answered]) -> None:
        self._engine, self._answered = engine, answered
        rooms = ledger.rooms
        named = {room: room for room in ROOMS if room not in rooms.folders.values()}
        rooms = replace(rooms, folders={**rooms.folders, **named})
        self._ledger = replace(ledger, rooms=rooms)
        """With the rooms that would be made where a step needs one."""

    def find_lost(self, steps: Iterable[Elimination]) -> list[Answered]:
        """Return the questions that would lose their answer by what is not held of some steps."""
        going = [step for step in steps if not step.held]
        if not going:
            return []
        with overlay(self._engine, self._notes_after(going)) as changed:
            found = {one.question for one in ask_golden(changed) if one.rank is not None}
        return [one for one in self._answered if one.question not in found]

    def _notes_after(self, steps: Sequence[Elimination]) -> dict[str, bytes | None]:
        """Return the hot notes that the steps leave with other bytes, or with none."""
        documents, rooms = self._ledger.documents, self._ledger.rooms
        plan = carry_out(self._ledger, steps)
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


def _hold(
    guard: _Guard, steps: Sequence[Elimination], lost: Sequence[Answered]
) -> list[Elimination]:
    """Hold the steps by which questions lose their answer, all of them where no single one does."""
    reasons: dict[str, str] = {}
    going = [step for step in steps if not step.held]
    for one in lost:
        touched = [step for step in going if {step.path, step.other} & set(one.notes)]
        alone = touched or [step for step in going if one in guard.find_lost([step])]
        for step in alone or going:
            reasons.setdefault(step.path, f"{one.question!r} would lose its answer")
    return [replace(s, held=reasons.get(s.path, "")) if not s.held else s for s in steps]

"""Report, distill, promote and eliminate notes, while golden questions keep their answers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from memory_palace.changes.changing import (
    Outcome,
    Plan,
    change_notes,
    find_note,
    read_notes,
    relink,
)
from memory_palace.changes.journal import Create, Move, Remove, Replace
from memory_palace.config import ROOMS
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.facts import derive
from memory_palace.features.metabolism.cold_zone import plan_archive
from memory_palace.features.metabolism.distill import plan_distill
from memory_palace.features.metabolism.elimination import Elimination, find_proposals
from memory_palace.features.metabolism.gates import (
    PromotionGate,
    plan_amendment,
    plan_promotion,
    reflection_gates,
)
from memory_palace.features.metabolism.ledger import (
    TELEGRAM,
    Ledger,
    get_kind,
    kind_of,
    take_ledger,
)
from memory_palace.features.tasks.cards import find_card
from memory_palace.features.tasks.conflicts import make_quote, plan_open
from memory_palace.features.tasks.golden import Answered, ask_golden
from memory_palace.index.diff import CommittedState, Listing, open_state
from memory_palace.index.rows import KnownVectors, RowMaker
from memory_palace.index.segment import CONTENT, Fold, Segment, fold_segments, open_segment
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.values import BuildContext
from memory_palace.index.writing import NoteRow, read_row, tombstone, write_segment
from memory_palace.models import FileStat
from memory_palace.notes.discovery import SourceFile
from memory_palace.notes.document import Document, Library, parse_document, set_fields
from memory_palace.notes.golden import read_golden
from memory_palace.notes.manifest import read_manifest
from memory_palace.notes.note import stem_of
from memory_palace.notes.usage import KNOWN_AFTER_DAYS
from memory_palace.palace import Feature, Palace, Verb
from memory_palace.shown import Shown

_PROMOTABLE = ("project_rooms/", "chambers/", "reflection_wing/telegrams/")
_LOWER = {"high": "medium", "medium": "low", "low": "low", "": "low"}
RAISED_BY = "metabolism"
_UNASKED = "the golden questions cannot be asked without an index; run `palace index`"


@dataclass(frozen=True, slots=True)
class RipeNote:
    """A note that passes all gates of the reflection wing."""

    path: str
    gates: tuple[PromotionGate, ...]


@dataclass(frozen=True, slots=True)
class Report(Shown):
    """Notes to distill, promote or eliminate, with the evidence."""

    undistilled: tuple[str, ...]
    """Paths of completed cards without a telegraph."""
    ripe: tuple[RipeNote, ...]
    proposals: tuple[Elimination, ...]
    usage_since: date | None
    """Since when use is logged; ``None`` where it is not."""
    tells_disuse: bool
    """Whether it is logged for long enough; before that no note is called unused."""

    def lines(self) -> Iterable[str]:
        yield from (f"distill     {path}" for path in self.undistilled)
        for note in self.ripe:
            yield f"promote     {note.path}"
            yield from (f"  {'open  ' if g.is_open else 'closed'}  {g}" for g in note.gates)
        for step in self.proposals:
            target = f" -> {step.other}" if step.other else ""
            yield f"{step.action:<11} {step.path}{target}"
            yield from (f"  {line}" for line in step.evidence)
            if step.held:
                yield f"  held: {step.held}"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if as_json or self.tells_disuse:
            return
        yield (
            f"use is logged since {self.usage_since}; before it is logged for "
            f"{KNOWN_AFTER_DAYS} days no note is called unused"
            if self.usage_since
            else "no use is logged yet, so no note is called unused; see usage_log in palace.yaml"
        )


def take_report(palace: Palace, *, today: date | None = None) -> Report:
    """Return the report on a palace; no note is changed."""
    ledger = take_ledger(palace, read_notes(palace), today=today)
    documents = ledger.documents.values()
    distilled = {d.text("corridor_card") for d in documents if kind_of(d) is TELEGRAM}
    undistilled = (
        card.path
        for card in ledger.cards.values()
        if card.state == "completed" and not card.is_archived
        if distilled.isdisjoint((card.document.stem, card.task_id))
    )
    return Report(
        tuple(undistilled),
        tuple(_find_ripe(ledger)),
        tuple(propose(palace, ledger)),
        ledger.usage.began,
        ledger.tells_disuse,
    )


def _find_ripe(ledger: Ledger) -> Iterator[RipeNote]:
    for path, document in ledger.documents.items():
        if document.is_cold or document.texts("promoted_to") or path.endswith("/index.md"):
            continue
        if document.place.startswith(_PROMOTABLE):
            gates = tuple(reflection_gates(ledger, path))
            if all(gate.is_open for gate in gates):
                yield RipeNote(path, gates)


def distill(
    palace: Palace, name: str, *, apply: bool = False, today: date | None = None
) -> Outcome:
    """Write the telegraph (short summary) of a completed card."""

    def plan(library: Library) -> Plan:
        ledger = take_ledger(palace, library, today=today)
        return plan_distill(ledger, find_card(list(ledger.cards.values()), name))

    return change_notes(palace, plan, command="metabolism", apply=apply)


def promote(
    palace: Palace,
    name: str,
    kind: str,
    *,
    sections: Mapping[str, str] | None = None,
    decided_by: str | None = None,
    apply: bool = False,
    today: date | None = None,
) -> Outcome:
    """Promote a note to an asset, or with ``decided_by`` a candidate to a rule of the constitution.

    ``kind`` is a key of ``ledger.KINDS``; ``sections`` maps headings to texts. Raise
    ``UsageError`` for an unknown kind, ``CheckFailedError`` if a gate is closed or a golden
    question would lose its answer.
    """
    asset = get_kind(kind)
    if decided_by is not None and asset.name != "constitution":
        raise UsageError(
            "--decided-by is for rules of the constitution; use the kind `constitution`"
        )

    def plan(library: Library) -> Plan:
        ledger = take_ledger(palace, library, today=today)
        path = find_note(library, name).path
        if decided_by is not None:
            deciders = palace.config.deciders
            return plan_amendment(ledger, path, decided_by=decided_by, deciders=deciders)
        planned = plan_promotion(ledger, path, asset, sections=sections or {})
        check_promotion(palace, planned, path)
        return planned

    return change_notes(palace, plan, command="metabolism", apply=apply)


def eliminate(palace: Palace, *, apply: bool = False, today: date | None = None) -> Outcome:
    """Carry out all proposals that are not held, in one change."""

    def plan(library: Library) -> Plan:
        ledger = take_ledger(palace, library, today=today)
        return carry_out(ledger, propose(palace, ledger))

    return change_notes(palace, plan, command="metabolism", apply=apply)


def propose(palace: Palace, ledger: Ledger) -> list[Elimination]:
    """Return the proposals, holding those by which a golden question would lose its answer.

    All golden questions are asked on a palace with the whole change. Steps on the answers of lost
    questions are held, and the questions asked again, until none is lost.
    """
    found = find_proposals(ledger)
    if not any(not each.held for each in found) or not read_golden(palace.paths):
        return found
    if not palace.paths.commit.exists():
        return [each if each.held else replace(each, held=_UNASKED) for each in found]
    asked = [one for one in ask_golden(palace) if one.rank is not None]
    while lost := _find_lost(palace, ledger, found, asked):
        found = _hold(found, lost)
    return found


def check_promotion(palace: Palace, plan: Plan, source: str) -> None:
    """Raise ``CheckFailedError`` listing golden questions that lose their answer to a new asset.

    The asset counts as an answer to the questions that its source note answers.
    """
    if not read_golden(palace.paths):
        return
    if not palace.paths.commit.exists():
        raise CheckFailedError(_UNASKED)
    asked = [one for one in ask_golden(palace) if one.rank is not None]
    assets = {each.path: each.after for each in plan.change if isinstance(each, Create)}
    with overlay(palace, assets) as changed:
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
    palace: Palace, ledger: Ledger, steps: Sequence[Elimination], asked: Sequence[Answered]
) -> list[Answered]:
    """Return the answered questions that lose their answer if the steps not held are taken."""
    going = [step for step in steps if not step.held]
    if not going:
        return []
    with overlay(palace, _notes_after(ledger, going)) as changed:
        found = {one.question for one in ask_golden(changed) if one.rank is not None}
    return [one for one in asked if one.question not in found]


def _notes_after(ledger: Ledger, steps: Sequence[Elimination]) -> dict[str, bytes | None]:
    """Return the hot notes that the steps change, by path: new bytes, or ``None`` if removed.

    Rooms without a folder count as existing, since the change would create them.
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
    """Hold the steps on answers of lost questions, or all steps if none touches an answer."""
    reasons: dict[str, str] = {}
    going = [step for step in steps if not step.held]
    for one in lost:
        touched = [step for step in going if {step.path, step.other} & set(one.notes)]
        for step in touched or going:
            reasons.setdefault(step.path, f"{one.question!r} would lose its answer")
    return [replace(s, held=reasons.get(s.path)) if not s.held else s for s in steps]


def carry_out(ledger: Ledger, proposals: Sequence[Elimination]) -> Plan:
    """Return the plan that carries out the proposals that are not held."""
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
                self._set(path, status="returned", returned_at=self.today)
                room = self.ledger.rooms.path_of(f"project_rooms/{proposal.other or ''}")
                self.moves[path] = Move(path, f"{room}/{path.rpartition('/')[2]}")
            case "merge" | "contradiction":
                self._open(proposal)
        words = "; ".join(proposal.evidence)
        target = f" ({proposal.other})" if proposal.other else ""
        self.evidence.append(f"{proposal.action} {path}{target}: {words}")

    def finish(self) -> Plan:
        """Return the plan, without replacements that change no byte."""
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
        """Add the loser's names to the winner's aliases, so that links by name resolve to it."""
        text = self.texts.get(winner, self.ledger.documents[winner].data)
        successor = parse_document(winner, text)
        own = successor.texts("aliases") if successor is not None else ()
        stem = stem_of(winner)
        names = [name for name in (loser.stem, *loser.texts("aliases")) if name != stem]
        self._set(winner, aliases=list(dict.fromkeys([*own, *names])))
        self.redirects[loser.path] = winner

    def _open(self, proposal: Elimination) -> None:
        older, newer = (self.ledger.documents[p or ""] for p in (proposal.other, proposal.path))
        kind = "duplicate" if proposal.action == "merge" else "contradiction"
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
            evidence=proposal.evidence,
        )
        self.creates[note.path] = note


class _Overlaid(Palace):
    """A palace with a given snapshot, which shares another palace's open models."""

    def __init__(self, palace: Palace, snapshot: Snapshot) -> None:
        super().__init__(palace.paths.root, config=palace.config)
        self.adopt(palace)
        self._overlaid = snapshot

    def snapshot(self, *, include_cold: bool = False) -> Snapshot:
        return self._overlaid


@contextmanager
def overlay(palace: Palace, notes: Mapping[str, bytes | None]) -> Iterator[Palace]:
    """Yield a palace whose index has ``notes`` changed: new bytes by path, ``None`` for removed.

    A path not in the index is a new note. The changes are one index segment in a temporary
    folder; unchanged passages are not embedded again. Cold notes are left out. Without an index
    the given palace is yielded.
    """
    state = open_state(palace.paths)
    if state.commit is None:
        yield palace
        return
    with TemporaryDirectory() as folder:
        changed = _write_changes(palace, state, Path(folder).resolve(), notes)
        hot = fold_segments([*state.hot.segments, *changed])
        yield _Overlaid(palace, Snapshot(state.commit, [hot], rooms=palace.paths.rooms))


def _write_changes(
    palace: Palace, state: CommittedState, root: Path, notes: Mapping[str, bytes | None]
) -> list[Segment]:
    """Write the notes below ``root`` and return the index segment built from them, if any."""
    assert state.commit is not None
    texts = {path: data for path, data in notes.items() if data is not None}
    for path, data in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    context = BuildContext(
        paths=replace(palace.paths, root=root, sources=()),
        config=palace.config,
        embedder=palace.embedder(),
        now_ns=time.time_ns(),
        progress=lambda doing, done, total: None,
        derive=derive,
        fingerprint=state.commit.fingerprint,
    )
    known = KnownVectors(state.segments)
    listing = Listing(read_manifest(palace.paths), {}, "", palace.paths.rooms)
    maker = RowMaker(context, listing, known, lambda file: None)
    files = [
        SourceFile(path, FileStat(len(data), 0, 0, 0), is_cold=False)
        for path, data in texts.items()
    ]
    rows = [_as_old(row, state.hot) for batch in maker.batches(files) for row in batch.rows]
    if not state.commit.dimension:  # an index without vectors
        rows = [replace(row, vectors=row.vectors[:, :0]) for row in rows]
    rows += [tombstone(path) for path, data in notes.items() if data is None]
    if not rows:
        return []
    return [open_segment(root, write_segment(root, rows, state.commit, is_cold=False))]


def _as_old(row: NoteRow, fold: Fold) -> NoteRow:
    """Return a note record with the date of the indexed one: an edit must not make a note newer."""
    if row.path not in fold.paths:
        return row
    old = read_row(fold, fold.paths.index(row.path), kind=CONTENT)
    return replace(row, date=old.date, date_source=old.date_source, stat=old.stat)


class Metabolism(Feature):
    """``Palace.metabolism``: report on, distill, promote and archive notes."""

    report = Verb(take_report)
    distill = Verb(distill)
    promote = Verb(promote)
    eliminate = Verb(eliminate)

"""The metabolism of a palace: report, explain, distill, promote, apply, undo, log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from memory_palace.changes.changing import Outcome, Plan, change_notes, find_note, read_notes
from memory_palace.changes.journal import read_log, read_moves
from memory_palace.changes.logged_change import LoggedChange, digest
from memory_palace.engine import Engine
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.metabolism.assets import KINDS, TELEGRAM, AssetKind, get_kind, kind_of
from memory_palace.metabolism.distill import (
    LEAST_TOKENS,
    MOST_TOKENS,
    NOTHING,
    count_tokens,
    distill_card,
    readable_sources,
    render_telegraph,
)
from memory_palace.metabolism.elimination import Proposal, find_proposals
from memory_palace.metabolism.gates import PromotionGate, is_ripe, reflection_gates
from memory_palace.metabolism.ledger import Ledger, make_ledger
from memory_palace.metabolism.likeness import Cosine
from memory_palace.metabolism.promotion import (
    draft_sections,
    gates_for,
    plan_amendment,
    plan_promotion,
)
from memory_palace.metabolism.rewriting import write_sections
from memory_palace.metabolism.steps import carry_out
from memory_palace.metabolism.vectors import compare_by_vectors
from memory_palace.notes.document import Document, Library
from memory_palace.notes.git import uncommitted
from memory_palace.notes.usage import read_usage
from memory_palace.retrieval.disputes import find_disputes
from memory_palace.workflow.cards import Card, find_card
from memory_palace.workflow.conflict_notes import read_conflicts

_PROMOTABLE = ("project_rooms", "chambers", "reflection_wing/telegrams")


@dataclass(frozen=True, slots=True)
class Report:
    """What is ripe and what is stale, with the evidence counted."""

    undistilled: tuple[Card, ...]
    """Completed cards without a telegraph."""
    ripe: tuple[tuple[str, tuple[PromotionGate, ...]], ...]
    """Notes all of whose gates into the reflection wing are open."""
    proposals: tuple[Proposal, ...]
    uses_log: bool
    """Whether use is logged; without it links and cards alone were counted."""
    compares_vectors: bool
    """Whether there was an index to compare assets by; without it no duplicates are found."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that is counted of one note."""

    path: str
    kind: str
    gates: tuple[PromotionGate, ...]
    proposal: Proposal | None
    worked_in: tuple[str, ...]
    inbound: tuple[str, ...]
    last_use: date | None
    successes: int
    failures: int


def take_report(engine: Engine, *, today: date | None = None) -> Report:
    """Count everything; nothing is written."""
    ledger = take_ledger(engine, read_notes(engine), today=today)
    cosine = _cosine_of(engine)
    return Report(
        tuple(undistilled_cards(ledger)),
        tuple(find_ripe(ledger)),
        tuple(find_proposals(ledger, cosine=cosine or _unknown)),
        ledger.usage.is_logged,
        cosine is not None,
    )


def explain_note(engine: Engine, name: str, *, kind: str | None = None) -> Explanation:
    """Return the gates before a note, and what the rules say of it."""
    wanted = get_kind(kind) if kind is not None else None
    library = read_notes(engine)
    ledger = take_ledger(engine, library)
    path = find_note(library, name).path
    document = ledger.documents[path]
    if wanted is None and kind_of(document) not in (None, TELEGRAM):
        wanted = KINDS["constitution"]  # the tier above
    proposals = find_proposals(ledger, cosine=_cosine_of(engine) or _unknown)
    own = kind_of(document)
    successes, failures = ledger.record(path)
    return Explanation(
        path,
        own.name if own else "note",
        tuple(gates_for(ledger, path, wanted, sections={})),
        next((p for p in proposals if path in (p.path, p.other)), None),
        tuple(card.path for card in ledger.worked_in(path)),
        tuple(ledger.inbound(path)),
        ledger.last_use(path),
        successes,
        failures,
    )


def distill(
    engine: Engine,
    name: str,
    *,
    model: str | None = None,
    apply: bool = False,
    today: date | None = None,
) -> Outcome:
    """Write the telegraph of a completed card."""

    def plan(library: Library) -> Plan:
        ledger = take_ledger(engine, library, today=today)
        card = find_card(list(ledger.cards.values()), name)
        return plan_distill(ledger, card, model=model)

    return change_notes(engine, plan, command="metabolism", apply=apply)


def plan_distill(ledger: Ledger, card: Card, *, model: str | None = None) -> Plan:
    """Return the telegraph of a card, extracted, or written by a model from the same sources."""
    day = ledger.today.isoformat()
    if model is None:
        telegraph = distill_card(ledger, card)
        counted = f"{telegraph.tokens} tokens of {telegraph.source_tokens}"
        parts: Mapping[str, str] = telegraph.parts
        sources = telegraph.sources
        counted += "".join(f"; nothing found for {name}" for name in telegraph.missing)
    else:
        if card.state != "completed":
            raise CheckFailedError(
                f"{card.path} is {card.state}; only completed cards are distilled"
            )
        documents = readable_sources(ledger, card)
        rules = (
            f"Use {LEAST_TOKENS} to {MOST_TOKENS * 3 // 4} tokens in all. Where the notes say "
            f"nothing for a heading, write: {NOTHING}\n"
        )
        parts = write_sections(model, documents, TELEGRAM.sections, what="a telegraph", rules=rules)
        tokens = count_tokens(parts)
        if not LEAST_TOKENS <= tokens <= MOST_TOKENS:
            raise CheckFailedError(
                f"{model} wrote {tokens} tokens, {LEAST_TOKENS} to {MOST_TOKENS} are asked for; "
                "ask it again, or distill without --model"
            )
        sources = tuple(document.path for document in documents)
        counted = f"{tokens} tokens, written by {model}"
    note = render_telegraph(card, parts, today=day, by_model=model)
    evidence = (f"distill {card.path}: {counted}", *(f"read {path}" for path in sources))
    return Plan([note], f"distill {card.path}", evidence)


def promote(
    engine: Engine,
    name: str,
    kind: str,
    *,
    sections: Mapping[str, str] | None = None,
    decided_by: str | None = None,
    model: str | None = None,
    apply: bool = False,
    allow_uncommitted: bool = False,
    today: date | None = None,
) -> Outcome:
    """Compile a note into an asset; with ``decided_by`` make a candidate a rule.

    ``kind`` is one of ``assets.KINDS``; ``sections`` are texts by heading. Raise ``UsageError``
    for an unknown kind, ``CheckFailedError`` where a gate is closed.
    """
    asset = get_kind(kind)
    if decided_by is not None and asset.name != "constitution":
        raise UsageError("a person's decision makes a rule of the constitution; name that kind")

    def plan(library: Library) -> Plan:
        ledger = take_ledger(engine, library, today=today)
        path = find_note(library, name).path
        day = ledger.today.isoformat()
        if decided_by is not None:
            done = plan_amendment(
                ledger, path, decided_by=decided_by, agents=_agents(library), today=day
            )
            return Plan(done.change, f"amend the constitution by {path}", done.evidence)
        written = dict(sections or {})
        if model is not None:
            written = _write_missing(ledger, path, asset, written, model)
        done = plan_promotion(ledger, path, asset, sections=written, today=day)
        return Plan(done.change, f"promote {path} as {asset.name}", done.evidence)

    return change_notes(
        engine, plan, command="metabolism", apply=apply, allow_uncommitted=allow_uncommitted
    )


def eliminate(
    engine: Engine,
    *,
    apply: bool = False,
    allow_uncommitted: bool = False,
    today: date | None = None,
) -> Outcome:
    """Carry out what the rules propose and nothing holds up, in one change."""
    cosine = _cosine_of(engine)

    def plan(library: Library) -> Plan:
        ledger = take_ledger(engine, library, today=today)
        proposals = find_proposals(ledger, cosine=cosine or _unknown)
        steps = carry_out(ledger, proposals, today=ledger.today.isoformat())
        reason = f"reverse elimination: {len(steps.evidence)} steps"
        return Plan(steps.change, reason, steps.evidence, steps.redirects)

    return change_notes(
        engine, plan, command="metabolism", apply=apply, allow_uncommitted=allow_uncommitted
    )


def read_changes(engine: Engine, *, every_command: bool = False) -> list[LoggedChange]:
    """Return what was changed, oldest first."""
    log = read_log(engine.paths)
    return [entry for entry in log if every_command or entry.command == "metabolism"]


def take_ledger(engine: Engine, library: Library, *, today: date | None = None) -> Ledger:
    """Gather everything that is counted."""
    documents = library.documents
    log = read_log(engine.paths)
    disputes = find_disputes(engine.paths.root)
    conflicts = read_conflicts(documents.values())
    return make_ledger(
        documents,
        usage=read_usage(engine.paths.logs, read_moves(engine.paths)),
        today=today or datetime.now(UTC).date(),
        disputed=disputes,
        uncommitted=_foreign_edits(engine, documents, log),
        settled=[frozenset(conflict.parties) for conflict in conflicts],
    )


def undistilled_cards(ledger: Ledger) -> list[Card]:
    """Return completed cards in the corridor that no telegraph names."""
    told = {d.text("corridor_card") for d in ledger.documents.values() if kind_of(d) is TELEGRAM}
    return [
        card
        for card in ledger.cards.values()
        if card.state == "completed"
        and not card.is_archived
        and not {card.document.stem, card.task_id} & told
    ]


def find_ripe(ledger: Ledger) -> list[tuple[str, tuple[PromotionGate, ...]]]:
    """Return the notes that may be compiled and have not been."""
    found = []
    for path, document in ledger.documents.items():
        if document.is_cold or document.texts("promoted_to"):
            continue
        if path.removeprefix("palace/").startswith(tuple(f"{p}/" for p in _PROMOTABLE)):
            gates = tuple(reflection_gates(ledger, path))
            if is_ripe(gates) and not path.endswith("/index.md"):
                found.append((path, gates))
    return found


def _write_missing(
    ledger: Ledger, path: str, kind: AssetKind, given: Mapping[str, str], model: str
) -> dict[str, str]:
    missing = kind.missing(draft_sections(ledger, path, kind, sections=given))
    if not missing:
        return dict(given)
    documents = [ledger.documents[path], *(c.document for c in ledger.worked_in(path))]
    return {**write_sections(model, documents, missing, what=f"a {kind.type}"), **given}


def _foreign_edits(
    engine: Engine, documents: Mapping[str, Document], log: list[LoggedChange]
) -> list[str]:
    """Return notes that git knows otherwise, unless the last logged change wrote them so."""
    ours = {path: wanted for entry in log for path, wanted in entry.digests.items()}
    changed = uncommitted(engine.paths.root, list(documents))
    return [path for path in changed if digest(documents[path].data) != ours.get(path)]


def _cosine_of(engine: Engine) -> Cosine | None:
    """Return what compares two notes, where there is an index with vectors."""
    if not engine.paths.commit.exists():
        return None
    snapshot = engine.snapshot()
    return compare_by_vectors(snapshot) if snapshot.commit.dimension else None


def _unknown(first: str, second: str) -> float | None:
    return None


def _agents(library: Library) -> set[str]:
    """Return the names of the agents: the folders of the chambers, without their numbers."""
    folders = {p.split("/")[2] for p in library.documents if p.startswith("palace/chambers/")}
    return {folder.lstrip("0123456789").lstrip("_- ").removesuffix(".md") for folder in folders}

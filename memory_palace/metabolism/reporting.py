"""What metabolism counts of a palace, shown without changing anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from memory_palace.changes.changing import find_note, read_notes
from memory_palace.engine import Engine
from memory_palace.metabolism.assets import KINDS, TELEGRAM, get_kind, has_filler, kind_of
from memory_palace.metabolism.elimination import Elimination
from memory_palace.metabolism.gates import PromotionGate, is_ripe, reflection_gates
from memory_palace.metabolism.guarding import propose
from memory_palace.metabolism.ledger import Ledger, take_ledger
from memory_palace.metabolism.likeness import has_vectors
from memory_palace.metabolism.promotion import gates_for
from memory_palace.workflow.cards import Card

_PROMOTABLE = ("project_rooms", "chambers", "reflection_wing/telegrams")


@dataclass(frozen=True, slots=True)
class Report:
    """What is ripe and what is stale, with the evidence counted."""

    undistilled: tuple[Card, ...]
    """Completed cards without a telegraph."""
    filled: tuple[str, ...]
    """Notes with the sentence that older versions wrote where they had found nothing."""
    ripe: tuple[tuple[str, tuple[PromotionGate, ...]], ...]
    """Notes all of whose gates into the reflection wing are open."""
    proposals: tuple[Elimination, ...]
    usage_since: date | None
    """Since when use is logged; ``None`` where it is not."""
    tells_disuse: bool
    """Whether it is logged for long enough; before that no note is called unused."""
    compares_vectors: bool
    """Whether there was an index to compare assets by; without it no duplicates are found."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that is counted of one note."""

    path: str
    kind: str
    gates: tuple[PromotionGate, ...]
    proposal: Elimination | None
    worked_in: tuple[str, ...]
    inbound: tuple[str, ...]
    last_use: date | None
    successes: int
    failures: int


def take_report(engine: Engine, *, today: date | None = None) -> Report:
    """Count everything; nothing is written."""
    ledger = take_ledger(engine, read_notes(engine), today=today)
    return Report(
        tuple(undistilled_cards(ledger)),
        tuple(path for path, d in ledger.documents.items() if not d.is_cold and has_filler(d)),
        tuple(find_ripe(ledger)),
        tuple(propose(engine, ledger)),
        ledger.usage.began,
        ledger.tells_disuse,
        has_vectors(engine),
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
    proposals = propose(engine, ledger)
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


def undistilled_cards(ledger: Ledger) -> list[Card]:
    """Return completed cards in the corridor that no telegraph names."""
    distilled = {
        d.text("corridor_card") for d in ledger.documents.values() if kind_of(d) is TELEGRAM
    }
    return [
        card
        for card in ledger.cards.values()
        if card.state == "completed"
        and not card.is_archived
        and not {card.document.stem, card.task_id} & distilled
    ]


def find_ripe(ledger: Ledger) -> list[tuple[str, tuple[PromotionGate, ...]]]:
    """Return the notes that may be compiled and have not been."""
    found = []
    for path, document in ledger.documents.items():
        if document.is_cold or document.texts("promoted_to"):
            continue
        if document.place.startswith(tuple(f"{p}/" for p in _PROMOTABLE)):
            gates = tuple(reflection_gates(ledger, path))
            if is_ripe(gates) and not path.endswith("/index.md"):
                found.append((path, gates))
    return found

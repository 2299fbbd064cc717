"""Promotion as gates that explain themselves: each says what it counted and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_palace.embedding.llm_models import estimate_tokens
from memory_palace.features.metabolism.assets import TELEGRAM, kind_of
from memory_palace.features.metabolism.distill import MOST_TOKENS
from memory_palace.features.metabolism.ledger import Ledger, field_date
from memory_palace.markdown.markup import Markup
from memory_palace.notes.document import Document

LEAST_TASKS = 2
LEAST_USES = 3
"""Uses asked for where they are logged."""
LEAST_SUCCESS = 0.8
"""The share of successes must be above it."""
LEAST_ROOMS = 2
LEAST_DAYS = 90
"""Days that a rule must have held before it may become part of the constitution."""
_UNTRUSTED = frozenset(
    "untrusted agent web external import imported chat transcript llm model generated "
    "scraped".split()
)


@dataclass(frozen=True, slots=True)
class PromotionGate:
    """One condition, what was counted for it, and by which notes."""

    name: str
    is_open: bool
    counted: str
    evidence: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: {self.counted}"


def reflection_gates(ledger: Ledger, path: str) -> list[PromotionGate]:
    """Return the conditions under which a note may be compiled into the reflection wing."""
    return [
        _worked(ledger, path),
        *_tells_what_follows(ledger.documents[path]),
        _compressible(ledger.documents[path]),
        _lowers_cost(ledger, path),
        *_always(ledger, path),
    ]


def constitution_gates(ledger: Ledger, path: str, *, cost_of_deviation: str) -> list[PromotionGate]:
    """Return the four tests of a constitution candidate, and what holds for every promotion."""
    document = ledger.documents[path]
    cards = ledger.worked_in(path)
    rooms = sorted({card.document.text("project") for card in cards} - {""})
    day = field_date(document, "date")
    age = None if day is None else (ledger.today - day).days
    return [
        _worked(ledger, path),
        PromotionGate(
            "deviating is costly",
            bool(cost_of_deviation.strip()),
            "the cost is stated"
            if cost_of_deviation.strip()
            else 'the cost of deviating is missing; add --section "Cost of deviation=…"',
        ),
        PromotionGate(
            "a long-term default",
            age is not None and age >= LEAST_DAYS and document.text("status") != "stale",
            f"{'undated' if age is None else f'{age} days old'}, {LEAST_DAYS} needed"
            + (", and stale" if document.text("status") == "stale" else ""),
        ),
        PromotionGate(
            "not a local trick",
            len(rooms) >= LEAST_ROOMS,
            f"worked in {len(rooms)} project rooms, {LEAST_ROOMS} needed",
            tuple(rooms),
        ),
        *_always(ledger, path),
    ]


def _worked(ledger: Ledger, path: str) -> PromotionGate:
    cards = ledger.worked_in(path)
    return PromotionGate(
        "worked in several tasks",
        len(cards) >= LEAST_TASKS,
        f"linked with {len(cards)} completed cards, {LEAST_TASKS} needed",
        tuple(card.path for card in cards),
    )


def _tells_what_follows(document: Document) -> list[PromotionGate]:
    """Ask a telegraph for the two parts that carry over; other notes have no parts."""
    if kind_of(document) is not TELEGRAM:
        return []
    needed = ("Working solution", "Principle")
    absent = [name for name in needed if not document.section(name).strip()]
    counted = f"no {' and no '.join(absent)}" if absent else "both are there"
    return [PromotionGate("tells what worked and what follows", not absent, counted)]


def _compressible(document: Document) -> PromotionGate:
    markup = Markup(document.body)
    lines = zip(markup.without_headings().split("\n"), markup.fenced, strict=True)
    tokens = estimate_tokens("\n".join(line for line, is_code in lines if not is_code).strip())
    return PromotionGate(
        "compressible",
        0 < tokens <= MOST_TOKENS,
        f"{tokens} tokens, at most {MOST_TOKENS}",
    )


def _lowers_cost(ledger: Ledger, path: str) -> PromotionGate:
    """Count successes and failures; where use is logged, uses as well."""
    successes, failures = ledger.record(path)
    share = successes / (successes + failures) if successes + failures else 0.0
    is_open = share > LEAST_SUCCESS
    counted = f"{successes} successes, {failures} failures, more than {LEAST_SUCCESS:.0%} needed"
    if ledger.tells_disuse:
        uses = ledger.usage.count(path) + len(ledger.worked_in(path))
        is_open = is_open and uses >= LEAST_USES
        counted += f"; used {uses} times, {LEAST_USES} needed"
    else:
        counted += "; use is not logged for 90 days yet, so links and cards alone are counted"
    return PromotionGate("lowers cost or error", is_open, counted)


def _always(ledger: Ledger, path: str) -> list[PromotionGate]:
    document = ledger.documents[path]
    origins = [(d, why) for d in (document, *ledger.sources(path)) if (why := _distrust(d))]
    reopened = ledger.reopened_sources(path)
    is_finished = not reopened and not ledger.is_open_card(path)
    return [
        PromotionGate(
            "trusted origin",
            not origins,
            "nothing counts against it" if not origins else "; ".join(w for _, w in origins),
            tuple(d.path for d, _ in origins),
        ),
        PromotionGate(
            "finished work",
            is_finished,
            "no card it was made from is open"
            if is_finished
            else "a card it was made from is not completed",
            tuple(reopened),
        ),
        PromotionGate(
            "undisputed",
            path not in ledger.disputed,
            "not party to an open conflict"
            if path not in ledger.disputed
            else "party to an open conflict; resolve that first",
        ),
    ]


def _distrust(document: Document) -> str:
    """Return why a note's origin is not trusted; empty where it is."""
    for key in ("origin", "trust"):
        if document.text(key).casefold() in _UNTRUSTED:
            return f"{key}: {document.text(key)}"
    if document.fields.get("trusted") is False or document.fields.get("untrusted") is True:
        return "says it is untrusted"
    return ""


def is_ripe(gates: Sequence[PromotionGate]) -> bool:
    """Whether every gate is open."""
    return all(gate.is_open for gate in gates)

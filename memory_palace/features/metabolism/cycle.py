"""The verbs of metabolism: report, distill, promote, eliminate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from memory_palace.changes.changing import Outcome, Plan, change_notes, find_note, read_notes
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.features.metabolism.assets import TELEGRAM, get_kind, kind_of
from memory_palace.features.metabolism.distill import (
    distill_card,
    draft_telegraph,
    render_telegraph,
)
from memory_palace.features.metabolism.elimination import Elimination
from memory_palace.features.metabolism.gates import PromotionGate, is_ripe, reflection_gates
from memory_palace.features.metabolism.ledger import Ledger, take_ledger
from memory_palace.features.metabolism.likeness import has_vectors
from memory_palace.features.metabolism.promotion import plan_amendment, plan_promotion
from memory_palace.features.metabolism.steps import carry_out, check_promotion, propose
from memory_palace.features.tasks.cards import Card, find_card
from memory_palace.notes.document import Library
from memory_palace.notes.usage import KNOWN_AFTER_DAYS
from memory_palace.shown import Shown

_PROMOTABLE = ("project_rooms/", "chambers/", "reflection_wing/telegrams/")


@dataclass(frozen=True, slots=True)
class RipeNote:
    """A note all of whose gates into the reflection wing are open."""

    path: str
    gates: tuple[PromotionGate, ...]


@dataclass(frozen=True, slots=True)
class Report(Shown):
    """What is ripe and what is stale, with the evidence counted."""

    undistilled: tuple[str, ...]
    """Paths of completed cards without a telegraph."""
    ripe: tuple[RipeNote, ...]
    proposals: tuple[Elimination, ...]
    usage_since: date | None
    """Since when use is logged; ``None`` where it is not."""
    tells_disuse: bool
    """Whether it is logged for long enough; before that no note is called unused."""
    by_meaning: bool
    """Whether there were vectors to compare assets by; without them no duplicates are found."""

    def lines(self) -> Iterable[str]:
        """Return a line for each finding, and its evidence."""
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
        """Return what could not be counted."""
        if as_json:
            return
        if self.usage_since is None:
            yield (
                "no use is logged yet, so no note is called unused; see usage_log in palace.yaml"
            )
        elif not self.tells_disuse:
            yield (
                f"use is logged since {self.usage_since}; before it is logged for "
                f"{KNOWN_AFTER_DAYS} days no note is called unused"
            )
        if not self.by_meaning:
            yield "there are no vectors to compare notes by, so duplicates were not looked for"


def take_report(engine: Engine, *, today: date | None = None) -> Report:
    """Count everything; nothing is written."""
    ledger = take_ledger(engine, read_notes(engine), today=today)
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
        tuple(propose(engine, ledger)),
        ledger.usage.began,
        ledger.tells_disuse,
        has_vectors(engine),
    )


def _find_ripe(ledger: Ledger) -> Iterator[RipeNote]:
    """Yield the notes that may be compiled and have not been."""
    for path, document in ledger.documents.items():
        if document.is_cold or document.texts("promoted_to") or path.endswith("/index.md"):
            continue
        if document.place.startswith(_PROMOTABLE):
            gates = tuple(reflection_gates(ledger, path))
            if is_ripe(gates):
                yield RipeNote(path, gates)


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
        return plan_distill(ledger, find_card(list(ledger.cards.values()), name), model=model)

    return change_notes(engine, plan, command="metabolism", apply=apply)


def plan_distill(ledger: Ledger, card: Card, *, model: str | None = None) -> Plan:
    """Return the telegraph of a card, extracted, or written by a model and checked."""
    found = draft_telegraph(ledger, card, model) if model else distill_card(ledger, card)
    counted = f"{found.tokens} tokens of {found.card_tokens}"
    return Plan(
        [render_telegraph(card, found, ledger, by_model=model)],
        f"distill {card.path}",
        (
            f"distill {card.path}: {counted}" + (f", written by {model}" if model else ""),
            *(f"nothing found for {name}" for name in found.missing),
            *(f"read {path}" for path in found.sources if path != card.path),
            *(f"left out: {' '.join(text.split())}" for text in found.left_out),
        ),
    )


def promote(
    engine: Engine,
    name: str,
    kind: str,
    *,
    sections: Mapping[str, str] | None = None,
    decided_by: str | None = None,
    apply: bool = False,
    today: date | None = None,
) -> Outcome:
    """Compile a note into an asset; with ``decided_by`` make a candidate a rule.

    ``kind`` is one of ``assets.KINDS``; ``sections`` are texts by heading. Raise ``UsageError``
    for an unknown kind, ``CheckFailedError`` where a gate is closed or a golden question would
    lose its answer.
    """
    asset = get_kind(kind)
    if decided_by is not None and asset.name != "constitution":
        raise UsageError(
            "--decided-by is for rules of the constitution; use the kind `constitution`"
        )

    def plan(library: Library) -> Plan:
        ledger = take_ledger(engine, library, today=today)
        path = find_note(library, name).path
        if decided_by is not None:
            deciders = engine.config.deciders
            return plan_amendment(ledger, path, decided_by=decided_by, deciders=deciders)
        planned = plan_promotion(ledger, path, asset, sections=sections or {})
        check_promotion(engine, planned, path)
        return planned

    return change_notes(engine, plan, command="metabolism", apply=apply)


def eliminate(engine: Engine, *, apply: bool = False, today: date | None = None) -> Outcome:
    """Carry out what the rules propose and nothing holds up, in one change."""

    def plan(library: Library) -> Plan:
        ledger = take_ledger(engine, library, today=today)
        return carry_out(ledger, propose(engine, ledger))

    return change_notes(engine, plan, command="metabolism", apply=apply)

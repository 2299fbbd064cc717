"""The verbs of metabolism that change notes: distill, promote, eliminate."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from memory_palace.changes.changing import Outcome, Plan, change_notes, find_note
from memory_palace.changes.operations import Replace
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.metabolism.assets import TELEGRAM, AssetKind, get_kind, has_filler, kind_of
from memory_palace.metabolism.distill import distill_card, render_telegraph
from memory_palace.metabolism.guarding import check_promotion, propose
from memory_palace.metabolism.ledger import Ledger, take_ledger
from memory_palace.metabolism.promotion import (
    draft_sections,
    plan_amendment,
    plan_promotion,
)
from memory_palace.metabolism.steps import carry_out
from memory_palace.metabolism.writing import write_sections, write_telegraph
from memory_palace.notes.document import Document, Library
from memory_palace.workflow.cards import Card, find_card


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
    """Return the telegraph of a card, extracted, or written by a model and checked."""
    telegraph = (
        distill_card(ledger, card) if model is None else write_telegraph(ledger, card, model)
    )
    others = [ledger.documents[path].stem for path in telegraph.sources if path != card.path]
    note = render_telegraph(
        card,
        telegraph.parts,
        ledger.rooms,
        today=ledger.today.isoformat(),
        sources=others,
        by_model=model,
    )
    old = _unfilled_telegraph(ledger, card)
    write = note if old is None else Replace(old.path, old.data, note.data)
    counted = f"{telegraph.tokens} tokens of {telegraph.card_tokens}"
    return Plan(
        [write],
        f"distill {card.path}",
        (
            f"distill {card.path}: {counted}" + (f", written by {model}" if model else ""),
            *(f"nothing found for {name}" for name in telegraph.missing),
            *(f"read {path}" for path in telegraph.sources if path != card.path),
            *(f"left out: {text}" for text in telegraph.left_out),
        ),
    )


def _unfilled_telegraph(ledger: Ledger, card: Card) -> Document | None:
    """Return the card's telegraph that holds the filler of older versions, which is replaced."""
    back = (ledger.documents[path] for path in sorted(ledger.back.get(card.path, ())))
    return next((d for d in back if kind_of(d) is TELEGRAM and has_filler(d)), None)


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
            return plan_amendment(
                ledger, path, decided_by=decided_by, deciders=engine.config.deciders
            )
        written = dict(sections or {})
        if model is not None:
            written = _write_missing(ledger, path, asset, written, model)
        planned = plan_promotion(ledger, path, asset, sections=written)
        check_promotion(engine, planned, path)
        return planned

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

    def plan(library: Library) -> Plan:
        ledger = take_ledger(engine, library, today=today)
        return carry_out(ledger, propose(engine, ledger))

    return change_notes(
        engine, plan, command="metabolism", apply=apply, allow_uncommitted=allow_uncommitted
    )


def _write_missing(
    ledger: Ledger, path: str, kind: AssetKind, given: Mapping[str, str], model: str
) -> dict[str, str]:
    missing = kind.missing(draft_sections(ledger, path, kind, sections=given))
    if not missing:
        return dict(given)
    documents = [ledger.documents[path], *(c.document for c in ledger.worked_in(path))]
    return {**write_sections(model, documents, missing, what=f"a {kind.type}"), **given}

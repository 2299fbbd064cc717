"""Conflicts of a palace: opened with quotes, looked at, decided by a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_palace.changes.changing import Outcome, Plan, change_notes, find_note, read_notes, today
from memory_palace.changes.composing import edit_fields, one_line, record_decision
from memory_palace.changes.operations import Operation, Replace
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.notes.document import Document, Library
from memory_palace.notes.excerpt import split_line_range
from memory_palace.notes.rooms import stem_of
from memory_palace.workflow.conflict_notes import (
    Conflict,
    Quote,
    check_quote,
    find_conflict,
    make_quote,
    plan_open,
    read_conflicts,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A quote, and whether the note still says so."""

    quote: Quote
    standing: str


def open_conflict(
    engine: Engine,
    first: str,
    second: str,
    *,
    title: str = "",
    kind: str = "contradiction",
    raised_by: str,
    evidence: Sequence[str] = (),
    apply: bool = False,
) -> Outcome:
    """Write a conflict of two notes, each perhaps with lines: ``NOTE:12-15``."""

    def plan(library: Library) -> Plan:
        claims = _quote(library, first), _quote(library, second)
        words = title or f"{stem_of(claims[0].path)} or {stem_of(claims[1].path)}"
        note = plan_open(
            claims,
            engine.paths.rooms,
            title=words,
            kind=kind,
            raised_by=raised_by,
            today=today(),
            evidence=evidence,
        )
        return Plan([note], f"open {note.path}", tuple(evidence))

    return change_notes(engine, plan, command="conflict", apply=apply)


def resolve_conflict(
    engine: Engine,
    name: str,
    *,
    winner: str | None = None,
    decision: str,
    by: str,
    apply: bool = False,
    allow_uncommitted: bool = False,
) -> Outcome:
    """Close a conflict; the party that is not the winner is superseded by it."""
    decision = one_line(decision, "the decision")
    by = one_line(by, "the name of the person who decides")

    def plan(library: Library) -> Plan:
        conflict = find_conflict(read_conflicts(library.documents.values()), name)
        if not conflict.is_open:
            raise UsageError(f"{conflict.path} is already {conflict.status}")
        path = find_note(library, winner).path if winner else None
        change: list[Operation] = [_close(conflict, path, decision, by)]
        fields = {"superseded_by": path, "superseded_at": today()}
        change += [edit_fields(loser, fields) for loser in _find_losers(library, conflict, path)]
        return Plan(change, f"resolve {conflict.path}: {decision}", (f"decided by {by}",))

    return change_notes(
        engine, plan, command="conflict", apply=apply, allow_uncommitted=allow_uncommitted
    )


def list_conflicts(engine: Engine, *, include_closed: bool = False) -> list[Conflict]:
    """Return the open conflicts, or all of them."""
    found = read_conflicts(read_notes(engine).documents.values())
    return [conflict for conflict in found if include_closed or conflict.is_open]


def show_conflict(engine: Engine, name: str) -> tuple[Conflict, list[Claim]]:
    """Return a conflict and whether its parties still say what was quoted."""
    library = read_notes(engine)
    conflict = find_conflict(read_conflicts(library.documents.values()), name)
    claims = [
        Claim(quote, check_quote(library.documents.get(quote.path), quote))
        for quote in conflict.quotes
    ]
    return conflict, claims


def _find_losers(library: Library, conflict: Conflict, winner: str | None) -> list[Document]:
    """Return the other party; nothing without a winner, or where a note disputes itself."""
    if winner is None:
        return []
    if winner not in conflict.parties:
        listed = "".join(f"\n  {party}" for party in conflict.parties)
        raise UsageError(f"{winner} is not a party of {conflict.path}; its parties are:{listed}")
    losers = [party for party in conflict.parties if party != winner]
    if len(losers) > 1:
        raise UsageError(
            f"{conflict.path} has more than two parties; open one conflict for each pair"
        )
    for path in losers:
        if path not in library.documents:
            raise UsageError(f"{path} cannot be read; correct the parties of {conflict.path}")
    return [library.documents[path] for path in losers]


def _close(conflict: Conflict, winner: str | None, decision: str, by: str) -> Replace:
    """Write who decided what; without a winner both parties stay as they are (``wontfix``)."""
    status = "resolved" if winner else "wontfix"
    closed = {
        "status": status,
        "winner": winner,
        "resolution": decision,
        "resolved_by": by,
        "resolved_at": today(),
    }
    edited = edit_fields(conflict.document, closed)
    words = f"{status.capitalize()} by {by}, {today()}. {decision}"
    return replace(edited, after=record_decision(edited.path, edited.after, words))


def _quote(library: Library, text: str) -> Quote:
    name, first, last = split_line_range(text)
    return make_quote(find_note(library, name), first_line=first, last_line=last)

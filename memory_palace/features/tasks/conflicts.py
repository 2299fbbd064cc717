"""Conflicts of a palace: opened with quotes, looked at, decided by a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_palace.changes.changing import Outcome, Plan, change_notes, find_note, read_notes, today
from memory_palace.changes.composing import edit_fields, one_line, record_decision
from memory_palace.changes.operations import Replace
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.features.tasks.conflict_notes import (
    Conflict,
    Quote,
    check_quote,
    find_conflict,
    make_quote,
    plan_open,
    read_conflicts,
)
from memory_palace.features.tasks.losing import (
    Place,
    find_losing,
    holds_nothing_else,
    quote_contradictions,
)
from memory_palace.notes.document import Document, Library
from memory_palace.notes.excerpt import split_line_range
from memory_palace.notes.frontmatter import set_fields
from memory_palace.notes.reading import decode_note
from memory_palace.notes.rooms import stem_of
from memory_palace.notes.superseding import Decision, find_claims, find_words, mark_claim


@dataclass(frozen=True, slots=True)
class Claim(Quote):
    """A quote, and whether the note still says so."""

    standing: str = ""


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
        claims = _quote_both(library, first, second)
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
    line: str | None = None,
    whole: bool = False,
    apply: bool = False,
) -> Outcome:
    """Close a conflict: what lost gets a line below it that says so.

    ``winner`` is a party, or of two places in one note the one that is right: ``NOTE:12``. ``line``
    says what lost where the conflict does not; ``whole`` supersedes all of the note.
    """
    decision = one_line(decision, "the decision")
    by = one_line(by, "the name of the person who decides")

    def plan(library: Library) -> Plan:
        conflict = find_conflict(read_conflicts(library.documents.values()), name)
        if not conflict.is_open:
            raise UsageError(f"{conflict.path} is already {conflict.status}")
        if winner is None:
            closing = _close(conflict, None, decision, by)
            return Plan([closing], _summary(conflict, decision), (f"decided by {by}",))
        sides = _find_sides(library, conflict, winner)
        mark = Decision(today(), decision, by, _link(library, sides.winner.path))
        quotes = sides.lost, sides.won
        places: list[Place] = []
        if not whole:
            places = find_losing(conflict, sides.loser, sides.winner, quotes, lines=line)
        closing = _close(conflict, sides.winner.path, decision, by)
        return _plan_loss(sides, places, mark, closing, _summary(conflict, decision))

    return change_notes(engine, plan, command="conflict", apply=apply)


def _summary(conflict: Conflict, decision: str) -> str:
    return f"resolve {conflict.path}: {decision}"


def list_conflicts(engine: Engine, *, include_closed: bool = False) -> list[Conflict]:
    """Return the open conflicts, or all of them."""
    found = read_conflicts(read_notes(engine).documents.values())
    return [conflict for conflict in found if include_closed or conflict.is_open]


def show_conflict(engine: Engine, name: str) -> tuple[Conflict, list[Claim]]:
    """Return a conflict and whether its parties still say what was quoted."""
    library = read_notes(engine)
    conflict = find_conflict(read_conflicts(library.documents.values()), name)
    claims = [
        Claim(
            *(q.path, q.first_line, q.last_line, q.digest, q.text),
            check_quote(library.documents.get(q.path), q),
        )
        for q in conflict.quotes
    ]
    return conflict, claims


@dataclass(frozen=True, slots=True)
class _Sides:
    """Who won, who lost, and what was quoted of either."""

    winner: Document
    loser: Document
    won: Quote | None = None
    lost: Quote | None = None


def _find_sides(library: Library, conflict: Conflict, winner: str) -> _Sides:
    """Return the sides of a conflict. Raise ``UsageError`` where they are not two."""
    name, line, _ = split_line_range(winner)
    path = find_note(library, name).path
    listed = "".join(f"\n  {party}" for party in conflict.parties)
    if path not in conflict.parties:
        raise UsageError(f"{path} is not a party of {conflict.path}; its parties are:{listed}")
    if len(conflict.parties) > 2:
        raise UsageError(
            f"{conflict.path} has more than two parties; open one conflict for each pair"
        )
    for party in conflict.parties:
        if party not in library.documents:
            raise UsageError(f"{party} cannot be read; correct the parties of {conflict.path}")
    own = [quote for quote in conflict.quotes if quote.path == path]
    if len(conflict.parties) == 1:
        won = [q for q in own if line is not None and q.first_line <= line <= q.last_line]
        if len(won) != 1 or len(own) != 2:
            raise UsageError(
                f"both claims are in {path}; say which line is right, such as "
                f"--winner '{path}:{own[0].first_line if own else 12}'"
            )
        lost = next(quote for quote in own if quote is not won[0])
        return _Sides(library.documents[path], library.documents[path], won[0], lost)
    loser = next(party for party in conflict.parties if party != path)
    other = [quote for quote in conflict.quotes if quote.path == loser]
    quotes = own[0] if len(own) == 1 else None, other[0] if len(other) == 1 else None
    return _Sides(library.documents[path], library.documents[loser], *quotes)


def _supersede(loser: Document, places: Sequence[Place], mark: Decision, heir: str) -> Replace:
    """Mark what lost, and the note itself where it holds nothing else; no places are all of it."""
    data = loser.data
    known = find_claims(decode_note(data, loser.path)[0])
    for start, end in sorted(places, reverse=True):  # from below, so that places above stay
        if any(each.start < end and start < each.end for each in known):
            continue
        data = mark_claim(loser.path, data, (start, end), mark)
    if not places or (loser.path != heir and holds_nothing_else(loser, data)):
        fields = {"superseded_by": heir, "superseded_at": mark.day}
        data = set_fields(loser.path, data, fields)
    return Replace(loser.path, loser.data, data)


def _plan_loss(
    sides: _Sides, places: Sequence[Place], mark: Decision, closing: Replace, words: str
) -> Plan:
    """Return the change, also of the quotation in the conflict, which may be cited as a source."""
    text = decode_note(sides.loser.data, sides.loser.path)[0]
    said = [text[start:end] for start, end in places]
    for claim in said if sides.lost else ():
        record = decode_note(closing.after, closing.path)[0]
        head = record.find(f"sha256:{sides.lost.digest}") if sides.lost else -1
        place = find_words(record, claim, head) if head >= 0 else None
        if place:
            after = mark_claim(closing.path, closing.after, place, mark)
            closing = replace(closing, after=after)
    loss = _supersede(sides.loser, places, mark, sides.winner.path)
    named = (f"superseded in {sides.loser.path}: {one_line(each, 'it')}" for each in said)
    return Plan([closing, loss], words, (f"decided by {mark.decided_by}", *named))


def _link(library: Library, path: str) -> str:
    """Return the shortest target of a link that leads to one note alone."""
    stem = stem_of(path)
    same = [other for other in library.documents if stem_of(other).casefold() == stem.casefold()]
    return stem if len(same) == 1 else path.removesuffix(".md")


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


def _quote_both(library: Library, first: str, second: str) -> tuple[Quote, Quote]:
    """Quote the lines that are named; of two whole notes, what contradicts each other in them."""
    one, other = _quote(library, first), _quote(library, second)
    if split_line_range(first)[1] or split_line_range(second)[1] or one.path == other.path:
        return one, other
    documents = library.documents[one.path], library.documents[other.path]
    found = quote_contradictions(*documents)
    if found is None:
        return one, other
    places = zip(documents, (found.first, found.second), strict=True)
    quotes = [make_quote(d, first_line=p.first_line, last_line=p.last_line) for d, p in places]
    return quotes[0], quotes[1]


def _quote(library: Library, text: str) -> Quote:
    name, first, last = split_line_range(text)
    return make_quote(find_note(library, name), first_line=first, last_line=last)

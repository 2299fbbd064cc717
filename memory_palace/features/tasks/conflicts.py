"""Conflicts of a palace: opened with quotes, looked at, decided by a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_palace.changes.changing import Outcome, Plan, change_notes, find_note, read_notes, today
from memory_palace.changes.composing import edit_fields, one_line, record_decision
from memory_palace.changes.journal import Replace
from memory_palace.errors import UsageError
from memory_palace.features.checking.checker import Passage
from memory_palace.features.checking.contradictions import BESIDES, find_contradictions
from memory_palace.features.tasks.conflict_notes import (
    Conflict,
    Quote,
    check_quote,
    find_conflict,
    make_quote,
    plan_open,
    read_conflicts,
)
from memory_palace.language.sentences import split_sentences
from memory_palace.markdown.markup import Markup
from memory_palace.notes.document import Document, Library, set_fields
from memory_palace.notes.note import decode_note, split_line_range, stem_of
from memory_palace.notes.superseding import (
    Decision,
    blank_claims,
    content_of,
    count_words,
    find_claims,
    find_words,
    lines_of,
    mark_claim,
)
from memory_palace.palace import Feature, Palace, Verb

Place = tuple[int, int]
"""From and to where something stands in the decoded text of a note."""


def open_conflict(
    palace: Palace,
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
            palace.paths.rooms,
            title=words,
            kind=kind,
            raised_by=raised_by,
            today=today(),
            evidence=evidence,
        )
        return Plan([note], f"open {note.path}", tuple(evidence))

    return change_notes(palace, plan, command="conflict", apply=apply)


def resolve_conflict(
    palace: Palace,
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

    ``winner`` is a party. ``line`` says what lost where the conflict does not; ``whole`` supersedes
    all of the note.
    """
    decision = one_line(decision, "the decision")
    by = one_line(by, "the name of the person who decides")

    def plan(library: Library) -> Plan:
        conflict = find_conflict(read_conflicts(library.documents.values()), name)
        if not conflict.is_open:
            raise UsageError(f"{conflict.path} is already {conflict.status}")
        summary = f"resolve {conflict.path}: {decision}"
        if winner is None:
            closing = _close(conflict, None, decision, by)
            return Plan([closing], summary, (f"decided by {by}",))
        sides = _find_sides(library, conflict, winner)
        mark = Decision(today(), decision, by, _link(library, sides.winner.path))
        quotes = sides.lost, sides.won
        places: list[Place] = []
        if not whole:
            places = find_losing(sides.loser, sides.winner, quotes, lines=line)
        closing = _close(conflict, sides.winner.path, decision, by)
        return _plan_loss(sides, places, mark, closing, summary)

    return change_notes(palace, plan, command="conflict", apply=apply)


def list_conflicts(palace: Palace, *, include_closed: bool = False) -> list[Conflict]:
    """Return the open conflicts, or all of them."""
    found = read_conflicts(read_notes(palace).documents.values())
    return [conflict for conflict in found if include_closed or conflict.is_open]


def show_conflict(palace: Palace, name: str) -> tuple[Conflict, list[Quote]]:
    """Return a conflict and whether its parties still say what was quoted."""
    library = read_notes(palace)
    conflict = find_conflict(read_conflicts(library.documents.values()), name)
    claims = [
        replace(quote, standing=check_quote(library.documents.get(quote.path), quote))
        for quote in conflict.quotes
    ]
    return conflict, claims


@dataclass(frozen=True, slots=True)
class _Sides:
    """Winner and loser of a conflict, and the quote of each."""

    winner: Document
    loser: Document
    won: Quote | None = None
    lost: Quote | None = None


def _find_sides(library: Library, conflict: Conflict, winner: str) -> _Sides:
    """Return the sides of a conflict. Raise ``UsageError`` where they are not two."""
    path = find_note(library, winner).path
    listed = "".join(f"\n  {party}" for party in conflict.parties)
    if path not in conflict.parties:
        raise UsageError(f"{path} is not a party of {conflict.path}; its parties are:{listed}")
    if len(conflict.parties) != 2:
        raise UsageError(f"{conflict.path} has not two parties; open one conflict for each pair")
    for party in conflict.parties:
        if party not in library.documents:
            raise UsageError(f"{party} cannot be read; correct the parties of {conflict.path}")
    loser = next(party for party in conflict.parties if party != path)
    quotes = {quote.path: quote for quote in conflict.quotes}
    documents = library.documents
    return _Sides(documents[path], documents[loser], quotes.get(path), quotes.get(loser))


def _plan_loss(
    sides: _Sides, places: Sequence[Place], mark: Decision, closing: Replace, words: str
) -> Plan:
    """Mark what lost in its note, and in the quotation of the conflict, which may be cited.

    The note itself is superseded where it holds nothing else; no places are all of it.
    """
    loser, data = sides.loser, sides.loser.data
    text = decode_note(data, loser.path)[0]
    said = [text[start:end] for start, end in places]
    for claim in said if sides.lost else ():
        record = decode_note(closing.after, closing.path)[0]
        head = record.find(f"sha256:{sides.lost.digest}") if sides.lost else -1
        place = find_words(record, claim, head) if head >= 0 else None
        if place:
            after = mark_claim(closing.path, closing.after, place, mark)
            closing = replace(closing, after=after)
    known = find_claims(text)
    for start, end in sorted(places, reverse=True):  # from below, so that places above stay
        if not any(each.start < end and start < each.end for each in known):
            data = mark_claim(loser.path, data, (start, end), mark)
    heir = sides.winner.path
    if not places or holds_nothing_else(loser, data):
        data = set_fields(loser.path, data, {"superseded_by": heir, "superseded_at": mark.day})
    named = (f"superseded in {loser.path}: {one_line(each, 'it')}" for each in said)
    evidence = (f"decided by {mark.decided_by}", *named)
    return Plan([closing, Replace(loser.path, loser.data, data)], words, evidence)


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
    if split_line_range(first)[1] or split_line_range(second)[1]:
        return one, other
    documents = library.documents[one.path], library.documents[other.path]
    found = find_contradictions(list(map(read_statements, documents)), besides=BESIDES)
    if not found:
        return one, other
    places = zip(documents, (found[0].first, found[0].second), strict=True)
    quotes = [make_quote(d, first_line=p.first_line, last_line=p.last_line) for d, p in places]
    return quotes[0], quotes[1]


def _quote(library: Library, text: str) -> Quote:
    name, first, last = split_line_range(text)
    return make_quote(find_note(library, name), first_line=first, last_line=last)


def find_losing(
    loser: Document,
    winner: Document,
    quotes: tuple[Quote | None, Quote | None],
    *,
    lines: str | None = None,
) -> list[Place]:
    """Return what of a note no longer holds, in order.

    That is in the ``lines`` that the person names, else in those that were quoted, found again by
    their text where they moved: of several sentences those that contradict the winner's, all where
    none does. Raise ``UsageError`` where nothing says which lines they are: a whole note is never
    taken for them.
    """
    text = decode_note(loser.data, loser.path)[0]
    lost, won = quotes
    range_ = _named_lines(loser, text, lines) if lines else _quoted_lines(loser, text, lost)
    own = decode_note(winner.data, winner.path)[0]
    other = read_statements(winner, _quoted_lines(winner, own, won))
    if range_ is None:
        if places := _contradicting(text, read_statements(loser), other):
            return places
        raise UsageError(
            f"no sentence of {loser.path} clearly contradicts {winner.path}; say which lines "
            "no longer hold with --line 12-15, or that none does with --whole"
        )
    said = read_statements(loser, range_)
    is_one = len(split_sentences(said.text)) < 2
    places = [] if is_one else _contradicting(text, said, other)
    return places or [content_of(text, *range_)]


def holds_nothing_else(document: Document, data: bytes) -> bool:
    """Whether all that a note says, its headings apart, is marked as superseded."""
    text = decode_note(data, document.path)[0]
    skipped = _head(document, data)
    body = blank_claims(text, find_claims(text))[skipped:]
    return not any(map(str.isalnum, Markup(body).without_headings()))


def _head(document: Document, data: bytes) -> int:
    text = decode_note(data, document.path)[0]
    return Markup(text).starts[document.body_first_line - 1]


def _named_lines(loser: Document, text: str, lines: str) -> tuple[int, int]:
    """Read ``12`` or ``12-15``; return lines counted from 0."""
    _, first, last = split_line_range(f"note:{lines}")
    total = text.count("\n") + 1
    if first is None or last is None or not loser.body_first_line <= first <= last <= total:
        raise UsageError(
            f"{lines!r} names no lines of the text of {loser.path}, which are "
            f"{loser.body_first_line}-{total}"
        )
    return first - 1, last - 1


def _quoted_lines(document: Document, text: str, quote: Quote | None) -> tuple[int, int] | None:
    """Return the lines that were quoted, counted from 0; ``None`` for a whole note, or no quote."""
    if quote is None:
        return None
    first, last = quote.first_line - 1, quote.last_line - 1
    if check_quote(document, quote) != "as quoted":
        head = _head(document, document.data)
        if count_words(text, quote.text, head) != 1:
            raise UsageError(
                f"{document.path} no longer says what was quoted from it; say which lines lost "
                "with --line 12, or open a new conflict"
            )
        found = find_words(text, quote.text, head)
        assert found is not None
        first, last = lines_of(text, found)
    said = [n for n, line in enumerate(text.split("\n")) if any(map(str.isalnum, line))]
    said = [n for n in said if n >= document.body_first_line - 1]
    is_whole = len(said) > 1 and first <= said[0] and said[-1] <= last
    return None if is_whole else (first, last)


def read_statements(document: Document, lines: tuple[int, int] | None = None) -> Passage:
    """Return what a note says, or lines of it, without headings and what is superseded."""
    text = decode_note(document.data, document.path)[0]
    rows = blank_claims(text, find_claims(text)).split("\n")
    first, last = lines or (document.body_first_line - 1, len(rows) - 1)
    kept = "\n".join(rows[first : last + 1])
    kept = Markup(kept).without_headings() if lines is None else kept
    return Passage(document.path, first + 1, last + 1, kept)


def _contradicting(text: str, own: Passage, other: Passage) -> list[Place]:
    found = find_contradictions([own, other], besides=BESIDES)
    return [_place_of(text, each.first) for each in found]


def _place_of(text: str, sentence: Passage) -> Place:
    """Return where a sentence stands; all of its lines where it stands there in other words."""
    starts = Markup(text).starts
    first, last = sentence.first_line - 1, sentence.last_line - 1
    found = find_words(text, sentence.text, starts[first], starts[last + 1])
    return found or content_of(text, first, last)


class Conflicts(Feature):
    """Claims that cannot both be true, in the conflict room."""

    open = Verb(open_conflict)
    list = Verb(list_conflicts)
    show = Verb(show_conflict)
    resolve = Verb(resolve_conflict)

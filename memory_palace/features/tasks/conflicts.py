"""Conflicts: notes quoting two contradicting notes, open until a person decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from memory_palace.changes.changing import Outcome, Plan, change_notes, find_note, read_notes, today
from memory_palace.changes.composing import (
    compose_note,
    edit_fields,
    make_slug,
    one_line,
    record_decision,
)
from memory_palace.changes.journal import Create, Replace
from memory_palace.config import Rooms
from memory_palace.errors import PalaceError, UsageError
from memory_palace.graph.naming import find_called, slug_of
from memory_palace.language.sentences import split_sentences
from memory_palace.language.visible import fence_text
from memory_palace.markdown.markup import Markup
from memory_palace.notes.document import Document, Library, set_fields
from memory_palace.notes.note import decode_note, excerpt, split_line_range, stem_of
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
from memory_palace.shown import Shown, inner

if TYPE_CHECKING:
    from memory_palace.features.checking.checker import Passage
    from memory_palace.features.checking.contradictions import Contradiction

ConflictKind: TypeAlias = Literal["contradiction", "duplicate", "stale", "policy"]
KINDS: tuple[ConflictKind, ...] = get_args(ConflictKind)
ROOM = "conflict_room"
_DIGEST_DIGITS = 16
_QUOTE = re.compile(
    rf"^`(?P<path>[^`\n]+)#L(?P<first>\d+)-L(?P<last>\d+)` "
    rf"sha256:(?P<digest>[0-9a-f]{{{_DIGEST_DIGITS}}})$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Quote:
    """Quoted lines of one party of a conflict, with their text at the time of quoting."""

    path: str
    first_line: int
    last_line: int
    digest: str
    """SHA-256 of the lines as shown, the first 16 hexadecimal digits."""
    text: str = inner(default="")
    standing: str = ""
    """Whether the note still says so, where that was looked up."""


@dataclass(frozen=True, slots=True)
class Conflict(Shown):
    """One conflict, parsed from its note."""

    path: str
    conflict_id: str
    title: str
    status: str
    """``open``, ``resolved`` or ``wontfix``."""
    kind: str
    parties: tuple[str, ...]
    raised_by: str
    raised_at: str
    resolution: str | None
    resolved_by: str | None
    document: Document = inner()
    quotes: tuple[Quote, ...] = inner()
    """Quotes in the note's body; may be empty in a hand-written note."""

    @property
    def is_open(self) -> bool:
        return self.status == "open"

    def lines(self) -> Iterable[str]:
        yield f"{self.path}  {self.status}  {self.kind}"
        yield from (f"party: {party}" for party in self.parties)


def read_conflicts(documents: Iterable[Document]) -> list[Conflict]:
    """Return the notes in the conflict room that name parties, as conflicts."""
    return [
        Conflict(
            path=document.path,
            conflict_id=document.text("conflict_id"),
            title=document.title,
            status=document.text("status") or "open",
            kind=document.text("kind"),
            parties=document.texts("parties"),
            raised_by=document.text("raised_by"),
            raised_at=document.text("raised_at"),
            resolution=document.text("resolution") or None,
            resolved_by=document.text("resolved_by") or None,
            document=document,
            quotes=find_quotes(document.body),
        )
        for document in documents
        if document.place.startswith(f"{ROOM}/") and document.texts("parties")
    ]


def find_conflict(conflicts: Sequence[Conflict], text: str) -> Conflict:
    """Return the conflict whose path, file name, slug, id or title is ``text``."""
    known = {conflict.path: conflict for conflict in conflicts}
    names: dict[str, set[str]] = {}
    for path, conflict in known.items():
        slug = slug_of(conflict.document.stem)
        own = {path.removesuffix(".md"), slug, conflict.conflict_id}
        names[path] = own.union(conflict.document.names)
    return known[find_called(text, names, what="conflict", verb="conflict")]


def make_quote(
    document: Document, *, first_line: int | None = None, last_line: int | None = None
) -> Quote:
    """Return a quote of lines of a note, by default of its whole body, with secrets withheld."""
    first = first_line or document.body_first_line
    shown = excerpt(document.path, document.data, first_line=first, last_line=last_line)
    return Quote(document.path, first, shown.last_line, _digest(shown.text), shown.text)


def check_quote(document: Document | None, quote: Quote) -> str:
    """Return the standing of quoted lines: ``as quoted``, ``changed since`` or ``gone``."""
    if document is None:
        return "gone"
    try:
        now = make_quote(document, first_line=quote.first_line, last_line=quote.last_line)
    except PalaceError:
        return "changed since"
    return "as quoted" if now.digest == quote.digest else "changed since"


def find_quotes(body: str) -> tuple[Quote, ...]:
    """Parse the quotes in a conflict's body."""
    markup, lines = Markup(body), body.split("\n")
    blocks = [block for block in markup.blocks if block.kind == "fence"]
    fences = {each.first: "\n".join(lines[each.first + 1 : each.last]) for each in blocks}
    quotes = []
    for found in _QUOTE.finditer(body):
        line = markup.line_at(found.start())
        text = fences.get(line + 2) or fences.get(line + 1) or ""
        span = int(found["first"]), int(found["last"])
        quotes.append(Quote(found["path"], *span, found["digest"], text))
    return tuple(quotes)


def plan_open(
    claims: tuple[Quote, Quote],
    rooms: Rooms,
    *,
    title: str,
    kind: str,
    raised_by: str,
    today: str,
    evidence: Sequence[str] = (),
) -> Create:
    """Return the note of a new open conflict, with both claims quoted."""
    if kind not in KINDS:
        raise UsageError(f"the kind of a conflict is one of {', '.join(KINDS)}, not {kind!r}")
    if claims[0].path == claims[1].path:
        raise UsageError("a note cannot conflict with itself; name two notes")
    title, slug = one_line(title, "the title"), make_slug(title)
    fields: dict[str, object] = {
        "conflict_id": f"{slug}-{today}",
        "title": title,
        "status": "open",
        "kind": kind,
        "parties": [claim.path for claim in claims],
        "raised_by": one_line(raised_by, "the name of the person who raises it"),
        "raised_at": today,
    }
    sections = {
        "Claim A": _render(claims[0]),
        "Claim B": _render(claims[1]),
        "Evidence": "\n".join(f"- {one_line(line, 'a line')}" for line in evidence) or "None yet.",
        "Decision": "Open.",
        "Follow-up": "None yet.",
    }
    return compose_note(rooms.path_of(f"{ROOM}/{today}_{slug}.md"), title, fields, sections)


def _render(quote: Quote) -> str:
    where = f"`{quote.path}#L{quote.first_line}-L{quote.last_line}` sha256:{quote.digest}"
    return f"{where}\n\n{fence_text(quote.text, 'text')}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGEST_DIGITS]


Place = tuple[int, int]
"""Start and end offset of a span in the decoded text of a note."""


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
    """Create a conflict between two notes, each optionally with lines: ``NOTE:12-15``."""

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
    """Close a conflict, and mark the losing statements as superseded in their note.

    ``winner`` is a party; ``None`` closes as ``wontfix``. ``line`` overrides the quoted lines as
    the losing ones; ``whole`` supersedes the losing note.
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
        places = [] if whole else find_losing(sides.loser, sides.winner, quotes, lines=line)
        closing = _close(conflict, sides.winner.path, decision, by)
        return _plan_loss(sides, places, mark, closing, summary)

    return change_notes(palace, plan, command="conflict", apply=apply)


def list_conflicts(palace: Palace, *, include_closed: bool = False) -> list[Conflict]:
    """Return the open conflicts, or all of them."""
    found = read_conflicts(read_notes(palace).documents.values())
    return [one for one in found if include_closed or one.is_open]


def show_conflict(palace: Palace, name: str) -> tuple[Conflict, list[Quote]]:
    """Return a conflict and its quotes, each with its present standing."""
    library = read_notes(palace)
    conflict = find_conflict(read_conflicts(library.documents.values()), name)
    claims = [
        replace(quote, standing=check_quote(library.documents.get(quote.path), quote))
        for quote in conflict.quotes
    ]
    return conflict, claims


@dataclass(frozen=True, slots=True)
class _Sides:
    winner: Document
    loser: Document
    won: Quote | None = None
    lost: Quote | None = None


def _find_sides(library: Library, conflict: Conflict, winner: str) -> _Sides:
    """Return winner and loser; raise ``UsageError`` unless there are two readable parties."""
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
    """Return the plan that marks losing spans in their note and in the conflict's quotation.

    The losing note is superseded if nothing unmarked is left in it, or if ``places`` is empty.
    """
    loser, data = sides.loser, sides.loser.data
    text = decode_note(data, loser.path)[0]
    said = [text[start:end] for start, end in places]
    for claim in said if sides.lost else ():
        record = decode_note(closing.after, closing.path)[0]
        head = record.find(f"sha256:{sides.lost.digest}") if sides.lost else -1
        place = find_words(record, claim, head) if head >= 0 else None
        if place:
            closing = replace(closing, after=mark_claim(closing.path, closing.after, place, mark))
    known = find_claims(text)
    for start, end in sorted(places, reverse=True):  # last first, so that earlier offsets hold
        if not any(each.start < end and start < each.end for each in known):
            data = mark_claim(loser.path, data, (start, end), mark)
    heir = sides.winner.path
    if not places or holds_nothing_else(loser, data):
        data = set_fields(loser.path, data, {"superseded_by": heir, "superseded_at": mark.day})
    named = (f"superseded in {loser.path}: {one_line(each, 'it')}" for each in said)
    evidence = (f"decided by {mark.decided_by}", *named)
    return Plan([closing, Replace(loser.path, loser.data, data)], words, evidence)


def _link(library: Library, path: str) -> str:
    """Return the shortest unambiguous link target for a note: its stem, or else its path."""
    stem = stem_of(path)
    same = [other for other in library.documents if stem_of(other).casefold() == stem.casefold()]
    return stem if len(same) == 1 else path.removesuffix(".md")


def _close(conflict: Conflict, winner: str | None, decision: str, by: str) -> Replace:
    """Return the edit that closes a conflict note: ``resolved``, or ``wontfix`` without winner."""
    status = "resolved" if winner else "wontfix"
    closed = {"status": status, "winner": winner, "resolution": decision}
    closed |= {"resolved_by": by, "resolved_at": today()}
    edited = edit_fields(conflict.document, closed)
    words = f"{status.capitalize()} by {by}, {today()}. {decision}"
    return replace(edited, after=record_decision(edited.path, edited.after, words))


def _quote_both(library: Library, first: str, second: str) -> tuple[Quote, Quote]:
    """Return quotes of the named lines, or of the first contradiction between two whole notes."""
    one, other = _quote(library, first), _quote(library, second)
    if split_line_range(first)[1] or split_line_range(second)[1]:
        return one, other
    documents = library.documents[one.path], library.documents[other.path]
    found = _find_contradictions(*map(read_statements, documents))
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
    """Return the spans of the loser's statements that no longer hold.

    Candidates are ``lines`` if given, else the quoted lines, located by their text if they moved.
    Of several sentences the spans are those contradicting the winner, or the whole range if none
    does. Without lines or quote only contradictions count; raise ``UsageError`` if there are none,
    because a whole note is never marked by default.
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
    """Return whether a note's whole text, except headings, is marked as superseded."""
    text = decode_note(data, document.path)[0]
    skipped = _head(document, data)
    body = blank_claims(text, find_claims(text))[skipped:]
    return not any(map(str.isalnum, Markup(body).without_headings()))


def _head(document: Document, data: bytes) -> int:
    text = decode_note(data, document.path)[0]
    return Markup(text).starts[document.body_first_line - 1]


def _named_lines(loser: Document, text: str, lines: str) -> tuple[int, int]:
    """Parse ``12`` or ``12-15`` into 0-based lines; raise ``UsageError`` outside the body."""
    _, first, last = split_line_range(f"note:{lines}")
    total = text.count("\n") + 1
    if first is None or last is None or not loser.body_first_line <= first <= last <= total:
        raise UsageError(
            f"{lines!r} names no lines of the text of {loser.path}, which are "
            f"{loser.body_first_line}-{total}"
        )
    return first - 1, last - 1


def _quoted_lines(document: Document, text: str, quote: Quote | None) -> tuple[int, int] | None:
    """Return the 0-based quoted lines, or ``None`` for a quote of the whole note or no quote."""
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
    """Return a note's text without headings, or ``lines`` of it; superseded claims are blank."""
    text = decode_note(document.data, document.path)[0]
    rows = blank_claims(text, find_claims(text)).split("\n")
    first, last = lines or (document.body_first_line - 1, len(rows) - 1)
    kept = "\n".join(rows[first : last + 1])
    kept = Markup(kept).without_headings() if lines is None else kept
    from memory_palace.features.checking.checker import Passage  # delayed: cards do without it

    return Passage(document.path, first + 1, last + 1, kept)


def _contradicting(text: str, own: Passage, other: Passage) -> list[Place]:
    return [_place_of(text, each.first) for each in _find_contradictions(own, other)]


def _find_contradictions(*passages: Passage) -> list[Contradiction]:
    from memory_palace.features.checking.contradictions import BESIDES, find_contradictions

    return find_contradictions(passages, besides=BESIDES)


def _place_of(text: str, sentence: Passage) -> Place:
    """Return the span of a sentence, or of its lines if its exact words are not found."""
    starts = Markup(text).starts
    first, last = sentence.first_line - 1, sentence.last_line - 1
    found = find_words(text, sentence.text, starts[first], starts[last + 1])
    return found or content_of(text, first, last)


class Conflicts(Feature):
    """``Palace.conflicts``: conflicts in the conflict room."""

    open = Verb(open_conflict)
    list = Verb(list_conflicts)
    show = Verb(show_conflict)
    resolve = Verb(resolve_conflict)

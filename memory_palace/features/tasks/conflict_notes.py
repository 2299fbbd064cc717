"""Conflicts: two notes that cannot both be right, kept as one file each until somebody decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

from memory_palace.changes.composing import (
    compose_note,
    make_slug,
    one_line,
)
from memory_palace.changes.journal import Create
from memory_palace.config import Rooms
from memory_palace.errors import PalaceError, UsageError
from memory_palace.graph.naming import find_called, slug_of
from memory_palace.language.visible import fence_text
from memory_palace.markdown.markup import Markup
from memory_palace.notes.document import Document
from memory_palace.notes.note import excerpt
from memory_palace.shown import Shown, inner

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
    """The claim of one party: lines of a note, and their text when they were quoted."""

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
    """One conflict, read from its note."""

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
    """Empty in a note that was written without them."""

    @property
    def is_open(self) -> bool:
        """Whether nobody has decided yet."""
        return self.status == "open"

    def lines(self) -> Iterable[str]:
        """Return its path and state, and its parties."""
        yield f"{self.path}  {self.status}  {self.kind}"
        yield from (f"party: {party}" for party in self.parties)


def read_conflicts(documents: Iterable[Document]) -> list[Conflict]:
    """Return the conflicts among notes: those in the conflict room that name parties."""
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
    """Return the conflict called ``text``: path, file name, slug, id or title."""
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
    """Quote lines of a note, all of its body where none are named. Secrets are not shown."""
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
    """Read the quotes of a conflict's body."""
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
    """Return a new open conflict with both claims quoted."""
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

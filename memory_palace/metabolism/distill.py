"""A completed card to a telegraph of at most four parts, in the author's words and order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from memory_palace.changes.composing import compose_note, make_slug
from memory_palace.changes.operations import Create
from memory_palace.config import Rooms
from memory_palace.embedding.llm_models import estimate_tokens
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.metabolism.assets import TELEGRAM, WING
from memory_palace.metabolism.condensing import choose, cost, drop_repeated
from memory_palace.metabolism.ledger import Ledger
from memory_palace.metabolism.phrasing import TelegraphPart, phrasing_of, tell_languages
from memory_palace.metabolism.sorting import PARTS, given_part, sort_statements
from memory_palace.metabolism.statements import Statement, read_statements
from memory_palace.notes.document import Document
from memory_palace.notes.parsing import digest_words, read_body
from memory_palace.workflow.card_paths import target_of_item
from memory_palace.workflow.cards import Card

SHORT, MOST_TOKENS = 200, 400
"""Tokens by ``estimate_tokens``: of a card that is kept as it is, and of any telegraph."""
_KEPT = 0.5
"""The share of a longer card that its telegraph has at most."""
_ROOM_FILES = ("index.md", "chain_map.md", "reflection_backfill.md")
_JOINT = re.compile(r"(?<=[。！？]) ")
"""Scripts without spaces have none between sentences."""
NAMES: Mapping[TelegraphPart, str] = dict(zip(PARTS, TELEGRAM.sections, strict=True))


@dataclass(frozen=True, slots=True)
class Telegraph:
    """The parts that were found, how much went in and came out, and what was left out."""

    parts: Mapping[str, str]
    """By heading; a part for which nothing was found is absent."""
    tokens: int
    card_tokens: int
    sources: tuple[str, ...]
    """Paths of the notes that it has statements of, the card's first."""
    left_out: tuple[str, ...] = ()
    """Statements of the card that it does not have, foam among them."""

    @property
    def missing(self) -> list[str]:
        """Parts for which nothing was found."""
        return [name for name in TELEGRAM.sections if name not in self.parts]


def distill_card(ledger: Ledger, card: Card) -> Telegraph:
    """Keep what a card says of its four parts; what it lacks is looked for in what it links to.

    Raise ``UsageError`` for a card that is not completed, ``CheckFailedError`` where nothing of
    any part was found.
    """
    documents = readable_sources(ledger, card)
    body = documents[0].body
    size = estimate_tokens(body)
    most = limit_of(size)
    kept, left_out = condense(body)
    read = [card.path] if kept else []
    for name, found in _find_elsewhere(documents[1:], {part for _, part in kept}):
        room = most - sum(cost(s) for s, _ in kept)
        more = [(s, part) for s, part in found if part not in {p for _, p in kept}]
        phrasing = phrasing_of(tell_languages(" ".join(s.text for s, _ in more)))
        more = choose(more, phrasing, most=room) if room > 0 else []
        kept += more
        read += [name] if more else []
    if not kept:
        raise CheckFailedError(
            f"{card.path} says nothing of what was wrong, tried, done or learned; write it there, "
            "in sentences or below headings such as Problem, Tried, Fix and Lesson"
        )
    return _compose(kept, size, read, left_out)


def condense(body: str) -> tuple[list[tuple[Statement, TelegraphPart]], tuple[str, ...]]:
    """Return what a telegraph keeps of a card, each with its part, and what it leaves out.

    Checks, paths and next steps are no statements, and not counted as left out. A short card loses
    no more than its foam, a longer one half.
    """
    phrasing = phrasing_of(tell_languages(body))
    said = read_statements(body, phrasing)
    told = drop_repeated(said)
    parts = list(zip(told, sort_statements(told, phrasing), strict=True))
    kept = [(statement, part) for statement, part in parts if part in PARTS]
    never = {id(s) for s in told if given_part(s, phrasing) == "left_out"}
    size = estimate_tokens(body)
    if size > SHORT or sum(cost(statement) for statement, _ in kept) > MOST_TOKENS:
        kept = choose(kept, phrasing, most=limit_of(size))
    chosen = {id(statement) for statement, _ in kept}
    return kept, tuple(s.text for s in said if id(s) not in chosen | never)


def limit_of(card_tokens: int) -> int:
    """Return how many tokens the telegraph of a card has at most."""
    return MOST_TOKENS if card_tokens <= SHORT else min(MOST_TOKENS, int(_KEPT * card_tokens))


def readable_sources(ledger: Ledger, card: Card) -> list[Document]:
    """Return the card, its project room's pages, then what it links to; no other cards, no logs.

    Raise ``UsageError`` for a card that is not completed.
    """
    if card.state != "completed":
        raise UsageError(f"{card.path} is {card.state}; only completed cards are distilled")
    project = card.document.text("project")
    place = f"project_rooms/{project}/"
    room = [path for path, d in ledger.documents.items() if d.place.startswith(place)]
    own = {ledger.documents[path].place: path for path in room}
    paths = [card.path, *(own.get(place + name, "") for name in _ROOM_FILES)]
    linked_to = (
        ledger.documents[path]
        for path in ledger.out.get(card.path, frozenset())
        if not ledger.documents[path].is_cold and path not in ledger.cards
    )
    others = (f"{WING}/telegrams/", "grand_hall/")
    chosen = (document for document in linked_to if not document.place.startswith(others))
    paths += [document.path for document in sorted(chosen, key=lambda found: found.place)]
    # A room's pages may be about other work as well: they count where the card is linked with them.
    linked = ledger.linked(card.path) | {
        target_of_item(item, ledger.rooms)[0] for item in card.outputs
    }
    return [
        ledger.documents[path]
        for path in dict.fromkeys(paths)
        if path in ledger.documents and (path not in room or path in linked)
    ]


def render_telegraph(
    card: Card,
    parts: Mapping[str, str],
    rooms: Rooms,
    *,
    today: str,
    sources: Sequence[str] = (),
    by_model: str | None = None,
) -> Create:
    """Return the telegraph as a note beside the others.

    ``sources`` are the stems of notes other than the card that it has statements of.
    """
    title = card.document.title
    fields: dict[str, object] = {
        "title": title,
        "type": TELEGRAM.type,
        "corridor_card": card.document.stem,
        "project_room": card.document.text("project"),
        "date": today,
    }
    if sources:
        fields["source"] = list(sources)
    if by_model:
        fields["written_by"] = by_model
    path = rooms.path_of(f"{WING}/{TELEGRAM.folder}/{today}-{make_slug(title)}.md")
    sections = {name: parts[name] for name in TELEGRAM.sections if name in parts}
    note = compose_note(path, title, fields, sections)
    if not by_model:
        fields["verbatim"] = digest_words(read_body(path, note.data).text)
    return compose_note(path, title, fields, sections)


def _find_elsewhere(
    documents: Sequence[Document], had: set[TelegraphPart]
) -> Iterator[tuple[str, list[tuple[Statement, TelegraphPart]]]]:
    """Yield what other notes say of parts that a card lacks, below headings that name them.

    Words alone decide nothing there: such a note may be about anything.
    """
    had = set(had)
    for document in documents:
        phrasing = phrasing_of(tell_languages(document.body))
        statements = drop_repeated(read_statements(document.body, phrasing))
        named = [(s, given_part(s, phrasing)) for s in statements]
        wanted = [part for part in PARTS if part not in had]
        found = [(s, part) for s, given in named for part in wanted if given == part]
        yield document.path, found
        had |= {part for _, part in found}


def _compose(
    kept: Sequence[tuple[Statement, TelegraphPart]],
    size: int,
    read: Sequence[str],
    left_out: tuple[str, ...],
) -> Telegraph:
    parts = {}
    for part, name in NAMES.items():
        text = render_statements([s for s, own in kept if own == part])
        if text:
            parts[name] = text
    tokens = sum(map(estimate_tokens, parts.values()))
    return Telegraph(parts, tokens, size, tuple(read), left_out)


def render_statements(statements: Sequence[Statement]) -> str:
    """Return statements as the author had them: paragraphs, items and rows of tables."""
    lines: list[str] = []
    before = ""
    for (_, mark, head), group in groupby(statements, key=lambda s: (s.block, s.mark, s.head)):
        text = _JOINT.sub("", " ".join(statement.text for statement in group))
        if lines and (not mark or mark != before):
            lines.append("")
        if mark == "| ":
            if head and head not in "\n".join(lines):
                lines.append(head)
            lines.append(text)
        else:
            lines.append(f"{mark}{text}")
        before = mark
    return "\n".join(lines)

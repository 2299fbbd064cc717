"""A completed card to a telegraph of four parts, by structure and extraction alone."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from memory_palace.changes.composing import compose_note, make_slug
from memory_palace.changes.operations import Create
from memory_palace.config import Rooms
from memory_palace.embedding.llm_models import estimate_tokens
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.language.sentences import split_sentences
from memory_palace.markdown.links import WIKI_LINK
from memory_palace.markdown.markup import Markup
from memory_palace.metabolism.assets import TELEGRAM, WING
from memory_palace.metabolism.ledger import Ledger
from memory_palace.notes.document import LEAD, Document
from memory_palace.workflow.cards import Card
from memory_palace.workflow.corridor import target_of_item

LEAST_TOKENS, MOST_TOKENS = 150, 400
"""Bounds of a telegraph, by ``estimate_tokens``."""
NOTHING_FOUND = "Not written down in the card or what it links to."
_ROOM_FILES = ("index.md", "chain_map.md", "reflection_backfill.md")
_PARTS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    files("memory_palace.metabolism").joinpath("telegraph.toml").read_text("utf-8")
)
"""Share of the length, headings and cues of each part."""
_LISTS = frozenset(("input paths", "output paths", "next action", "links", "seen in", "evidence"))
_CUES = {
    part: re.compile(values["cues"], re.IGNORECASE)
    for part, values in _PARTS.items()
    if "cues" in values
}


@dataclass(frozen=True, slots=True)
class Telegraph:
    """The four parts, and how much went in and came out."""

    parts: Mapping[str, str]
    tokens: int
    source_tokens: int
    sources: tuple[str, ...]
    """Paths of the notes that were read, in that order."""

    @property
    def missing(self) -> list[str]:
        """Parts for which nothing was found."""
        return [name for name, text in self.parts.items() if text == NOTHING_FOUND]


def distill_card(ledger: Ledger, card: Card) -> Telegraph:
    """Extract the four parts, reading the card first and its room and links only as needed.

    Raise ``UsageError`` for a card that is not completed, ``CheckFailedError`` where everything
    that could be read gives less than a telegraph's least length.
    """
    read: list[Document] = []
    for document in readable_sources(ledger, card):
        read.append(document)
        found = _extract(read)
        telegraph = _fit(found, read)
        if telegraph.tokens >= LEAST_TOKENS and not telegraph.missing:
            return telegraph
    if telegraph.tokens < LEAST_TOKENS:
        raise CheckFailedError(
            f"{card.path} gives a telegraph of {telegraph.tokens} tokens; at least {LEAST_TOKENS} "
            "are needed. Write in the card or its project room what was tried, what worked and "
            "what follows from it"
        )
    return telegraph


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
    card: Card, parts: Mapping[str, str], rooms: Rooms, *, today: str, by_model: str | None = None
) -> Create:
    """Return the telegraph as a note beside the others."""
    title = card.document.title
    fields: dict[str, object] = {
        "title": title,
        "type": TELEGRAM.type,
        "corridor_card": card.document.stem,
        "project_room": card.document.text("project"),
        "date": today,
    }
    if by_model:
        fields["written_by"] = by_model
    path = rooms.path_of(f"{WING}/{TELEGRAM.folder}/{today}-{make_slug(title)}.md")
    sections = {name: parts[name] for name in TELEGRAM.sections}
    return compose_note(path, title, fields, sections, source=card.document.stem)


def count_tokens(parts: Mapping[str, str]) -> int:
    """Estimate the tokens of the four parts, those that hold nothing left out."""
    return sum(estimate_tokens(text) for text in parts.values() if text != NOTHING_FOUND)


def _extract(documents: Sequence[Document]) -> dict[str, list[str]]:
    """Sort statements by the heading they stand under, else by the words in them."""
    found: dict[str, list[str]] = {name: [] for name in TELEGRAM.sections}
    seen: list[str] = []
    for document in documents:
        for heading, section in document.sections.items():
            if heading.casefold() in _LISTS:
                continue
            for statement in strip_foam(split_statements(section)):
                if statement.casefold() in seen:
                    continue
                if not any(map(str.isalnum, WIKI_LINK.sub("", statement))):
                    continue
                seen.append(statement.casefold())
                is_sentence = statement[-1] in '.!?…:;"”)'  # list items often are not
                text = statement if is_sentence else f"{statement}."
                found[_part_of(heading, statement)].append(text)
    return found


def _part_of(heading: str, statement: str) -> str:
    if heading != LEAD:
        for part, values in _PARTS.items():
            if heading.casefold() in values["headings"]:
                return part
    return next((part for part, cue in _CUES.items() if cue.search(statement)), "Background")


def _fit(found: Mapping[str, Sequence[str]], read: Sequence[Document]) -> Telegraph:
    """Take statements part by part until the length is reached; what one leaves another gets."""
    costs = {part: [estimate_tokens(s) + 1 for s in found[part]] for part in found}
    chosen = dict.fromkeys(found, 0)
    spent = 0
    for part, values in _PARTS.items():
        used = 0
        for cost in costs[part]:
            if used + cost > values["share"] * MOST_TOKENS:
                break
            used += cost
            chosen[part] += 1
        spent += used
    for part in _PARTS:
        for cost in costs[part][chosen[part] :]:
            if spent + cost > MOST_TOKENS:
                break
            spent += cost
            chosen[part] += 1
    parts = {part: " ".join(found[part][: chosen[part]]) or NOTHING_FOUND for part in found}
    whole = sum(estimate_tokens(document.body) for document in read)
    return Telegraph(parts, count_tokens(parts), whole, tuple(d.path for d in read))


_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_LINES = files("memory_palace.metabolism").joinpath("foam.txt").read_text("utf-8").splitlines()
_FOAM = [re.compile(line, re.IGNORECASE) for line in _LINES if not line.startswith("#")]


def split_statements(text: str) -> list[str]:
    """Return sentences and list items in order; fenced code and headings are left out."""
    lines = text.split("\n")
    statements: list[str] = []
    paragraph: list[str] = []

    def end_paragraph() -> None:
        statements.extend(split_sentences(" ".join(paragraph)))
        paragraph.clear()

    for line, is_fenced in zip(lines, Markup(text).fenced, strict=True):
        item = _ITEM.match(line)
        if is_fenced or item or not line.strip() or line.lstrip().startswith("#"):
            end_paragraph()
        if is_fenced or line.lstrip().startswith("#") or not line.strip():
            continue
        paragraph.append(line[item.end() :].strip() if item else line.strip())
    end_paragraph()
    return statements


def strip_foam(statements: list[str]) -> list[str]:
    """Drop foam and whatever was said before in the same words."""
    kept: list[str] = []
    seen: set[str] = set()
    for statement in statements:
        key = " ".join(re.findall(r"\w+", statement.casefold()))
        if key and key not in seen and not any(foam.search(statement) for foam in _FOAM):
            seen.add(key)
            kept.append(statement)
    return kept

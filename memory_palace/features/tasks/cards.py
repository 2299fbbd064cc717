"""A task card as it stands in the dispatch corridor. The folder is its state, else its field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from memory_palace.errors import UsageError
from memory_palace.features.tasks.card_form import (
    CardForm,
    CardPart,
    find_checks,
    find_items,
    kind_of,
    read_form,
)
from memory_palace.features.tasks.card_paths import links_of_item, paths_of_item
from memory_palace.graph.naming import find_called, slug_of
from memory_palace.notes.document import Document
from memory_palace.places import ARCHIVE
from memory_palace.shown import Shown, inner

State: TypeAlias = Literal["active", "blocked", "completed"]
STATES: tuple[State, ...] = get_args(State)
CORRIDOR = "dispatch_corridor"
"""The room of the cards."""
NO_CHECK = "it has no acceptance check: write `- [ ] …` below `## Acceptance Checks`"
_PATH = re.compile(
    rf"(?:\./)?(?:{ARCHIVE}/(?:\d{{4}}/)?)?{CORRIDOR}/(?:(?P<state>{'|'.join(STATES)})/)?(?P<below>.+)"
)
_OWN_FIELDS = frozenset(("task_id", "owner", "status"))
"""Fields by which a note beside the folders of the states is known for a card."""


@dataclass(frozen=True, slots=True)
class Check:
    """One acceptance check."""

    number: int
    """Counted from 1, in the order of the card."""
    text: str
    is_ticked: bool


@dataclass(frozen=True, slots=True)
class Card(Shown):
    """One task card, read from its note."""

    path: str
    state: State
    """State of its folder; its own field may say another."""
    task_id: str
    """Its own id, else its file name."""
    title: str
    owner: str
    project: str
    blocked_by: str | None
    goal: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    """Paths or links, as written."""
    checks: tuple[Check, ...]
    next_action: str
    document: Document = inner()
    below: str = inner()
    """Its path below the folder of its state, or below the corridor where it lies in none."""
    has_folder: bool = inner()
    """Whether it lies in the folder of a state."""

    @property
    def is_archived(self) -> bool:
        """Whether it lies in the archive, where its state is what it was."""
        return self.document.is_cold

    def lines(self) -> Iterable[str]:
        """Return all that the card has."""
        yield f"{self.path}  {self.state}"
        for key in ("task_id", "owner", "project", "blocked_by"):
            if self.document.text(key):
                yield f"{key}: {self.document.text(key)}"
        yield from _part("goal", self.goal)
        for check in self.checks:
            yield f"{check.number} [{'x' if check.is_ticked else ' '}] {check.text}"
        for item in self.outputs:
            is_named = links_of_item(item) or paths_of_item(item)
            yield f"output: {item}" + ("" if is_named else " (names no file: not looked for)")
        yield from _part("next", self.next_action)


def _part(name: str, text: str) -> Iterable[str]:
    return [f"{name}: {' '.join(text.split())}"] if text else []


def read_cards(documents: Iterable[Document]) -> list[Card]:
    """Return the cards among notes, archived ones included."""
    return [card for document in documents if (card := parse_card(document)) is not None]


def parse_card(document: Document) -> Card | None:
    """Return a note as a card; ``None`` outside the corridor.

    Beside the folders of the states a note is a card where it has a part or a field of one; it is
    active unless its status says otherwise.
    """
    found = _PATH.fullmatch(document.place)
    if found is None:
        return None
    form = read_form(document.body)
    fields = {kind_of(key): key for key in document.fields}
    known = form.parts or find_checks(form) or not _OWN_FIELDS.isdisjoint(document.fields)
    if not found["state"] and not known and document.text("type") != "task":
        return None
    said = found["state"] or document.text("status").casefold()
    return Card(
        path=document.path,
        state=next((state for state in STATES if state == said), "active"),
        task_id=document.text("task_id") or document.stem,
        title=document.title,
        owner=document.text("owner"),
        project=document.text("project"),
        blocked_by=document.text("blocked_by") or None,
        goal=form.text("goal") or document.text(fields.get("goal", "")),
        inputs=_items(document, form, "inputs", fields),
        outputs=_items(document, form, "outputs", fields),
        checks=tuple(
            Check(number, item.text, item.is_ticked)
            for number, item in enumerate(find_checks(form), start=1)
        ),
        next_action=form.text("next_action") or document.text(fields.get("next_action", "")),
        document=document,
        below=found["below"],
        has_folder=found["state"] is not None,
    )


def find_card(cards: Sequence[Card], text: str) -> Card:
    """Return the card called ``text``: path, file name, slug, id, title or alias."""
    known = {card.path: card for card in cards if not card.is_archived}
    names: dict[str, set[str]] = {}
    for path, card in known.items():
        document = card.document
        paths = {path.removesuffix(".md"), document.place.removesuffix(".md")}
        names[path] = paths.union((slug_of(document.stem), card.task_id), document.names)
    return known[find_called(text, names, what="card", verb="task")]


def find_check(card: Card, wanted: int | str) -> Check:
    """Return the check of a number, or the only one that has a text or has it in it.

    Raise ``UsageError`` with all of them where there is none, or several.
    """
    if not card.checks:
        raise UsageError(f"{card.path}: {NO_CHECK}")
    text = " ".join(str(wanted).split()).casefold()
    texts = {check: " ".join(check.text.split()).casefold() for check in card.checks}
    found = [check for check in card.checks if texts[check] == text]
    if not found and text.isdecimal():
        found = [check for check in card.checks if str(check.number) == text.lstrip("0")]
    elif not found and text:
        found = [check for check in card.checks if text in texts[check]]
    if len(found) == 1:
        return found[0]
    listed = "".join(f"\n{check.number} {check.text}" for check in card.checks)
    fits = f"{len(found)} checks fit" if found else "no check fits"
    raise UsageError(f"{card.path}: {fits} {str(wanted)!r}; give a number:{listed}")


def _items(
    document: Document, form: CardForm, kind: CardPart, fields: Mapping[CardPart | None, str]
) -> tuple[str, ...]:
    """Return the items of a part, or else of the field of front matter that is called like it."""
    found = find_items(form.parts.get(kind, ()))
    return tuple(found) or document.texts(fields.get(kind, ""))

"""What may happen to a task card: legal transitions only, each one change of all its files."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from memory_palace.changes.composing import edit_fields, one_line
from memory_palace.changes.operations import Move, Operation, Replace
from memory_palace.config import Rooms
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.tasks.card_form import read_form
from memory_palace.features.tasks.card_items import find_checks, write_mark
from memory_palace.features.tasks.cards import CORRIDOR, NO_CHECK, Card, Check, State, parse_card
from memory_palace.notes.document import parse_document
from memory_palace.notes.frontmatter import set_fields
from memory_palace.notes.sections import split_lines

TRANSITIONS: Mapping[str, tuple[State, State]] = {
    "start": ("blocked", "active"),
    "block": ("active", "blocked"),
    "complete": ("active", "completed"),
    "reopen": ("completed", "active"),
}
"""Each verb: the state a card must be in, and the one it gets."""


def plan_transition(
    card: Card,
    verb: str,
    rooms: Rooms,
    *,
    today: str,
    reason: str = "",
    exists: Callable[[Card, str], bool] = lambda card, item: False,
) -> list[Operation]:
    """Return the rewrite and the move that bring a card into its next state.

    ``exists`` says whether an output path or link leads to something. Raise ``UsageError`` for a
    transition that is not legal, ``CheckFailedError`` for a card that is not done.
    """
    if verb == "start" and card.state == "completed":
        verb = "reopen"
    needed, state = TRANSITIONS[verb]
    if card.state != needed:
        raise UsageError(f"{card.path} is {card.state}; {verb} needs a card that is {needed}")
    if verb in ("block", "reopen"):
        reason = one_line(reason, f"the reason to {verb} a card (--reason)")
    if verb == "complete":
        check_done(card, exists=exists)
    values: dict[str, object] = {
        "status": state,
        "blocked_by": reason if verb == "block" else None,
        "last_updated": today,
    }
    if verb == "complete":
        values["completed"] = today
    if verb == "reopen":
        reopened = [*card.document.texts("reopened"), f"{today}: {reason}"]
        values |= {"completed": None, "reopened": reopened}
    return [
        edit_fields(card.document, values),
        Move(card.path, rooms.path_of(f"{CORRIDOR}/{state}/{card.below}")),
    ]


def plan_tick(
    card: Card, check: Check, rooms: Rooms, *, is_ticked: bool, today: str
) -> list[Operation]:
    """Return the change that ticks a check of a card, or takes its tick back, if there is any.

    Raise ``UsageError`` for a completed card, whose checks say why it is.
    """
    if card.state == "completed":
        raise UsageError(f"{card.path} is completed; reopen it first")
    if check.is_ticked == is_ticked:
        return []
    path, before = card.path, card.document.data
    wanted = [replace(c, is_ticked=is_ticked) if c == check else c for c in card.checks]
    lines, above, _ = split_lines(path, before)
    item = find_checks(read_form(card.document.body))[check.number - 1]
    place = above + item.line
    mark = write_mark(lines[place], item, is_ticked=is_ticked)
    data = "".join([*lines[:place], mark, *lines[place + 1 :]]).encode()
    document = parse_document(path, data, rooms=rooms)
    after = parse_card(document) if document else None
    if after is None or list(after.checks) != wanted:
        raise UsageError(
            f"{path}: the line of {check.text!r} cannot be told; change it in an editor"
        )
    return [Replace(path, before, set_fields(path, data, {"last_updated": today}))]


def check_done(card: Card, *, exists: Callable[[Card, str], bool]) -> None:
    """Raise ``CheckFailedError`` naming every check not ticked and every output not there."""
    missing = [f"not ticked: {check.text}" for check in card.checks if not check.is_ticked]
    is_open = bool(missing)
    if not card.checks:
        missing.append(NO_CHECK)
    missing += [f"does not exist: {path}" for path in card.outputs if not exists(card, path)]
    if is_open:
        name = shlex.quote(card.document.stem)
        missing.append(f"`palace task tick {name} N --apply` ticks the check number N")
    if missing:
        listed = "".join(f"\n{line}" for line in missing)
        raise CheckFailedError(f"{card.path} is not done:{listed}")


def lint_cards(cards: Sequence[Card], *, exists: Callable[[Card, str], bool]) -> list[str]:
    """Return one line for everything that contradicts the folder or the form."""
    found: list[str] = []
    seen: dict[str, Card] = {}
    for card in cards:
        if card.is_archived:
            continue
        for key in {f"file {card.path.rpartition('/')[2]}", f"task_id {card.task_id}"}:
            if key in seen and seen[key].path != card.path:
                found.append(f"{card.path}: {key} is also at {seen[key].path}")
            seen.setdefault(key, card)
        found += [f"{card.path}: {words}" for words in _faults(card, exists)]
    return sorted(set(found))


def _faults(card: Card, exists: Callable[[Card, str], bool]) -> list[str]:
    document = card.document
    status, blocked_by = document.text("status"), document.text("blocked_by")
    is_done = card.state == "completed"
    undone = [f"is completed with an open check: {c.text}" for c in card.checks if not c.is_ticked]
    absent = [f"is completed, but {p} does not exist" for p in card.outputs if not exists(card, p)]
    folder = f"{card.path.removesuffix(card.below)}{card.state}/"
    remarks = [
        (not card.has_folder, f"lies in no state's folder; move it to {folder}"),
        (
            card.has_folder and status != card.state,
            f"says status {status!r} in the folder {card.state}",
        ),
        (card.state == "blocked" and not blocked_by, "is blocked but has no blocked_by"),
        (card.state != "blocked" and bool(blocked_by), f"has blocked_by in {card.state}"),
        (not card.goal, "has no goal"),
        (not card.checks, "has no acceptance check"),
        *((not document.text(key), f"has no {key}") for key in ("task_id", "owner", "project")),
        *((is_done, words) for words in (*undone, *absent)),
    ]
    broken = [document.problem] if document.problem else []
    return [*broken, *(words for is_so, words in remarks if is_so)]

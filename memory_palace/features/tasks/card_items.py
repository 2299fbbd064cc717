"""Lists of a task card as people write them: checks with a box or without, paths and links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memory_palace.features.tasks.card_form import CardForm, Row, says_nothing

_DONE = "✅☑✔✓"
_TICKED = f"xX{_DONE}"
_OPEN = " ☐⬜◻❌✗❎🔲/>?!"
_DROPPED = "-~"
_BULLET = re.compile(r"[ \t>]*+(?:(?:[-*+•‣–]|\d{1,9}[.)])(?=[ \t\[☐☑✅✔✓⬜◻❌✗❎🔲]|\Z))?[ \t]*+")
_BOX = re.compile(rf"\[([{re.escape(_TICKED + _OPEN + _DROPPED)}]?)\ufe0f?\](?![(\[:])[ \t]*+")
_EMOJI = re.compile(r"([✓✔☑✅☐⬜◻❌✗❎🔲])\ufe0f?[ \t]*+")
_EMOJI_STYLE = "\ufe0f"
"""Follows a sign that is to be shown as emoji."""
_STRUCK = "~~"


@dataclass(frozen=True, slots=True)
class CardItem:
    """An item of a list, or a paragraph where there is no list."""

    line: int
    """0-based, of the body."""
    indent: int
    text: str
    """On one line, without bullet and box."""
    mark: tuple[int, int]
    """Where the box stands in its line; nothing, where it would stand, if there is none there."""
    has_box: bool = False
    is_ticked: bool = False
    is_dropped: bool = False
    """Whether it is struck out, so that nobody has to do it."""
    has_bullet: bool = True


def find_checks(form: CardForm) -> list[CardItem]:
    """Return the acceptance checks of a card in order.

    Below a heading or label for checks: the boxes of lists, and the items beside them that have
    none; every item of the outer lists where there is no box at all; the paragraphs where there is
    no list. Without such a part, or where it is empty: every box of the card that is not among
    its inputs and outputs.
    """
    found = _checks_of(form.parts.get("checks", ()))
    if not found:
        boxed = (item for run in _read_lists(form.rest) for item in run if item.has_box)
        found = [item for item in boxed if item.mark[0] < item.mark[1]]
    return [item for item in found if not item.is_dropped]


def _checks_of(rows: Sequence[Row]) -> list[CardItem]:
    lists = _read_lists(rows)
    boxed = [run for run in lists if any(i.has_box and not i.is_dropped for i in run)]
    if lists:
        return [item for run in boxed or lists for item in _outer(run)]
    return [item for item in _read_paragraphs(rows) if not says_nothing(item.text)]


def _outer(run: Sequence[CardItem]) -> Iterator[CardItem]:
    """Yield the items that have a box, and those of the outer level that head none with a box."""
    least = min(item.indent for item in run)
    for place, item in enumerate(run):
        following = run[place + 1] if place + 1 < len(run) else None
        heads = following is not None and following.indent > item.indent and following.has_box
        if item.has_box or (item.indent == least and not heads):
            yield item


def find_items(rows: Sequence[Row]) -> list[str]:
    """Return the items of a list of paths, or its lines where nobody made a list of them."""
    found = [item for run in _read_lists(rows) for item in run if not item.is_dropped]
    if not found:
        found = [item for row in rows for item in _read_paragraphs([row])]
    return [item.text for item in found if not says_nothing(item.text)]


def write_mark(line: str, item: CardItem, *, is_ticked: bool) -> str:
    """Return the line of an item, as stored, with a box that says so."""
    skipped = len(line) - len(line.removeprefix("\ufeff"))
    start, end = (skipped + place for place in item.mark)
    before, behind = line[:start], line[end:]
    if item.has_box and start == end:
        kept, _, rest = behind.rpartition(next(c for c in reversed(behind) if c in _TICKED))
        behind = f"{kept.rstrip()}{rest.removeprefix(_EMOJI_STYLE)}"
    if not item.has_box and not item.has_bullet and not before.strip("\ufeff \t>"):
        before = f"{before}- "
    elif before and not before[-1].isspace():
        before = f"{before} " if before != "\ufeff" else before
    return f"{before}[{'x' if is_ticked else ' '}] {behind}"


def _read_lists(rows: Sequence[Row]) -> list[list[CardItem]]:
    """Return the items of each list. A list ends at a paragraph that is no part of an item."""
    lists: list[list[CardItem]] = [[]]
    is_open, last = False, -2
    for row in rows:
        is_open = is_open and row.number == last + 1
        last = row.number
        item = None if row.is_code else _read_item(row)
        if item is None:
            is_open = False
        elif item.has_bullet or item.has_box:
            lists[-1].append(item)
            is_open = True
        elif is_open and not item.text.endswith(":"):
            before = lists[-1].pop()
            lists[-1].append(replace(before, text=f"{before.text} {item.text}"))
        elif not item.indent:
            lists.append([])
            is_open = False
    return [run for run in lists if run]


def _read_paragraphs(rows: Sequence[Row]) -> list[CardItem]:
    found: list[CardItem] = []
    last = -2
    for row in rows:
        item = None if row.is_code else _read_item(row)
        if item is not None and row.number == last + 1:
            before = found.pop()
            item = replace(before, text=f"{before.text} {item.text}")
        if item is not None:
            found.append(item)
            last = row.number
    return found


def _read_item(row: Row) -> CardItem | None:
    """Read a line; ``None`` where nothing stands in it."""
    written = row.text.rstrip()
    bullet = _BULLET.match(written, row.start)
    start = bullet.end() if bullet else row.start
    box = _BOX.match(written, start) or _EMOJI.match(written, start)
    end = box.end() if box else start
    text = written[end:]
    if not text:
        return None
    sign = (box[1] or " ") if box else ""
    has_bullet = bool(bullet and bullet[0].strip(" \t>"))
    if not box and has_bullet and text.rstrip(_EMOJI_STYLE).endswith(tuple(_DONE)):
        sign = _DONE[0]
        text = text.rstrip(_EMOJI_STYLE)[:-1].rstrip() or text
    return CardItem(
        line=row.number,
        indent=len(row.text) - len(row.text.lstrip(" \t>")),
        text=text,
        mark=(start, end),
        has_bullet=has_bullet,
        has_box=bool(sign),
        is_ticked=bool(sign) and sign in _TICKED,
        is_dropped=(bool(sign) and sign in _DROPPED)
        or (text.startswith(_STRUCK) and text.endswith(_STRUCK)),
    )

"""The parts of a task card as people write them, and the lists in them: checks, paths, links."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Literal, NamedTuple, TypeAlias, get_args

from memory_palace.language.tokens import squeeze_all
from memory_palace.markdown.comments import drop_comments
from memory_palace.markdown.markup import Markup

CardPart: TypeAlias = Literal["goal", "inputs", "outputs", "checks", "next_action"]
KINDS: tuple[CardPart, ...] = get_args(CardPart)
_LISTS = ("inputs", "outputs", "checks")
_DEEPEST = 6
"""Level of headings; what a label heads ends at any of them."""
_BRACKETED = re.compile(r"[(\[（][^()\[\]（）]*+[)\]）]")
_NUMBERS = re.compile(r"\A[\d\W_]+|[\d\W_]+\Z")
_MARKS = "*_ \t"
_BOLD = re.compile(r"(\*\*|__)(?P<name>[^*_]+)\1[ \t]*\Z")
_BULLET = re.compile(r"[ \t>]*+(?:[-*+•‣][ \t]++)?(?!\[)")
_DONE = "✅☑✔✓"
_TICKED = f"xX{_DONE}"
_OPEN = " ☐⬜◻❌✗❎🔲/>?!"
_DROPPED = "-~"
_ITEM = re.compile(r"[ \t>]*+(?:(?:[-*+•‣–]|\d{1,9}[.)])(?=[ \t\[☐☑✅✔✓⬜◻❌✗❎🔲]|\Z))?[ \t]*+")
_BOX = re.compile(rf"\[([{re.escape(_TICKED + _OPEN + _DROPPED)}]?)\ufe0f?\](?![(\[:])[ \t]*+")
_EMOJI = re.compile(r"([✓✔☑✅☐⬜◻❌✗❎🔲])\ufe0f?[ \t]*+")
_EMOJI_STYLE = "\ufe0f"
"""Follows a sign that is to be shown as emoji."""
_STRUCK = "~~"


class Row(NamedTuple):
    """A line of a part."""

    number: int
    """0-based, of the body."""
    text: str
    start: int
    """Column of the content, behind the label."""
    is_code: bool


@dataclass(frozen=True, slots=True)
class CardForm:
    """The rows of each part that a body has."""

    parts: Mapping[CardPart, list[Row]]
    rest: list[Row]
    """Rows besides inputs and outputs: they may hold checks where no part is for checks."""

    def text(self, kind: CardPart) -> str:
        """Return a part as it is written; empty where it is absent."""
        return "\n".join(row.text[row.start :] for row in self.parts.get(kind, ())).strip()


def kind_of(name: str) -> CardPart | None:
    """Return the part that a heading or label names, ``None`` for any other."""
    return _KINDS.get(_fold(name))


def says_nothing(text: str) -> bool:
    """Whether a text only says that there is nothing, such as "None." or "keine"."""
    return squeeze_all([text])[0] in _NOTHING


def read_form(body: str) -> CardForm:
    """Sort the lines of a body by part. Comments are left out."""
    text, _ = drop_comments(body)
    parts: dict[CardPart, list[Row]] = {}
    rest: list[Row] = []
    for kind, row in _rows_by_kind(Markup(text)):
        if kind is not None:
            parts.setdefault(kind, []).append(row)
        if kind not in ("inputs", "outputs"):
            rest.append(row)
    return CardForm(parts, rest)


def _rows_by_kind(markup: Markup) -> Iterator[tuple[CardPart | None, Row]]:
    """Yield every line that is no heading, with the part it belongs to.

    A heading ends a part that one of its level or a deeper one began; a label that says something
    on its own line ends with its paragraph.
    """
    headings = {found.first: found for found in markup.headings if not found.is_nested}
    kind: CardPart | None = None
    level, end, is_short = 0, -1, False
    for number, line in enumerate(markup.text.split("\n")):
        if found := headings.get(number):
            end = found.last
            named, behind = _split_label(found.text)
            if named or found.level <= level:
                kind, level, is_short = named, found.level if named else 0, False
            if named and behind:
                yield kind, Row(number, line, line.rfind(behind), False)
        if number <= end:
            continue
        is_code, start = markup.fenced[number], 0
        if is_short and not line.strip():
            kind, level, is_short = None, 0, False
        if not is_code and (
            label := _read_label(line, is_listed=level <= _DEEPEST and kind in _LISTS)
        ):
            kind, start = label
            level, is_short = _DEEPEST + 1, bool(line[start:].strip())
        yield kind, Row(number, line, start, is_code)


def _read_label(line: str, *, is_listed: bool) -> tuple[CardPart, int] | None:
    """Return the part that a line begins, and where what it says of it starts.

    ``Goal: fresh packs``, ``**Goal**`` or ``- **Goal:** fresh packs``. ``is_listed`` says that
    items belong to a list, so that none of them begins a part.
    """
    opening = _BULLET.match(line)
    if opening is None or (is_listed and line[: opening.end()].strip(" \t>")):
        return None
    content = line[opening.end() :]
    if bold := _BOLD.match(content):
        kind = kind_of(bold["name"])
        return (kind, len(line)) if kind else None
    kind, behind = _split_label(content)
    return (kind, len(line) - len(behind)) if kind and (":" in content or "：" in content) else None


def _split_label(text: str) -> tuple[CardPart | None, str]:
    """Return the part that a text up to its colon names, and what stands behind it."""
    name, _, behind = text.replace("：", ":", 1).partition(":")
    kind = kind_of(name.strip(_MARKS))
    return kind, behind.lstrip(_MARKS) if kind else ""


def _fold(name: str) -> str:
    text = _BRACKETED.sub("", unicodedata.normalize("NFKC", name))
    return squeeze_all([_NUMBERS.sub("", text)])[0]


def _read_words() -> tuple[dict[str, CardPart], frozenset[str]]:
    given = tomllib.loads(
        files("memory_palace.features.tasks").joinpath("card_words.toml").read_text("utf-8")
    )
    kinds = {_fold(name): kind for kind in KINDS for name in given[kind]}
    return kinds, frozenset(("", *squeeze_all(given["nothing"])))


_KINDS, _NOTHING = _read_words()


@dataclass(frozen=True, slots=True)
class CardItem:
    """An item of a list, or a paragraph where there is no list."""

    line: int
    """0-based, of the body."""
    indent: int
    text: str
    """The item on one line, without bullet and box."""
    mark: tuple[int, int]
    """Columns of the box in its line; an empty range where it would stand."""
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
    bullet = _ITEM.match(written, row.start)
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

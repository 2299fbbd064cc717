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
_DEEPEST = 6
"""Level of headings; what a label heads ends at any of them."""
_LONGEST_LABEL = 80
_BRACKETED = re.compile(r"[(\[（][^()\[\]（）]*+[)\]）]")
_NUMBERS = re.compile(r"\A[\d\W_]+|[\d\W_]+\Z")
_MARKS = "*_> \t"
_BOLD = re.compile(r"\A[ \t>]*(\*\*|__)[^*_]+\1[ \t]*")
_TICKED, _DROPPED = ("x", "X"), ("-", "~")
_ITEM = re.compile(
    r"(?<![ \t>])(?P<indent>[ \t>]*+)(?:[-*+]|\d{1,9}[.)])(?:[ \t]++|(?=\[))"
    r"(?P<box>\[(?P<sign>[ xX/?!>~-]?)\](?![(\[:])[ \t]*+)?+(?P<text>\S.*)"
)


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
        if not is_code and (":" in line or "：" in line or _BOLD.fullmatch(line)):
            named, behind = _split_label(line)
            if named:
                kind, level, is_short = named, _DEEPEST + 1, bool(behind.strip())
                start = len(line) - len(behind)
        yield kind, Row(number, line, start, is_code)


def _split_label(text: str) -> tuple[CardPart | None, str]:
    """Return the part that a text up to its colon names, and what stands behind it.

    ``Goal: fresh packs``, ``**Goal**`` or ``**Goal:** fresh packs``.
    """
    name, _, behind = text.replace("：", ":", 1).partition(":")
    kind = kind_of(name.strip(_MARKS)) if len(name) <= _LONGEST_LABEL else None
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
    """An item of a list."""

    line: int
    """0-based, of the body."""
    indent: int
    text: str
    """The item on one line, without bullet and box."""
    box: tuple[int, int]
    """Columns of the box in its line; an empty range where it would stand."""
    sign: str | None
    """What stands in the box; ``None`` without one."""

    @property
    def is_ticked(self) -> bool:
        return self.sign in _TICKED


def find_checks(form: CardForm) -> list[CardItem]:
    """Return the acceptance checks of a card in order.

    Below a heading or label for checks they are the boxes, and the items of the outer level that
    have none; where there is nothing of that, every box of the card that is not among its inputs
    and outputs. ``[-]`` is dropped: nobody has to do it.
    """
    items = _read_items(form.parts.get("checks", ()))
    least = min((item.indent for item in items), default=0)
    found = [
        item
        for item in items
        if item.sign is not None or (item.indent == least and not item.text.endswith(":"))
    ]
    found = found or [item for item in _read_items(form.rest) if item.sign is not None]
    return [item for item in found if item.sign not in _DROPPED]


def find_items(rows: Sequence[Row]) -> list[str]:
    """Return the items of a list of paths, or its lines where nobody made a list of them.

    Those are left out that say that there is nothing, such as "None." or "keine".
    """
    found = [item.text for item in _read_items(rows)]
    lines = found or [row.text[row.start :].strip() for row in rows if not row.is_code]
    return [text for text in lines if squeeze_all([text])[0] not in _NOTHING]


def write_mark(line: str, item: CardItem, *, is_ticked: bool) -> str:
    """Return the line of an item, as stored, with a box that says so."""
    before, behind = line[: item.box[0]], line[item.box[1] :]
    gap = "" if before.endswith((" ", "\t")) else " "
    return f"{before}{gap}[{'x' if is_ticked else ' '}] {behind}"


def _read_items(rows: Sequence[Row]) -> list[CardItem]:
    """Return the items of lists, each with the lines that go on with it."""
    items: list[CardItem] = []
    last = -2
    for row in rows:
        found = None if row.is_code else _ITEM.match(row.text[row.start :])
        if found:
            end = row.start + found.start("text")
            box = end - len(found["box"] or ""), end
            sign, indent = found["sign"], len(found["indent"])
            items.append(CardItem(row.number, indent, found["text"].rstrip(), box, sign))
            last = row.number
        elif row.number == last + 1 and row.text.strip() and not row.is_code:
            items[-1] = replace(items[-1], text=f"{items[-1].text} {row.text.strip()}")
            last = row.number
    return items

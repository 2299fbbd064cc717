"""Parse task cards: parts by heading or label, acceptance checks, paths, links, fields.

A card's state is its folder in the dispatch corridor, or else its field ``status``.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args
from urllib.parse import unquote

from memory_palace.config import Rooms
from memory_palace.errors import UsageError
from memory_palace.graph.naming import find_called, slug_of
from memory_palace.language.words import squeeze_all
from memory_palace.markdown.markup import WIKI_LINK, Markup, drop_comments
from memory_palace.notes.document import Document
from memory_palace.notes.parsing import find_links
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
"""Front matter fields that make a note outside the state folders a card."""

CardPart: TypeAlias = Literal["goal", "inputs", "outputs", "checks", "next_action"]
KINDS: tuple[CardPart, ...] = get_args(CardPart)
_DEEPEST = 6
"""Deepest heading level; a part begun by a label ends at a heading of any level."""
_LONGEST_LABEL = 80
_BRACKETED = re.compile(r"[(\[（][^()\[\]（）]*+[)\]）]")
_NUMBERS = re.compile(r"\A[\d\W_]+|[\d\W_]+\Z")
_MARKS = "*_> \t"
_BOLD = re.compile(r"\A[ \t>]*(\*\*|__)[^*_]+\1[ \t]*")
_TICKED, _DROPPED = ("x", "X"), ("-", "~")
_ITEM = re.compile(
    r"(?<![ \t>])(?P<indent>[ \t>]*+)(?:[-*+]|\d{1,9}[.)])(?:[ \t]++|(?=\[))"
    r"(?:(?P<box>\[(?P<sign>[ xX/?!>~-]?)\](?![(\[:])[ \t]*+)|(?!\[[ xX/?!>~-]?\](?![(\[:])))"
    r"(?P<text>\S.*)"
)

_IN_CODE = re.compile(r"`([^`\n]++)`")
_MARKDOWN_LINK = re.compile(r"\]\(<?([^()<>\n]*(?:\([^()\n]*\)[^()<>\n]*)?)>?\)")
_BETWEEN = re.compile(r" (?:[-–—(→]|->)|[,;:](?: +|\Z)")
"""Separator after a path, before another path or a remark."""
_SUFFIX = re.compile(r"[\w*)\]]\.[A-Za-z][A-Za-z0-9]{0,7}\Z")
_GLOB = re.compile(r"[*?]")
_MOST_MATCHES = 1000
"""Most matches of a glob pattern that are examined."""


class Row(NamedTuple):
    """A line of a card's part."""

    number: int
    """0-based line number in the body."""
    text: str
    start: int
    """Column of the content, after the label."""
    is_code: bool


@dataclass(frozen=True, slots=True)
class CardForm:
    """The lines of a card's body, grouped by part."""

    parts: Mapping[CardPart, list[Row]]
    rest: list[Row]
    """Rows outside inputs and outputs: they may hold checks if the card has no part for them."""

    def text(self, kind: CardPart) -> str:
        return "\n".join(row.text[row.start :] for row in self.parts.get(kind, ())).strip()


def kind_of(name: str) -> CardPart | None:
    """Return the part that a heading or label names, or ``None``."""
    return _KINDS.get(_fold(name))


def read_form(body: str) -> CardForm:
    """Return the lines of a body grouped by part, without comments."""
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
    """Yield every line except headings, each with its part.

    A heading ends a part begun at its level or deeper; a part begun by a label with text on its
    line ends with the paragraph.
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
    """Return the part named by the text before the first colon, and the text after the colon.

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
    """An item of a list, with its optional check box."""

    line: int
    """0-based line number in the body."""
    indent: int
    text: str
    """The item joined to one line, without bullet and box."""
    box: tuple[int, int]
    """Start and end column of the box; without a box, an empty range at its place."""
    sign: str | None
    """Character in the box, empty for ``[]``; ``None`` without a box."""

    @property
    def is_ticked(self) -> bool:
        return self.sign in _TICKED


def find_checks(form: CardForm) -> list[CardItem]:
    """Return the acceptance checks of a card in order.

    Checks are the items with a box in the part for checks, and its outermost items without one. If
    there are none, checks are all items with a box outside inputs and outputs. Items with ``[-]``
    or ``[~]`` are skipped as dropped.
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
    """Return the list items of a part, or its lines if it has no list.

    Words for an empty list, such as "None." or "keine", are skipped.
    """
    found = [item.text for item in _read_items(rows)]
    lines = found or [row.text[row.start :].strip() for row in rows if not row.is_code]
    return [text for text in lines if squeeze_all([text])[0] not in _NOTHING]


def write_mark(line: str, item: CardItem, *, is_ticked: bool) -> str:
    """Return an item's line with its box ticked or cleared; a missing box is inserted."""
    before, behind = line[: item.box[0]], line[item.box[1] :]
    gap = "" if before.endswith((" ", "\t")) else " "
    return f"{before}{gap}[{'x' if is_ticked else ' '}] {behind}"


def _read_items(rows: Sequence[Row]) -> list[CardItem]:
    """Return the list items of rows, each joined with its continuation lines."""
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


def target_of_item(item: str, rooms: Rooms) -> tuple[str, bool]:
    """Return the first link target or path of an input or output item, and whether it is a link.

    A path may start at the root, at ``palace/`` in a classic palace, or with the name of a room.
    """
    links = find_links(item)
    if links:
        return links[0].target, True
    named = paths_of_item(item)
    return path_in_rooms(named[0] if named else item.strip("` "), rooms), False


def path_in_rooms(path: str, rooms: Rooms) -> str:
    """Return a path relative to the notes as a path relative to the root, in its room's folder."""
    room, _, below = path.partition("/")
    if below and room in rooms.folders.values():
        return rooms.path_of(path)
    return path if path.startswith(rooms.prefix) else f"{rooms.prefix}{path}"


def links_of_item(item: str) -> list[str]:
    """Return the wikilink targets of an item, without display text and heading."""
    found = (match[1].replace("\\|", "|").partition("|")[0] for match in WIKI_LINK.finditer(item))
    return [target.partition("#")[0].strip() for target in found]


def paths_of_item(item: str) -> list[str]:
    """Return the paths in an item, apart from wikilinks.

    Targets of Markdown links and paths in code, or else path-like text before commas or remarks.
    """
    rest = WIKI_LINK.sub(" ", item).strip(" '\"")
    found = [unquote(match[1].partition(' "')[0]) for match in _MARKDOWN_LINK.finditer(rest)]
    found += [match[1] for match in _IN_CODE.finditer(rest) if _is_path(match[1])]
    found = found or list(filter(_is_path, _BETWEEN.split(rest)))
    paths = (path.strip().strip("'\"`").replace("\\", "/") for path in found if "://" not in path)
    return [path.removeprefix("./") for path in paths if path]


def path_exists(path: str, bases: Sequence[Path], root: Path) -> bool:
    """Return whether a file or folder below the root exists at a path or matches it as a glob.

    Relative paths start at any of ``bases`` and may end with ``#heading``. An absolute path may
    lie anywhere.
    """
    if path.startswith(("/", "~/")):
        return _lies(Path(path).expanduser())
    spellings = dict.fromkeys((path, path.partition("#")[0]))
    places = ((base / part).resolve() for base in bases for part in spellings)
    if any(place.is_relative_to(root) and _lies(place) for place in places):
        return True
    if not _GLOB.search(path) or ".." in path.split("/"):
        return False
    return any(
        found.resolve().is_relative_to(root)
        for base in bases
        for found in islice(base.glob(path), _MOST_MATCHES)
    )


def _lies(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # a name that no file can have
        return False


def _is_path(text: str) -> bool:
    """Return whether a text looks like a path: it ends in a suffix, or is one word with a slash."""
    text = text.strip()
    return bool(_SUFFIX.search(text)) or (
        not re.search(r"\s", text) and bool(re.search(r"[/\\]", text))
    )


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
    """Path relative to the card's state folder, or to the corridor outside state folders."""
    has_folder: bool = inner()
    """Whether the card is in a state folder."""

    @property
    def is_archived(self) -> bool:
        return self.document.is_cold

    def lines(self) -> Iterable[str]:
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
    """Return the cards among notes, including archived cards."""
    return [card for document in documents if (card := parse_card(document)) is not None]


def parse_card(document: Document) -> Card | None:
    """Return a note as a card, or ``None`` if it is not in the corridor or not a card.

    Outside the state folders a note is a card if it has a card's part, check, field or type; its
    state is its field ``status``, by default active.
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
    """Return the unarchived card whose path, file name, slug, id, title or alias is ``text``."""
    known = {card.path: card for card in cards if not card.is_archived}
    names: dict[str, set[str]] = {}
    for path, card in known.items():
        document = card.document
        paths = {path.removesuffix(".md"), document.place.removesuffix(".md")}
        names[path] = paths.union((slug_of(document.stem), card.task_id), document.names)
    return known[find_called(text, names, what="card", verb="task")]


def find_check(card: Card, wanted: int | str) -> Check:
    """Return the check with a number, or the only check whose text equals or contains a text.

    Raise ``UsageError``, listing all checks, if no check or several checks match.
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
    """Return the items of a part, or else the values of the front matter field for the part."""
    found = find_items(form.parts.get(kind, ()))
    return tuple(found) or document.texts(fields.get(kind, ""))

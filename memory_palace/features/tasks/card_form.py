"""The parts of a task card as people write them: below a heading, behind a label, by any name."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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


class Row(NamedTuple):
    """A line of a part."""

    number: int
    """0-based, of the body."""
    text: str
    start: int
    """Where its content begins, behind the label."""
    is_code: bool


@dataclass(frozen=True, slots=True)
class CardForm:
    """The rows of each part that a body has."""

    parts: Mapping[CardPart, list[Row]]
    rest: list[Row]
    """All that may hold a check where no part is for checks: what is neither input nor output."""

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

"""Links in Markdown: Obsidian's wiki links, inline links and references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

WIKI_LINK = re.compile(r"!?\[\[([^\[\]\n]{1,500}+)\]\]")
"""``[[target#heading|alias]]`` or ``![[target]]``; the group stands between the brackets."""
LinkForm: TypeAlias = Literal["wiki", "inline", "reference"]


class Definition(NamedTuple):
    """Where a reference definition, ``[label]: destination``, has its destination in the text."""

    start: int
    end: int


class MarkdownLink(NamedTuple):
    """A link by its offsets in a text."""

    form: LinkForm
    start: int
    end: int
    target_start: int
    target_end: int
    """The destination as written, without angle brackets; of a reference, in its definition. Of a
    wiki link, all between the brackets."""
    text_end: int
    """Where the text that is shown ends; it starts behind the first bracket."""
    is_image: bool


_SPECIAL = re.compile(rf"{WIKI_LINK.pattern}|!?\[|\]")
_DEFINITION = re.compile(
    r"(?:(?<![ \t>])[ \t>]++)?+\[((?:[^\\\[\]]|\\.){1,999}+)\]:[ \t]*+(?:\r?\n[ \t>]*+)?"
    r"(<(?:[^<>\n\\]|\\.)*+>|[^\s<]\S*+)"
    r"(?:(?:[ \t]++|[ \t\r]*+\n[ \t>]*+)"
    r"(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)))?[ \t\r]*(?:\n|\Z)",
    re.S,
)
_LONGEST = 1000
"""Characters of a destination and its title; more are not read, so that time stays linear."""
_CHARACTER = r"[^\s()\\]|\\[!-/:-@\[-`{-~]?+"
_BARE = _CHARACTER
for _ in range(3):  # parentheses in parentheses
    _BARE = rf"{_CHARACTER}|\((?:{_BARE})*+\)"
_INLINE = re.compile(
    rf"\(\s*+(?:<((?:[^<>\n\\]|\\.)*+)>|((?!<)(?:{_BARE})*+))"
    r"(?:\s++(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))?+)?+\s*+\)",
    re.S,
)
_LABEL = re.compile(r"\[((?:[^\\\[\]]|\\.){0,999}+)\]", re.S)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def unescape(text: str) -> str:
    """Return a destination without the backslashes that escape punctuation."""
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


def scan_links(
    text: str, plain: str, start: int, end: int, definitions: Mapping[str, Definition]
) -> Iterator[MarkdownLink]:
    """Yield the links of one paragraph; links hold no links but images (CommonMark 6.3).

    ``plain`` is the text with everything hidden as blanks, so that offsets are the same in both.
    """
    openers: list[re.Match[str]] = []
    dead = 0
    """How many openers at the bottom of the stack enclose a link, and so cannot open one."""
    position = start
    while mark := _SPECIAL.search(plain, position, end):
        position = mark.end()
        if mark[1]:
            yield MarkdownLink(
                "wiki", *mark.span(), *mark.span(1), mark.end() - 2, mark[0][0] == "!"
            )
        elif mark[0] != "]":
            openers.append(mark)
        elif openers:
            opener = openers.pop()
            is_image = opener[0] == "!["
            is_dead = len(openers) < dead and not is_image
            dead = min(dead, len(openers))
            found = None if is_dead else _close(text, opener, mark.start(), end, definitions)
            if found is not None:
                yield found
                position = found.end
                dead = dead if is_image else len(openers)


def _close(
    text: str, opener: re.Match[str], at: int, end: int, definitions: Mapping[str, Definition]
) -> MarkdownLink | None:
    """Read what follows a closing bracket at ``at``: a destination, a label or neither."""
    is_image = opener[0] == "!["
    if text.startswith("(", at + 1):
        found = _INLINE.match(text, at + 1, min(end, at + _LONGEST))
        if found:
            group = 2 if found[1] is None else 1
            return MarkdownLink(
                "inline", opener.start(), found.end(), *found.span(group), at, is_image
            )
    if not definitions:
        return None
    label = _LABEL.match(text, at + 1, end)
    stop = label.end() if label else at + 1
    name = (
        label[1]
        if label and label[1]
        else text[opener.end() : at]
        if at - opener.end() < _LONGEST
        else ""
    )
    definition = definitions.get(fold_label(name))
    if definition is None:
        return None
    start, last = definition
    if text[start] == "<":
        start, last = start + 1, last - 1
    return MarkdownLink("reference", opener.start(), stop, start, last, at, is_image)


def take_definitions(text: str, start: int, end: int) -> Iterator[tuple[str, Definition, int]]:
    """Yield the definitions that a paragraph begins with: label, destination, and where it ends."""
    if not text.startswith("[", start):
        return
    while start < end and (found := _DEFINITION.match(text, start, end)):
        label = fold_label(found[1])
        if not label:
            return
        start = found.end()
        yield label, Definition(*found.span(2)), start


def fold_label(label: str) -> str:
    """Return a link label as labels are compared."""
    return " ".join(label.replace("\n>", "\n").split()).casefold()

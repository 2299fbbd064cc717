"""Parse the block structure of CommonMark: headings, code, comments, HTML and prose.

Each line is read once and every pattern is linear, so time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

_TAG_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|"
    "hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|"
    "search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_ATTRIBUTE = r"\s++[A-Za-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+"
_HTML = tuple(
    (re.compile(start, re.I), re.compile(end, re.I) if end else None, may_interrupt)
    for start, end, may_interrupt in (
        (r"<!--", r"-->", True),
        (r"<(?:script|pre|style|textarea)(?:\s|>|$)", r"</(?:script|pre|style|textarea)>", True),
        (r"<\?", r"\?>", True),
        (r"<!\[CDATA\[", r"\]\]>", True),
        (r"<![a-z]", r">", True),
        (rf"</?(?:{_TAG_NAMES})(?:\s|/?>|$)", "", True),
        (rf"<[a-z][a-z0-9-]*+(?:{_ATTRIBUTE})*+\s*+/?>\s*$", "", False),
        (r"</[a-z][a-z0-9-]*+\s*+>\s*$", "", False),
    )
)
"""HTML blocks (CommonMark 4.6): start pattern; pattern within the last line, or ``None`` if a blank
line ends the block; whether the block may interrupt a paragraph."""
BlockKind: TypeAlias = Literal["prose", "heading", "fence", "indented", "comment", "html"]


class LeafBlock(NamedTuple):
    """A leaf block by its lines, 0-based and inclusive. Rules and blank lines are not blocks."""

    kind: BlockKind
    first: int
    last: int
    column: int = 0
    """Offset in the first line where its content starts, after list, quote and heading marks."""
    level: int = 0
    """Level of a heading, 1 to 6."""
    is_nested: bool = False
    """Whether it is part of a list item or a block quote."""


class Definition(NamedTuple):
    """Offsets of the destination in a link reference definition, ``[label]: destination``."""

    start: int
    end: int


_DEEPEST = 50
"""Most nested containers; deeper ones are text, which bounds the work per line."""
_QUOTE = 0
"""Stack entry of a block quote; the entry of a list item is the indent of its content."""
_MARKS = frozenset(["", *" \t\r>#-+*_=`~<0123456789"])
"""First characters of lines that may be other than prose."""
_ITEM = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)")
_PLAIN_ITEM = re.compile(rf"[-+*] (?=[^{re.escape(''.join(_MARKS))}])")
"""A list item without indent whose content can only be prose."""
_ATX = re.compile(r"(#{1,6})(?:[ \t]+|$)")
_FENCE = re.compile(r"(`{3,}+(?=[^`]*$)|~{3,}+)")
_UNDERLINE = re.compile(r"(?<![=-])(?:=++|-++)[ \t]*$")

_DEFINITION = re.compile(
    r"(?:(?<![ \t>])[ \t>]++)?+\[((?:[^\\\[\]]|\\.){1,999}+)\]:[ \t]*+(?:\r?\n[ \t>]*+)?"
    r"(<(?:[^<>\n\\]|\\.)*+>|[^\s<]\S*+)"
    r"(?:(?:[ \t]++|[ \t\r]*+\n[ \t>]*+)"
    r"(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)))?[ \t\r]*(?:\n|\Z)",
    re.S,
)


def read_blocks(
    text: str, *, has_indented_code: bool = True
) -> tuple[list[LeafBlock], dict[str, Definition], list[int]]:
    """Return the blocks in order, the reference definitions by label, and each line's offset.

    Of two definitions of a label the first counts (CommonMark 4.7).
    """
    reader = _BlockReader(text, has_indented_code)
    reader.read()
    return reader.blocks, reader.definitions, reader.starts


class _BlockReader:
    """A line-by-line block parser; its state is the open containers and the open leaf, if any."""

    def __init__(self, text: str, has_indented_code: bool) -> None:
        self.text = text
        self.blocks: list[LeafBlock] = []
        self.definitions: dict[str, Definition] = {}
        lines = text.split("\n")
        self.starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        self._lines: Sequence[str] = (
            [line.removesuffix("\r") for line in lines] if "\r" in text else lines
        )
        self._has_indented_code = has_indented_code
        self._stack: list[int] = []
        self._kind: BlockKind | None = None
        self._first = self._last = self._column = 0
        self._fence = ""
        self._html_end: re.Pattern[str] | None = None
        self._level = 0
        self._empty_item = -1
        """Number of the last line that began an empty list item."""

    def read(self) -> None:
        for number, line in enumerate(self._lines):
            if self._kind in ("fence", "indented", "comment", "html"):
                if self._kind == "fence" and not self._stack and self._fence not in line:
                    self._last = number
                else:
                    self._read_line(number, line)
            elif line[:1] not in _MARKS:
                if self._kind is None:
                    self._open("prose", number, 0, 0)
                self._last = number
            elif not line and not self._stack:
                self._close()
            elif item := _PLAIN_ITEM.match(line):
                self._close()
                self._stack[:] = [item.end()]
                self._open("prose", number, item.end(), 1)
            else:
                self._read_line(number, line)
        self._close()

    def _read_line(self, number: int, line: str) -> None:
        matched, at, column = self._match_containers(number, line)
        if matched < len(self._stack):
            if self._kind != "prose":
                self._close()
                del self._stack[matched:]
        elif self._kind in ("fence", "comment", "html"):
            self._read_raw(number, line, at, column)
            return
        is_lazy = matched < len(self._stack)
        opened = self._open_containers(number, line, at, column, matched, is_lazy)
        if opened is not None:
            matched = len(self._stack)
            at, column = opened
        start, width = _measure(line, at, column)
        if start == len(line):
            if self._kind != "indented":
                self._close()
                del self._stack[matched:]
        elif width < 4 or not (self._kind == "prose" or self._has_indented_code):
            may_underline = not is_lazy and opened is None
            self._read_leaf(number, line, start, matched, may_underline)
        else:
            if self._kind not in ("prose", "indented"):
                self._open("indented", number, at, matched)
            self._last = number

    def _match_containers(self, number: int, line: str) -> tuple[int, int, int]:
        """Return how many open containers a line continues, its content's offset and column."""
        at = column = 0
        for place, indent in enumerate(self._stack):
            start, width = _measure(line, at, column)
            if indent == _QUOTE:
                if width > 3 or line[start : start + 1] != ">":
                    return place, at, column
                at, column = _skip_columns(line, start + 1, column + width + 1, 1)
            elif start == len(line):
                if self._empty_item == number - 1 and place == len(self._stack) - 1:
                    return place, at, column
            elif width >= indent:
                at, column = _skip_columns(line, at, column, indent)
            else:
                return place, at, column
        return len(self._stack), at, column

    def _open_containers(
        self, number: int, line: str, at: int, column: int, matched: int, is_lazy: bool
    ) -> tuple[int, int] | None:
        """Open quotes and items that begin in a line; return the content's offset and column."""
        is_new = False
        while True:
            start, width = _measure(line, at, column)
            mark = line[start : start + 1]
            is_too_deep = len(self._stack) == _DEEPEST and (is_new or matched == _DEEPEST)
            if width > 3 or not mark or mark not in ">-+*0123456789" or is_too_deep:
                break
            if mark == ">":
                indent = _QUOTE
                at, column = _skip_columns(line, start + 1, column + width + 1, 1)
            else:
                interrupts = self._kind == "prose" and not is_lazy and not is_new
                item = _ITEM.match(line, start)
                if item is None or _is_rule(line, start):
                    break
                behind = column + width + item.end() - start
                text_start, gap = _measure(line, item.end(), behind)
                is_empty = text_start == len(line)
                if interrupts and (is_empty or item[1] not in (None, "1")):
                    break
                padding = 1 if is_empty or gap > 4 else gap
                indent = width + item.end() - start + padding
                at, column = _skip_columns(line, item.end(), behind, padding)
                if is_empty:
                    self._empty_item = number
            if not is_new:
                self._close()
                del self._stack[matched:]
                is_new = True
            self._stack.append(indent)
        return (at, column) if is_new else None

    def _read_leaf(
        self, number: int, line: str, start: int, matched: int, may_underline: bool
    ) -> None:
        mark = line[start]
        if mark == "#" and (heading := _ATX.match(line, start)):
            self._open("heading", number, heading.end(), matched, level=len(heading[1]))
            self._close()
        elif mark in "`~" and (fence := _FENCE.match(line, start)):
            self._open("fence", number, start, matched)
            self._fence = fence[1]
        elif mark == "<" and self._opens_html(number, line, start, matched):
            pass
        elif self._kind == "prose" and may_underline and _UNDERLINE.match(line, start):
            self._underline(number, 1 if mark == "=" else 2)
        elif _is_rule(line, start):
            self._close()
            del self._stack[matched:]
        elif self._kind == "prose":
            self._last = number
        else:
            self._open("prose", number, start, matched)

    def _read_raw(self, number: int, line: str, at: int, column: int) -> None:
        """Add a line to the open fence or HTML block, or close the block."""
        start, width = _measure(line, at, column)
        if self._kind == "fence":
            mark = line[start:].rstrip(" \t")
            is_end = width < 4 and len(mark) >= len(self._fence) and not mark.strip(self._fence[0])
        elif self._html_end is None:
            is_end = start == len(line)
        else:
            is_end = self._html_end.search(line, at) is not None
        if not is_end or start < len(line):
            self._last = number
        if is_end:
            self._close()

    def _opens_html(self, number: int, line: str, start: int, matched: int) -> bool:
        for begin, end, may_interrupt in _HTML:
            if (may_interrupt or self._kind != "prose") and begin.match(line, start):
                is_comment = line.startswith("<!--", start)
                self._open("comment" if is_comment else "html", number, start, matched)
                self._html_end = end
                # "<!-->" is a whole comment, so its end may be part of its start.
                if end and end.search(line, start + 2):
                    self._close()
                return True
        return False

    def _underline(self, number: int, level: int) -> None:
        """Turn the open paragraph into a setext heading, without definitions at its start."""
        self._take_definitions()
        if self._kind is None:
            self._open("prose", number, 0, len(self._stack))
            return
        self._kind = "heading"
        self._last = number
        self._close(level)

    def _open(
        self, kind: BlockKind, number: int, column: int, matched: int, *, level: int = 0
    ) -> None:
        self._close()
        del self._stack[matched:]
        self._kind, self._first, self._last, self._column = kind, number, number, column
        self._level = level

    def _close(self, level: int = 0) -> None:
        if self._kind == "prose":
            self._take_definitions()
        if self._kind is not None:
            place = self._first, self._last, self._column, level or self._level
            self.blocks.append(LeafBlock(self._kind, *place, bool(self._stack)))
            self._kind = None

    def _take_definitions(self) -> None:
        """Cut reference definitions off the start of the open paragraph."""
        start = self.starts[self._first] + self._column
        end = self.starts[self._last + 1] - 1
        if not self.text.startswith("[", start):
            return
        while start < end and (found := _DEFINITION.match(self.text, start, end)):
            label = fold_label(found[1])
            if not label:
                return
            self.definitions.setdefault(label, Definition(*found.span(2)))
            self._first += self.text.count("\n", start, found.end())
            self._column, start = 0, found.end()
        if start >= end:
            self._kind = None


def _is_rule(line: str, start: int) -> bool:
    """Whether the rest of a line is a thematic break: three or more ``*``, ``-`` or ``_``."""
    mark, rest = line[start], line[start:]
    return mark in "*-_" and rest.count(mark) >= 3 and not rest.strip(f"{mark} \t")


def _measure(line: str, at: int, column: int) -> tuple[int, int]:
    """Return the offset of the next character that is not blank, and its indent in columns."""
    blanks = (
        len(line) - at - len(line[at:].lstrip(" \t")) if line[at : at + 1] in (" ", "\t") else 0
    )
    if "\t" not in line[at : at + blanks]:
        return at + blanks, blanks
    width = 0
    for char in line[at : at + blanks]:
        width += 1 if char == " " else 4 - (column + width) % 4
    return at + blanks, width


def _skip_columns(line: str, at: int, column: int, columns: int) -> tuple[int, int]:
    """Return the offset and column after so many columns of blanks; a tab may be split."""
    stop = column + columns
    while column < stop and at < len(line) and line[at] in " \t":
        end = column + 1 if line[at] == " " else column + 4 - column % 4
        if end > stop:
            return at, stop
        at, column = at + 1, end
    return at, column


def fold_label(label: str) -> str:
    """Return a link label normalised for comparison: white space collapsed, casefolded."""
    return " ".join(label.replace("\n>", "\n").split()).casefold()

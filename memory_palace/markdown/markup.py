"""One Markdown text, read once: its headings, code, comments and links."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from memory_palace.markdown.blocks import LeafBlock, read_blocks
from memory_palace.markdown.links import MarkdownLink, scan_links

HiddenKind: TypeAlias = Literal["block", "code", "comment", "escape"]
"""A block is a fence or indented code, whole lines of it."""


class Hidden(NamedTuple):
    """A part of a text, by its offsets, in which no link, tag or heading is looked for."""

    kind: HiddenKind
    start: int
    end: int


_TICKS = re.compile(r"`+")
_MARK = re.compile(r"\\[!-/:-@\[-`{-~]|`+|<!--")


def find_hidden(
    text: str, start: int, end: int, *, is_open_comment: bool = False
) -> Iterator[Hidden]:
    """Yield what is hidden between two offsets of a text, whichever opens first.

    Code is a run of ticks up to the next run of the same length (CommonMark 6.1), a comment
    ``<!--`` up to ``-->``. What is not closed is text, but for a comment where
    ``is_open_comment`` says that its block is nothing else.
    """
    runs: dict[int, list[int]] | None = None
    position = start
    while mark := _MARK.search(text, position, end):
        position = mark.end()
        if mark[0][0] == "\\":
            yield Hidden("escape", mark.start(), position)
        elif mark[0][0] == "`":
            if runs is None:
                runs = _runs_by_length(text, position, end)
            closing = _first_after(runs.get(len(mark[0]), []), position)
            if closing is not None:
                position = closing + len(mark[0])
                yield Hidden("code", mark.start(), position)
        elif start >= 0:
            closing = text.find("-->", mark.start() + 2, end)  # "<!-->" is a whole comment
            if closing < 0 and not is_open_comment:
                start = -1  # no later comment is closed either
                continue
            position = end if closing < 0 else closing + 3
            yield Hidden("comment", mark.start(), position)


def _runs_by_length(text: str, start: int, end: int) -> dict[int, list[int]]:
    """Return where the runs of ticks start, by their length, the last run first."""
    runs: dict[int, list[int]] = {}
    for run in reversed(list(_TICKS.finditer(text, start, end))):
        runs.setdefault(len(run[0]), []).append(run.start())
    return runs


def _first_after(starts: list[int], position: int) -> int | None:
    """Return the first start from ``position`` on; those before it are never needed again."""
    while starts and starts[-1] < position:
        starts.pop()
    return starts[-1] if starts else None


_NOT_LINE_END = re.compile(r"[^\r\n]")


class Heading(NamedTuple):
    """A heading of a text, ATX (``## Title``) or setext (a line of ``=`` or ``-`` below it)."""

    level: int
    text: str
    """On one line, without comments."""
    first: int
    last: int
    """Its lines, 0-based and inclusive, the underline included."""
    is_nested: bool
    """Whether it is part of a list item or a block quote, where it heads no section."""


class Section(NamedTuple):
    """The lines below a heading of level two, up to the next heading of level one or two."""

    heading: Heading
    first: int
    end: int
    """0-based; the line behind the last."""


class Markup:
    """A text without front matter. Each part is read when first asked for, in linear time.

    ``is_part`` says that the text was cut out of a note: it may begin inside of a list, so that
    indented lines are not taken for code.
    """

    def __init__(self, text: str, *, is_part: bool = False) -> None:
        self.text = text
        self.blocks, self._definitions, self.starts = read_blocks(
            text, has_indented_code=not is_part
        )

    def line_at(self, offset: int) -> int:
        """Return the 0-based line of an offset."""
        return bisect_right(self.starts, offset) - 1

    @cached_property
    def headings(self) -> list[Heading]:
        """Every heading, in order."""
        return [
            Heading(block.level, self._heading_text(block), *block[1:3], block.is_nested)
            for block in self.blocks
            if block.kind == "heading"
        ]

    def without_headings(self) -> str:
        """Return the text with empty lines in place of its headings."""
        lines = self.text.split("\n")
        for found in self.headings:
            lines[found.first : found.last + 1] = [""] * (found.last + 1 - found.first)
        return "\n".join(lines)

    @cached_property
    def title(self) -> str:
        """The first heading of level one, or nothing."""
        top = (found.text for found in self.headings if found.level == 1 and not found.is_nested)
        return next(top, "")

    def find_section(self, name: str) -> Section | None:
        """Return the first section of level two that has a name, whatever its case."""
        tops = [found for found in self.headings if found.level <= 2 and not found.is_nested]
        ends = [*(found.first for found in tops[1:]), len(self.starts) - 1]
        for heading, end in zip(tops, ends, strict=bool(tops)):
            if heading.level == 2 and heading.text.casefold() == name.casefold():
                return Section(heading, heading.last + 1, end)
        return None

    @cached_property
    def fenced(self) -> list[bool]:
        """Whether each line belongs to a fenced block, the fences included."""
        flags = [False] * (len(self.starts) - 1)
        for block in self.blocks:
            if block.kind == "fence":
                flags[block.first : block.last + 1] = [True] * (block.last + 1 - block.first)
        return flags

    @cached_property
    def hidden(self) -> list[Hidden]:
        """Code, comments and escaped characters, in order: nothing in them is markup."""
        found: list[Hidden] = []
        for block in self.blocks:
            start, end = self._span(block)
            if block.kind in ("fence", "indented"):
                found.append(Hidden("block", self.starts[block.first], end))
            else:
                is_comment = block.kind == "comment"
                found += find_hidden(self.text, start, end, is_open_comment=is_comment)
        return found

    @cached_property
    def plain(self) -> str:
        """The text with blanks for all that is hidden; offsets and lines stay."""
        kept: list[str] = []
        position = 0
        for _, start, end in self.hidden:
            kept += [self.text[position:start], _NOT_LINE_END.sub(" ", self.text[start:end])]
            position = end
        return "".join([*kept, self.text[position:]]) if kept else self.text

    @cached_property
    def links(self) -> list[MarkdownLink]:
        """Every link outside code, in order of its closing bracket."""
        if "[" not in self.text:
            return []
        spans = [self._span(b) for b in self.blocks if b.kind not in ("fence", "indented")]
        return [
            link
            for span in spans
            if self.plain.find("[", *span) >= 0
            for link in scan_links(self.text, self.plain, *span, self._definitions)
        ]

    def _span(self, block: LeafBlock) -> tuple[int, int]:
        return self.starts[block.first] + block.column, self.starts[block.last + 1] - 1

    def _heading_text(self, block: LeafBlock) -> str:
        start, end = self._span(block)
        is_setext = block.last > block.first
        if is_setext:
            end = self.starts[block.last] - 1
        text = self.text[start:end]
        for part in self.hidden if "<!--" in text else ():
            if part.kind == "comment" and start <= part.start and part.end <= end:
                text = text.replace(self.text[part.start : part.end], "")
        if is_setext:
            return " ".join(text.split())
        text = text.strip()
        without = text.rstrip("#")
        return without.rstrip() if not without or without[-1] in " \t" else text

"""Parse a Markdown text: headings, sections, code, comments, links and prose.

It reads CommonMark, and Obsidian's ``[[wiki links]]`` and ``%% comments %%``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Literal, NamedTuple

from memory_palace.markdown.blocks import Definition, LeafBlock, fold_label, read_blocks

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
    """Whether it is in a list item or a block quote, and so heads no section."""


class Section(NamedTuple):
    """The lines below a heading of level two, up to the next heading of level one or two."""

    heading: Heading
    first: int
    end: int
    """0-based line numbers; ``end`` is exclusive."""


class Markup:
    """A parsed Markdown body. Each property is computed on first use, in linear time.

    ``is_part`` marks a fragment of a note, which may begin within a list: indented lines in it are
    not taken for code.
    """

    def __init__(self, text: str, *, is_part: bool = False) -> None:
        self.text = text
        read = read_blocks(text, has_indented_code=not is_part)
        self.blocks, self._definitions, self.starts = read

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
        """The text of the first level-one heading, else empty."""
        top = (found.text for found in self.headings if found.level == 1 and not found.is_nested)
        return next(top, "")

    def find_section(self, name: str) -> Section | None:
        """Return the first level-two section with a name, ignoring case."""
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
        """The text with ``hidden`` spans replaced by spaces; offsets and lines stay."""
        blanks = (
            (start, end, _NOT_LINE_END.sub(" ", self.text[start:end]))
            for _, start, end in self.hidden
        )
        return _replace_spans(self.text, blanks)

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
            for link in _scan_links(self.text, self.plain, *span, self._definitions)
        ]

    def _span(self, block: LeafBlock) -> tuple[int, int]:
        return self.starts[block.first] + block.column, self.starts[block.last + 1] - 1

    def _heading_text(self, block: LeafBlock) -> str:
        start, end = self._span(block)
        is_setext = block.last > block.first
        if is_setext:
            end = self.starts[block.last] - 1
        text = self.text[start:end]
        for kind, first, last in self.hidden if "<!--" in text else ():
            if kind == "comment" and start <= first and last <= end:
                text = text.replace(self.text[first:last], "")
        if is_setext:
            return " ".join(text.split())
        text = text.strip()
        without = text.rstrip("#")
        return without.rstrip() if not without or without[-1] in " \t" else text


def _replace_spans(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with spans replaced; ``edits`` are in order, overlapping ones are skipped."""
    kept: list[str] = []
    position = 0
    for start, end, replacement in edits:
        if start >= position:
            kept += [text[position:start], replacement]
            position = end
    return "".join([*kept, text[position:]]) if kept else text


# --- Code and comments ----------------------------------------------------------------------------


class Hidden(NamedTuple):
    """A span of a text without markup: code, a comment, or an escaped character."""

    kind: Literal["block", "code", "comment", "escape"]
    """``block`` is a fence or indented code, in whole lines."""
    start: int
    end: int


_TICKS = re.compile(r"`+")
_MARK = re.compile(r"\\[!-/:-@\[-`{-~]|`+|<!--")
_PERCENT = "%%"
_BEGINS_LINE = re.compile(r"^[ \t>]*+(?=%%)", re.M)
_BLANK_LINE = re.compile(r"\n[ \t]*+\r?\n")


def find_hidden(
    text: str, start: int, end: int, *, is_open_comment: bool = False
) -> Iterator[Hidden]:
    """Yield the code spans, comments and escapes between two offsets of a text, in order.

    Code is a run of backticks up to the next run of the same length (CommonMark 6.1), a comment
    ``<!--`` up to ``-->``. Unclosed ones are text; with ``is_open_comment`` an unclosed comment is
    hidden up to ``end``.
    """
    runs: dict[int, list[int]] | None = None
    position, has_comments = start, True
    while mark := _MARK.search(text, position, end):
        position = mark.end()
        if mark[0][0] == "\\":
            yield Hidden("escape", mark.start(), position)
        elif mark[0][0] == "`":
            if runs is None:  # starts of runs of backticks by length, in descending order
                runs = {}
                for run in reversed(list(_TICKS.finditer(text, position, end))):
                    runs.setdefault(len(run[0]), []).append(run.start())
            later = runs.get(len(mark[0]), [])
            while later and later[-1] < position:
                later.pop()
            if later:
                position = later[-1] + len(mark[0])
                yield Hidden("code", mark.start(), position)
        elif has_comments:
            closing = text.find("-->", mark.start() + 2, end)  # "<!-->" is a whole comment
            if closing < 0 and not is_open_comment:
                has_comments = False  # no later comment is closed either
                continue
            position = end if closing < 0 else closing + 3
            yield Hidden("comment", mark.start(), position)


def drop_comments(text: str) -> tuple[str, int | None]:
    """Return a text without comments, and the 0-based line of the first unclosed one, if any.

    Line numbers stay. A ``%%`` at the start of a line opens a comment up to the next ``%%``, or to
    the end of the text; within a line it needs a closing one in its paragraph. In code it is text.
    """
    if _PERCENT not in text and "<!--" not in text:
        return text, None
    markup = Markup(text)
    spans = [(part.start, part.end) for part in markup.hidden if part.kind == "comment"]
    spans += _find_percent(text, markup.plain) if _PERCENT in text else ()
    kept: list[str] = []
    position = 0
    open_line: int | None = None
    for start, end in sorted(spans):
        if end > position:
            if open_line is None and not text.endswith((_PERCENT, "-->"), start + 2, end):
                open_line = markup.line_at(start)
            first = max(start, position)
            kept += [text[position:first], "\n" * text.count("\n", first, end)]
            position = end
    return "".join([*kept, text[position:]]), open_line


def _find_percent(text: str, plain: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of ``%%`` comments; ``plain`` is the text with code and escapes blanked."""
    begins = {found.end() for found in _BEGINS_LINE.finditer(text)}
    position = 0
    while (start := plain.find(_PERCENT, position)) >= 0:
        closing = plain.find(_PERCENT, start + 2)
        if start in begins:
            # Code that is opened in a comment and not closed would hide the end of the comment.
            closing = closing if closing >= 0 else text.find(_PERCENT, start + 2)
            position = len(text) if closing < 0 else closing + 2
            yield start, position
        elif closing >= 0 and not _BLANK_LINE.search(text, start, closing):
            position = closing + 2
            yield start, position
        else:
            position = start + 2


# --- Links ----------------------------------------------------------------------------------------

WIKI_LINK = re.compile(r"!?\[\[([^\[\]\n]{1,500}+)\]\]")
"""``[[target#heading|alias]]`` or ``![[target]]``; the group is the text between the brackets."""


class MarkdownLink(NamedTuple):
    """A link by its offsets in a text."""

    form: Literal["wiki", "inline", "reference"]
    start: int
    end: int
    target_start: int
    target_end: int
    """The destination as written, without angle brackets: for a reference link in its definition,
    for a wikilink all text between the brackets."""
    text_end: int
    """Offset at which the link text ends; it starts after the opening bracket."""
    is_image: bool


_SPECIAL = re.compile(rf"{WIKI_LINK.pattern}|!?\[|\]")
_LONGEST = 1000
"""Most characters of a destination with its title, and of a label, so that time stays linear."""
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


def _scan_links(
    text: str, plain: str, start: int, end: int, definitions: Mapping[str, Definition]
) -> Iterator[MarkdownLink]:
    """Yield the links of one paragraph; only images nest in links (CommonMark 6.3).

    ``plain`` is the text with its hidden parts blanked, so that offsets agree.
    """
    openers: list[re.Match[str]] = []
    dead = 0
    """Number of openers at the bottom of the stack that enclose a link, and so cannot open one."""
    position = start
    while mark := _SPECIAL.search(plain, position, end):
        position = mark.end()
        if mark[1]:
            is_image = mark[0][0] == "!"
            yield MarkdownLink("wiki", *mark.span(), *mark.span(1), mark.end() - 2, is_image)
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
    """Return the link whose text ends at the bracket ``at``; ``None`` if it is not a link."""
    is_image = opener[0] == "!["
    if text.startswith("(", at + 1):
        found = _INLINE.match(text, at + 1, min(end, at + _LONGEST))
        if found:
            target = found.span(2 if found[1] is None else 1)
            return MarkdownLink("inline", opener.start(), found.end(), *target, at, is_image)
    if not definitions:
        return None
    label = _LABEL.match(text, at + 1, end)
    name = label[1] if label else ""
    if not name and at - opener.end() < _LONGEST:
        name = text[opener.end() : at]
    definition = definitions.get(fold_label(name))
    if definition is None:
        return None
    start, last = definition
    if text[start] == "<":
        start, last = start + 1, last - 1
    stop = label.end() if label else at + 1
    return MarkdownLink("reference", opener.start(), stop, start, last, at, is_image)


# --- Prose ----------------------------------------------------------------------------------------

_STRUCTURE = re.compile(r"[`~#\[]|^(?:===|---)", re.M)
"""Signs of code, headings and links; a text without any of them has none."""
_BREAK = " . "
"""Replaces omitted code, formulas and URLs, so that no phrase spans the gap."""
_MATH = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.S)
_STEPS = (
    (("$",), _MATH, _BREAK),
    (("://", "www."), re.compile(r"(?:https?://|www\.)[^\s)\]>]+"), _BREAK),
    (("<",), re.compile(r"</?[a-zA-Z][^<>\n]*>"), " "),
    (("*",), re.compile(r"^([ \t]*)\*(?=\s)", re.M), r"\1-"),
    (("*", "_", "==", "~~"), re.compile(r"\*{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)|~~|=="), ""),
)
"""In order: marks of which the text must contain one, the pattern, and its replacement."""


def strip_markup(text: str, *, keep_spans: bool = False) -> str:
    """Return the prose of a note or a fragment, without code; line numbers stay.

    Headings are lowercased, because their capitals mean nothing; links become their text. With
    ``keep_spans`` inline code and formulas stay, since a sentence may be about them.
    """
    if _STRUCTURE.search(text):
        markup = Markup(text, is_part=True)
        text = _replace_spans(_with_small_headings(markup), sorted(_edits(markup, keep_spans)))
    for marks, pattern, replacement in _STEPS:
        if any(mark in text for mark in marks) and not (keep_spans and pattern is _MATH):
            text = pattern.sub(partial(_replace, replacement), text)
    return text


def _replace(replacement: str, match: re.Match[str]) -> str:
    return match.expand(replacement) + "\n" * match[0].count("\n")


def _with_small_headings(markup: Markup) -> str:
    lines = markup.text.split("\n")
    for heading in markup.headings:
        for number in range(heading.first, heading.last + 1):
            small = lines[number].lower()
            # Offsets must stay, but a few capitals have a lower case of another length.
            if len(small) == len(lines[number]) and not heading.is_nested:
                lines[number] = small
    return "\n".join(lines)


def _edits(markup: Markup, keep_spans: bool) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and replacement of code and of link syntax."""
    for kind, start, end in markup.hidden:
        inside = markup.text[start:end].strip("`")
        lines = "\n" * inside.count("\n")
        if kind == "block":
            yield start, end, lines or "\n"
        elif kind == "code" and keep_spans:
            width = (end - start - len(inside)) // 2
            yield start, start + width, ""
            yield end - width, end, ""
        elif kind == "code":
            yield start, end, _BREAK + lines
    for link in markup.links:
        first, last = link.start + (2 if link.is_image else 1), link.text_end
        if link.form == "wiki":
            first, last = _shown_name(markup.text, link)
        yield link.start, first, ""
        yield last, link.end, ""


def _shown_name(text: str, link: MarkdownLink) -> tuple[int, int]:
    """Return the span of a wikilink's shown text: its alias, else the last part of its target."""
    start, end = link.target_start, link.target_end
    bar = text.find("|", start, end)
    if bar >= 0 and text[bar + 1 : end].strip():
        return bar + 1, end
    stops = [place for mark in "#|" if (place := text.find(mark, start, end)) >= 0]
    end = min(stops, default=end)
    return max(start, text.rfind("/", start, end) + 1), end

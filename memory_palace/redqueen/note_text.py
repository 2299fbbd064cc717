"""The text of a note as a proposal sees it: its links, and the prose a link may go into."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias
from urllib.parse import unquote

from memory_palace.markdown.links import MarkdownLink, unescape
from memory_palace.markdown.markup import Markup
from memory_palace.markdown.prose import strip_markup
from memory_palace.notes.document import Document
from memory_palace.redqueen.own_sections import blank_own_sections

LinkStyle: TypeAlias = Literal["wiki", "markdown"]

_SCHEME = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+:|//|#")
_SHUT_LINE = re.compile(r">|\||\[\^|%%|:{3}|~{3}|\[[^\[\]\n]++\]:")
"""What a quotation, a table, a footnote, a comment or a definition begins with."""
_SHUT_SPAN = re.compile(
    r"\$\$.*?\$\$|\$[^$\n]++\$|%%.*?%%|(?:https?://|www\.)[^\s)\]>]++|<[^<>\n]++>|(?<!\w)#[\w/-]++"
    r"|“[^“”\n]*+”|„[^„“”\"\n]*+[“”\"]|«[^«»\n]*+»|「[^「」\n]*+」|(?<!\w)\"[^\"\n]*+\""
    r"|\{\{[^{}\n]*+\}\}|\[[^\[\]\n]*+\]",
    re.S,
)
"""Formulas, comments, addresses, HTML, tags, quotations, brackets of any other kind."""


@dataclass(frozen=True, slots=True)
class SaidLink:
    """A link with the words that it shows."""

    shown: str
    """On one line, without markup; empty where it shows the name of its target alone."""
    target: str
    """As it is written, without heading."""
    start: int
    end: int
    line: int
    """0-based, in the body."""
    style: LinkStyle
    leads_inside: bool
    """Whether it leads to a heading or a block of its target."""
    is_image: bool


class BodyText:
    """The body of a note, read once; offsets are those of ``markup.text``."""

    def __init__(self, markup: Markup) -> None:
        self.markup = markup

    @classmethod
    def of(cls, document: Document) -> BodyText:
        """Read the body of a note, without the sections that the product writes."""
        return cls(Markup(blank_own_sections(document.body)))

    @cached_property
    def links(self) -> tuple[SaidLink, ...]:
        """Every link, to whatever it leads but addresses, in order."""
        return tuple(self._links())

    def _links(self) -> Iterator[SaidLink]:
        text = self.markup.text
        for link in self.markup.links:
            inside = text[link.target_start : link.target_end]
            line = self.markup.line_at(link.start)
            if link.form == "wiki":
                name, _, shown = inside.replace("\\|", "|").partition("|")
                style: LinkStyle = "wiki"
            else:
                name, style = unquote(unescape(inside)), "markdown"
                shown = _text_of(text, link)
                if _SCHEME.match(name):
                    continue
            name, mark, _ = name.partition("#")
            shown = " ".join(strip_markup(shown).split())
            place = link.start, link.end, line
            yield SaidLink(shown, name.strip(), *place, style, bool(mark), link.is_image)

    @cached_property
    def prose(self) -> str:
        """The prose alone, line by line: links are the words they show, code is left out."""
        return strip_markup(self.markup.text)

    @cached_property
    def sections(self) -> list[int]:
        """Where each section starts, by offset: the text above the first heading, then headings."""
        starts = self.markup.starts
        return [0, *(starts[h.first] for h in self.markup.headings if not h.is_nested)]

    def section_at(self, offset: int) -> int:
        """Return the number of the section that an offset lies in."""
        return bisect_right(self.sections, offset) - 1

    def heading_at(self, offset: int) -> str:
        """Return the heading of the section that an offset lies in, or nothing."""
        number = self.section_at(offset)
        tops = [h for h in self.markup.headings if not h.is_nested]
        return tops[number - 1].text if number else ""

    @cached_property
    def open_text(self) -> str:
        """The body with blanks for all that no link may be put into; offsets stay."""
        text = self.markup.text
        kept = bytearray(len(text))
        starts = self.markup.starts
        for block in self.markup.blocks:
            if block.kind != "prose":
                continue
            for line in range(block.first, block.last + 1):
                if not _is_shut(self.markup.line_text(line)):
                    start, end = starts[line], starts[line + 1] - 1
                    kept[start:end] = b"\1" * (end - start)
        shut = [(part.start, part.end) for part in self.markup.hidden]
        shut += [(link.start, link.end) for link in self.markup.links]
        for start, end in shut:
            kept[start:end] = bytes(end - start)
        rest = "".join(c if is_open else " " for c, is_open in zip(text, kept, strict=True))
        return _SHUT_SPAN.sub(lambda found: " " * len(found[0]), rest)

    def find_open(self, words: str, line: int) -> int | None:
        """Return where words first stand in a line, whole and open to a link; 0-based line."""
        start, end = self.markup.starts[line], self.markup.starts[line + 1] - 1
        pattern = re.compile(rf"(?<![^\W_]){re.escape(words)}(?![^\W_])")
        found = pattern.search(self.open_text, start, end)
        return found.start() if found else None


def _is_shut(line: str) -> bool:
    """Say whether a line is no running prose; arrows and bars are a path through menus."""
    is_path = "→" in line or line.count("|") > 1
    return is_path or _SHUT_LINE.match(line.lstrip(" \t")) is not None


def _text_of(text: str, link: MarkdownLink) -> str:
    start = link.start + (2 if link.is_image else 1)
    return text[start : link.text_end]

"""Cut a body into units: the smallest pieces that a chunk may be packed from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from memory_palace.markdown.markup import Markup

_CUT = re.compile(r"[.!?…][\"')\]]*\s+|[。！？]|\n")
"""After what an overlong line is cut. It is not language/sentences on purpose: a cut must only be
near the middle, and another rule would change chunks that have their vectors already."""
_SPACE = re.compile(r"\s+")
LONGEST_HEADING = 500
"""Characters of a heading that count: it is kept, and read again, for every chunk below it."""
_CHARACTERS_PER_TOKEN = 8
"""A unit has at most this many characters per token of its limit: WordPiece turns a word of any
length into one unknown token, and what the embedder cannot see is as good as cut off."""


@dataclass(frozen=True, slots=True)
class ChunkUnit:
    """A paragraph, fence, table or list, or a piece of one that is too long."""

    text: str
    first_line: int
    last_line: int
    tokens: int
    heading_path: tuple[str, ...]
    """Headings in force here, the unit's own heading included."""
    starts_section: bool
    """Whether it opens with a heading of level one or two, where a chunk must end."""
    is_heading: bool
    """Whether it is a heading, or the start of one, and nothing else."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Lines between blank ones, or a fence."""

    lines: Sequence[str]
    first_line: int
    heading_path: tuple[str, ...]
    starts_section: bool
    heading_lines: int
    """How many of the lines are the heading that it opens with."""

    @property
    def last_line(self) -> int:
        return self.first_line + len(self.lines) - 1

    def unit(self, text: str, first_line: int, last_line: int, tokens: int) -> ChunkUnit:
        is_start = first_line == self.first_line
        return ChunkUnit(
            text,
            first_line,
            last_line,
            tokens,
            self.heading_path,
            starts_section=self.starts_section and is_start,
            is_heading=is_start and last_line < first_line + self.heading_lines,
        )


def find_units(
    markup: Markup, *, first_line: int, count_tokens: Callable[[str], int], limit: int
) -> Iterator[ChunkUnit]:
    """Yield units of at most ``limit`` tokens, in order; together they hold all of the text."""
    for run in _runs(markup, first_line):
        text = "\n".join(run.lines)
        tokens = count_tokens(text)
        if tokens <= limit and len(text) <= limit * _CHARACTERS_PER_TOKEN:
            yield run.unit(text, run.first_line, run.last_line, tokens)
        else:
            yield from _split_run(run, count_tokens, limit)


def find_path(markup: Markup, line: int) -> tuple[str, ...]:
    """Return the headings above a line, counted from 0, outermost first."""
    path: list[tuple[int, str]] = []
    for heading in markup.headings:
        if heading.first < line and not heading.is_nested:
            path = [above for above in path if above[0] < heading.level]
            path.append((heading.level, heading.text[:LONGEST_HEADING]))
    return tuple(title for _, title in path)


def _runs(markup: Markup, first_line: int) -> Iterator[_Run]:
    """Yield runs of lines between blank ones; a heading begins a run, a fence is one."""
    lines, fenced = markup.text.split("\n"), markup.fenced
    headings = {found.first: found for found in markup.headings if not found.is_nested}
    path: list[tuple[int, str]] = []
    run: list[str] = []
    start, starts_section, heading_lines = 0, False, 0

    def take() -> _Run:
        titles = tuple(title for _, title in path)
        return _Run(run, first_line + start, titles, starts_section, heading_lines)

    for number, (line, is_fenced) in enumerate(zip(lines, fenced, strict=True)):
        heading = headings.get(number)
        is_blank = not is_fenced and not line.strip()
        is_edge = number > 0 and is_fenced is not fenced[number - 1]
        if run and (is_blank or is_edge or heading):
            yield take()
            run, starts_section, heading_lines = [], False, 0
        if is_blank:
            continue
        if not run:
            start = number
        if heading:
            path = [above for above in path if above[0] < heading.level]
            path.append((heading.level, heading.text[:LONGEST_HEADING]))
            starts_section = heading.level <= 2
            heading_lines = heading.last + 1 - heading.first
        run.append(line)
    if run:
        yield take()


def _split_run(run: _Run, count_tokens: Callable[[str], int], limit: int) -> Iterator[ChunkUnit]:
    """Cut a run between its lines, and a line that is too long between its sentences."""
    kept: list[str] = []
    kept_tokens, start = 0, run.first_line
    for number, line in enumerate(run.lines, start=run.first_line):
        pieces = list(_split_line(line, count_tokens, limit))
        for place, (piece, tokens) in enumerate(pieces):
            is_whole = len(pieces) == 1
            if kept and (kept_tokens + tokens > limit or not is_whole):
                yield run.unit("\n".join(kept), start, number - 1, kept_tokens)
                kept, kept_tokens = [], 0
            if not is_whole:
                unit = run.unit(piece, number, number, tokens)
                yield unit if place == 0 else replace(unit, starts_section=False, is_heading=False)
                continue
            if not kept:
                start = number
            kept.append(piece)
            kept_tokens += tokens
    if kept:
        yield run.unit("\n".join(kept), start, run.last_line, kept_tokens)


def _split_line(
    line: str, count_tokens: Callable[[str], int], limit: int
) -> Iterator[tuple[str, int]]:
    """Yield pieces of a line with their token counts: slices first, so that time stays linear."""
    longest = limit * _CHARACTERS_PER_TOKEN
    position = 0
    while position < len(line):
        end = position + 4 * longest
        if end < len(line):
            end = _cut_near(line, position + 2 * longest, end)
        yield from _halve(line[position:end], count_tokens, limit, longest)
        position = end
    if not line:
        yield line, 0


def _halve(
    text: str, count_tokens: Callable[[str], int], limit: int, longest: int
) -> Iterator[tuple[str, int]]:
    tokens = count_tokens(text)
    if (tokens <= limit and len(text) <= longest) or len(text) < 2:
        yield text, tokens
        return
    third = len(text) // 3
    middle = _cut_near(text, third, len(text) - third)
    yield from _halve(text[:middle], count_tokens, limit, longest)
    yield from _halve(text[middle:], count_tokens, limit, longest)


def _cut_near(text: str, start: int, stop: int) -> int:
    """Return a place to cut: after a sentence, else after a space, else in the middle."""
    middle = (start + stop) // 2
    for pattern in (_CUT, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, start, stop)]
        if ends:
            return min(ends, key=lambda end: abs(end - middle))
    return max(middle, 1)

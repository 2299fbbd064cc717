"""Cut a body into units: the smallest pieces that a chunk may be packed from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memory_palace.notes.code import fenced_lines
from memory_palace.notes.headings import parse_heading

_SENTENCE = re.compile(r"[.!?…][\"')\]]*\s+|[。！？]|\n")
_SPACE = re.compile(r"\s+")
_CHARACTERS_PER_TOKEN = 8
"""A unit has at most this many characters per token of its limit: WordPiece turns a word of any
length into one unknown token, and what the embedder cannot see is as good as cut off."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A paragraph, fence, table or list, or a piece of one that is too long."""

    text: str
    first_line: int
    last_line: int
    tokens: int
    heading_path: tuple[str, ...]
    """Headings in force here, the unit's own heading included."""
    starts_section: bool
    """Whether it opens with a heading of level one or two, where a chunk must end."""

    @property
    def is_heading(self) -> bool:
        """Whether it is a heading and nothing else."""
        return "\n" not in self.text and parse_heading(self.text) is not None


@dataclass(frozen=True, slots=True)
class _Block:
    lines: Sequence[str]
    first_line: int
    heading_path: tuple[str, ...]
    starts_section: bool


def find_units(
    body: str, *, first_line: int, count_tokens: Callable[[str], int], limit: int
) -> Iterator[Unit]:
    """Yield units of at most ``limit`` tokens, in order; together they hold all of the text."""
    for block in _blocks(body.split("\n"), first_line):
        text = "\n".join(block.lines)
        tokens = count_tokens(text)
        if tokens <= limit and len(text) <= limit * _CHARACTERS_PER_TOKEN:
            last = block.first_line + len(block.lines) - 1
            yield Unit(
                text, block.first_line, last, tokens, block.heading_path, block.starts_section
            )
        else:
            yield from _split_block(block, count_tokens, limit)


def _blocks(lines: Sequence[str], first_line: int) -> Iterator[_Block]:
    """Yield runs of lines between blank ones; a heading begins a run, a fence is one."""
    path: list[tuple[int, str]] = []
    start, starts_section = 0, False
    run: list[str] = []
    fenced = fenced_lines(lines)

    def block() -> _Block:
        titles = tuple(title for _, title in path)
        return _Block(run, first_line + start, titles, starts_section)

    for number, (line, is_fenced) in enumerate(zip(lines, fenced, strict=True)):
        heading = None if is_fenced else parse_heading(line)
        is_blank = not is_fenced and not line.strip()
        is_edge = number > 0 and is_fenced is not fenced[number - 1]
        if run and (is_blank or is_edge or heading):
            yield block()
            run, starts_section = [], False
        if is_blank:
            continue
        if not run:
            start = number
        if heading:
            level, title = heading
            path = [above for above in path if above[0] < level]
            path.append((level, title))
            starts_section = level <= 2
        run.append(line)
    if run:
        yield block()


def _split_block(block: _Block, count_tokens: Callable[[str], int], limit: int) -> Iterator[Unit]:
    """Cut a block between its lines, and a line that is too long between its sentences."""
    run: list[str] = []
    run_tokens, start = 0, block.first_line
    is_first = block.starts_section
    for number, line in enumerate(block.lines, start=block.first_line):
        pieces = list(_split_line(line, count_tokens, limit))
        for piece, tokens in pieces:
            is_whole = len(pieces) == 1
            if run and (run_tokens + tokens > limit or not is_whole):
                yield Unit(
                    "\n".join(run), start, number - 1, run_tokens, block.heading_path, is_first
                )
                run, run_tokens, is_first = [], 0, False
            if not is_whole:
                yield Unit(piece, number, number, tokens, block.heading_path, is_first)
                is_first = False
                continue
            if not run:
                start = number
            run.append(piece)
            run_tokens += tokens
    if run:
        last = block.first_line + len(block.lines) - 1
        yield Unit("\n".join(run), start, last, run_tokens, block.heading_path, is_first)


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
    for pattern in (_SENTENCE, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, start, stop)]
        if ends:
            return min(ends, key=lambda end: abs(end - middle))
    return max(middle, 1)

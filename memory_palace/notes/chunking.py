"""Split a body into units, and pack units into chunks that fit the embedder's token limit.

A unit is a paragraph, fence, table or list, or a piece of one that is too long. A chunk is one or
more units below one heading, with the title and the headings above it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise, takewhile
from typing import NamedTuple

from memory_palace.language.sentences import drop_times
from memory_palace.markdown.markup import Heading, Markup
from memory_palace.notes.note import Chunk
from memory_palace.notes.superseding import LostClaim

SMALL_TOKENS = 50
"""A chunk with fewer tokens is merged with a neighbour if both fit (source document 003)."""
_CONTEXT_SHARE = 4
"""Title and headings may take at most one quarter of the token limit."""
_TEXT_SIXTEENTHS = 10
"""Sixteenths of the token limit that a chunk's text may fill, 160 tokens for MiniLM; the rest is
for title and headings. Longer passages blur into their average, shorter ones cost disk space."""
_CUT = re.compile(r"[.!?…][\"')\]]*\s+|[。！？]|\n")
"""Sentence ends at which an overlong line is cut. Not ``language.sentences`` on purpose: a cut need
only be near the middle, and another rule would change chunks whose embeddings are stored."""
_SPACE = re.compile(r"\s+")
LONGEST_HEADING = 500
"""Most characters read of a heading, which is repeated in every chunk below it."""
_CHARACTERS_PER_TOKEN = 8
"""Most characters of a unit per token of its limit: WordPiece turns a word of any length into one
unknown token, so a limit on tokens alone would not bound a unit."""


def chunk_body(
    cutter: Cutter, markup: Markup, *, first_line: int, stem: str = "", is_inbox: bool = False
) -> tuple[Chunk, ...]:
    """Return the chunks of a body; each ``embed_text`` has at most ``cutter.token_limit`` tokens.

    Every character that is not white space is in some chunk. A body without text gives one chunk,
    which embeds the title or else ``stem``.
    """
    packed = list(cutter.pack(cutter.find_units(markup, first_line)))
    groups = _merge_small(packed, cutter.limit, is_inbox=is_inbox)
    chunks = [cutter.chunk(part) for group in groups for part in cutter.halve_group(group)]
    name = cutter.title or stem
    return (_bare_chunk(1, "", name),) if name and not chunks else tuple(chunks)


def chunk_claim(
    cutter: Cutter, body: Markup, claim: LostClaim, *, first_line: int
) -> Iterator[Chunk]:
    """Yield the chunks of a superseded claim, apart from others so that only it ranks lower."""
    markup = Markup(body.text[claim.start : claim.end], is_part=True)
    line, path = body.line_at(claim.start), list[Heading]()
    for heading in body.headings:
        if heading.first < line and not heading.is_nested:
            path = _enter(path, heading)
    for unit in cutter.find_units(markup, first_line + line):
        chunk = cutter.chunk((unit._replace(heading_path=_titles(path)),))
        yield replace(chunk, validity=claim.validity)


def chunk_plainly(body: str, *, first_line: int, size: int) -> tuple[Chunk, ...]:
    """Return chunks of one line each, at most ``size`` characters, without reading Markdown."""
    return tuple(
        _bare_chunk(line, piece, piece)
        for line, row in enumerate(body.split("\n"), start=first_line)
        for start in range(0, len(row), size)
        if (piece := row[start : start + size].strip())
    )


def question_chunk(question: str) -> Chunk:
    """Return the chunk of a front matter question, with line 0: embedded, never shown."""
    return _bare_chunk(0, "", question)


def _bare_chunk(line: int, text: str, embed_text: str) -> Chunk:
    return Chunk((), line, line, text, embed_text, sha256(embed_text.encode()).hexdigest())


class _Unit(NamedTuple):
    """A run of non-blank lines or a fenced block, or a piece of one that is too long."""

    text: str
    first_line: int
    heading_path: tuple[str, ...]
    """Enclosing headings, outermost first; a heading in the unit is included."""
    starts_section: bool
    """Whether the unit begins with a heading of level one or two, which starts a new chunk."""
    heading_lines: int
    """Number of lines of the heading at its start, else 0."""
    tokens: int = 0

    @property
    def last_line(self) -> int:
        return self.first_line + self.text.count("\n")

    @property
    def is_heading(self) -> bool:
        """Whether the unit is a heading, or a part of one, and nothing else."""
        return self.text.count("\n") < self.heading_lines

    def part(self, text: str, first_line: int, tokens: int, *, is_first: bool) -> _Unit:
        """Return a piece of the unit; only the first piece keeps its heading."""
        given = (self.starts_section, self.heading_lines) if is_first else (False, 0)
        return _Unit(text, first_line, self.heading_path, *given, tokens)


def _enter(path: Sequence[Heading], heading: Heading) -> list[Heading]:
    """Return the heading path below a heading, outermost first."""
    return [*(above for above in path if above.level < heading.level), heading]


def _titles(path: Sequence[Heading]) -> tuple[str, ...]:
    return tuple(heading.text[:LONGEST_HEADING] for heading in path)


def _runs(markup: Markup, first_line: int) -> Iterator[_Unit]:
    """Yield runs of non-blank lines; a heading starts a run, a fenced block is a run."""
    lines, fenced = markup.text.split("\n"), markup.fenced
    headings = {found.first: found for found in markup.headings if not found.is_nested}
    path: list[Heading] = []
    run: list[str] = []
    start, starts_section, heading_lines = 0, False, 0
    for number, line in enumerate([*lines, ""]):
        is_fenced = number < len(lines) and fenced[number]
        heading = headings.get(number)
        is_blank = not is_fenced and not line.strip()
        if run and (is_blank or heading or is_fenced is not fenced[number - 1]):
            text = "\n".join(run)
            yield _Unit(text, first_line + start, _titles(path), starts_section, heading_lines)
            run, starts_section, heading_lines = [], False, 0
        if is_blank:
            continue
        if not run:
            start = number
        if heading:
            path = _enter(path, heading)
            starts_section = heading.level <= 2
            heading_lines = heading.last + 1 - heading.first
        run.append(line)


@dataclass(frozen=True, slots=True)
class Cutter:
    """Splits a body into units and packs units into chunks, within the token limit."""

    count_tokens: Callable[[str], int]
    token_limit: int
    """Most tokens of a chunk, its title and headings included."""
    title: str
    """The note's title; empty if it is the file name, so that a rename changes no chunk."""
    talkers: Collection[str] = ()

    @property
    def limit(self) -> int:
        """Most tokens of a chunk's text."""
        return max(1, self.token_limit * _TEXT_SIXTEENTHS // 16)

    @property
    def longest(self) -> int:
        """Most characters of a unit."""
        return self.limit * _CHARACTERS_PER_TOKEN

    def find_units(self, markup: Markup, first_line: int) -> Iterator[_Unit]:
        """Yield units of at most ``limit`` tokens, in order, that hold all non-blank lines."""
        for run in _runs(markup, first_line):
            tokens = self.count_tokens(run.text)
            if tokens <= self.limit and len(run.text) <= self.longest:
                yield run._replace(tokens=tokens)
            else:
                yield from self._split_run(run)

    def _split_run(self, run: _Unit) -> Iterator[_Unit]:
        """Yield pieces of a run, cut between lines, and an overlong line between sentences."""
        kept: list[str] = []
        kept_tokens, start = 0, run.first_line
        for number, line in enumerate(run.text.split("\n"), start=run.first_line):
            pieces = list(self._split_line(line))
            if kept and (len(pieces) > 1 or kept_tokens + pieces[0][1] > self.limit):
                is_first = start == run.first_line
                yield run.part("\n".join(kept), start, kept_tokens, is_first=is_first)
                kept, kept_tokens = [], 0
            if len(pieces) == 1:
                start = start if kept else number
                kept.append(line)
                kept_tokens += pieces[0][1]
                continue
            for place, (piece, tokens) in enumerate(pieces):
                is_first = number == run.first_line and place == 0
                yield run.part(piece, number, tokens, is_first=is_first)
        if kept:
            yield run.part("\n".join(kept), start, kept_tokens, is_first=start == run.first_line)

    def _split_line(self, line: str) -> Iterator[tuple[str, int]]:
        """Yield pieces of a line and their token counts; slices first, so that time is linear."""
        position = 0
        while position < len(line):
            end = position + 4 * self.longest
            if end < len(line):
                end = _cut_near(line, position + 2 * self.longest, end)
            yield from self._halve(line[position:end])
            position = end
        if not line:
            yield line, 0

    def _halve(self, text: str) -> Iterator[tuple[str, int]]:
        tokens = self.count_tokens(text)
        if (tokens <= self.limit and len(text) <= self.longest) or len(text) < 2:
            yield text, tokens
            return
        third = len(text) // 3
        middle = _cut_near(text, third, len(text) - third)
        yield from self._halve(text[:middle])
        yield from self._halve(text[middle:])

    def pack(self, units: Iterator[_Unit]) -> Iterator[list[_Unit]]:
        """Yield groups of at most ``limit`` tokens; a level-one or level-two heading starts one."""
        group: list[_Unit] = []
        tokens, is_bare = 0, True
        for unit in units:
            # A group that is only headings takes the next unit too, whatever its length.
            if not is_bare and (unit.starts_section or tokens + unit.tokens > self.limit):
                yield group
                group, tokens, is_bare = [], 0, True
            group.append(unit)
            is_bare = is_bare and unit.is_heading
            tokens += unit.tokens
        if group:
            yield group

    def halve_group(self, group: Sequence[_Unit]) -> Iterator[Sequence[_Unit]]:
        """Yield a group, halved until the ``embed_text`` of each part fits ``token_limit``."""
        if len(group) == 1 or self.count_tokens(self._embed_text(group)) <= self.token_limit:
            yield group
            return
        middle = len(group) // 2
        yield from self.halve_group(group[:middle])
        yield from self.halve_group(group[middle:])

    def chunk(self, group: Sequence[_Unit]) -> Chunk:
        """Return the chunk of a group."""
        embed_text = self._embed_text(group)
        return Chunk(
            heading_path=_common_path(group),
            first_line=group[0].first_line,
            last_line=group[-1].last_line,
            text=_join(group),
            embed_text=embed_text,
            digest=sha256(embed_text.encode()).hexdigest(),
        )

    def _embed_text(self, group: Sequence[_Unit]) -> str:
        """Return a group's context (title and headings, if its text lacks them), then its text."""
        text = drop_times(_join(group), self.talkers)
        opening = text.partition("\n")[0].strip("# \t")
        context = [p for p in (self.title, *_common_path(group)) if p and p != opening]
        most = self.token_limit // _CONTEXT_SHARE
        while context and self.count_tokens(" > ".join(context)) > most:
            context.pop(0)
        return "\n".join([" > ".join(dict.fromkeys(context)), text]) if context else text


def _cut_near(text: str, start: int, stop: int) -> int:
    """Return a place to cut: after a sentence, else after a space, else in the middle."""
    middle = (start + stop) // 2
    for pattern in (_CUT, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, start, stop)]
        if ends:
            return min(ends, key=lambda end: abs(end - middle))
    return max(middle, 1)


def _merge_small(groups: Sequence[list[_Unit]], limit: int, *, is_inbox: bool) -> list[list[_Unit]]:
    """Merge adjacent groups if one is below ``SMALL_TOKENS`` and both together fit ``limit``.

    Sections of an inbox are never merged, because each is a separate memory.
    """
    merged: list[list[_Unit]] = []
    for group in groups:
        size = sum(unit.tokens for unit in group)
        before = sum(unit.tokens for unit in merged[-1]) if merged else limit
        is_apart = is_inbox and group[0].starts_section
        if merged and not is_apart and min(size, before) < SMALL_TOKENS and size + before <= limit:
            merged[-1] = [*merged[-1], *group]
        else:
            merged.append(list(group))
    return merged


def _join(group: Sequence[_Unit]) -> str:
    """Return the text of units joined as stored, with several blank lines as one."""
    parts = [group[0].text]
    for before, unit in pairwise(group):
        gap = unit.first_line - before.last_line
        parts += ["" if gap == 0 else "\n" if gap == 1 else "\n\n", unit.text]
    return "".join(parts)


def _common_path(group: Sequence[_Unit]) -> tuple[str, ...]:
    """Return the common heading path of a group's units, ignoring units that are only headings."""
    text = [unit for unit in group if not unit.is_heading] or group
    levels = zip(*(unit.heading_path for unit in text), strict=False)
    return tuple(level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels))

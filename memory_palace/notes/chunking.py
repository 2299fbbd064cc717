"""Pack units into chunks, heading by heading, none longer than the embedder can see."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise, takewhile

from memory_palace.language.sentences import drop_times
from memory_palace.markdown.markup import Markup
from memory_palace.notes.note import Chunk
from memory_palace.notes.superseding import LostClaim
from memory_palace.notes.units import ChunkUnit, find_path, find_units

SMALL_TOKENS = 50
"""A chunk below this is merged into a neighbour (source document 003); a tiny note stays."""
_CONTEXT_SHARE = 4
"""Title and headings may take one token in four of what the embedder sees."""
_TEXT_SIXTEENTHS = 10
"""The text of a chunk fills ten sixteenths of what the embedder sees, 160 tokens for MiniLM, which
leaves room for its context. Longer passages blur into their average, shorter ones cost room."""


def chunk_body(
    markup: Markup,
    *,
    first_line: int,
    title: str,
    stem: str = "",
    is_inbox: bool = False,
    count_tokens: Callable[[str], int],
    token_limit: int,
    talkers: Collection[str] = (),
) -> tuple[Chunk, ...]:
    """Cut a body into chunks whose ``embed_text`` has at most ``token_limit`` tokens.

    ``title`` is empty where it would be the file name: a rename must not change a chunk. Every
    character that is not white space is in some chunk. A body without any gives one chunk, of its
    title or else of ``stem``, by which the note is found.
    """
    context_tokens = token_limit // _CONTEXT_SHARE
    limit = max(1, token_limit * _TEXT_SIXTEENTHS // 16)
    units = find_units(markup, first_line=first_line, count_tokens=count_tokens, limit=limit)
    groups = _merge_small(list(_pack(units, limit)), limit, is_inbox=is_inbox)

    def embedded(group: Sequence[ChunkUnit]) -> str:
        return _embed_text(group, title, count_tokens, context_tokens, talkers)

    chunks: list[Chunk] = []
    for group in groups:
        chunks += [
            _chunk(part, embedded(part))
            for part in _fitting(group, embedded, count_tokens, token_limit)
        ]
    name = title or stem
    return (_name_chunk(name),) if name and not chunks else tuple(chunks)


def chunk_claim(
    body: Markup,
    claim: LostClaim,
    *,
    first_line: int,
    title: str,
    count_tokens: Callable[[str], int],
    token_limit: int,
    talkers: Collection[str] = (),
) -> Iterator[Chunk]:
    """Yield a superseded claim of a body apart from all else, so that it alone is lowered."""
    markup = Markup(body.text[claim.start : claim.end], is_part=True)
    line = body.line_at(claim.start)
    limit = max(1, token_limit * _TEXT_SIXTEENTHS // 16)
    start = first_line + line
    units = find_units(markup, first_line=start, count_tokens=count_tokens, limit=limit)
    path = find_path(body, line)
    for unit in units:
        group = (replace(unit, heading_path=path),)
        share = token_limit // _CONTEXT_SHARE
        embedded = _embed_text(group, title, count_tokens, share, talkers)
        yield replace(_chunk(group, embedded), validity=claim.validity)


def chunk_plainly(body: str, *, first_line: int, size: int) -> tuple[Chunk, ...]:
    """Cut a body that cannot be read otherwise into lines of at most ``size`` characters."""
    return tuple(
        Chunk((), line, line, piece, piece, sha256(piece.encode()).hexdigest())
        for line, row in enumerate(body.split("\n"), start=first_line)
        for start in range(0, len(row), size)
        if (piece := row[start : start + size].strip())
    )


def question_chunk(question: str) -> Chunk:
    """Return what is embedded of a question that a note answers: no passage, with no lines."""
    return Chunk((), 0, 0, "", question, sha256(question.encode()).hexdigest())


def _name_chunk(name: str) -> Chunk:
    return Chunk((), 1, 1, "", name, sha256(name.encode()).hexdigest())


def _pack(units: Iterator[ChunkUnit], limit: int) -> Iterator[list[ChunkUnit]]:
    group: list[ChunkUnit] = []
    tokens, is_bare = 0, True
    for unit in units:
        # A heading stays with what it heads, though the text be a heading longer than the limit.
        if not is_bare and (unit.starts_section or tokens + unit.tokens > limit):
            yield group
            group, tokens, is_bare = [], 0, True
        group.append(unit)
        is_bare = is_bare and unit.is_heading
        tokens += unit.tokens
    if group:
        yield group


def _merge_small(
    groups: Sequence[list[ChunkUnit]], limit: int, *, is_inbox: bool
) -> list[list[ChunkUnit]]:
    """Join each small group with the next, or the last with the one before, where both fit.

    What an agent remembers is a line each, of which the next is about something else.
    """
    merged: list[list[ChunkUnit]] = []
    for group in groups:
        size = _tokens(group)
        before = _tokens(merged[-1]) if merged else limit
        is_apart = is_inbox and group[0].starts_section
        if merged and not is_apart and min(size, before) < SMALL_TOKENS and size + before <= limit:
            merged[-1] = [*merged[-1], *group]
        else:
            merged.append(list(group))
    return merged


def _fitting(
    group: Sequence[ChunkUnit],
    embedded: Callable[[Sequence[ChunkUnit]], str],
    count_tokens: Callable[[str], int],
    token_limit: int,
) -> Iterator[Sequence[ChunkUnit]]:
    """Halve a group whose joined text has more tokens than its units had apart."""
    if len(group) == 1 or count_tokens(embedded(group)) <= token_limit:
        yield group
        return
    middle = len(group) // 2
    yield from _fitting(group[:middle], embedded, count_tokens, token_limit)
    yield from _fitting(group[middle:], embedded, count_tokens, token_limit)


def _chunk(group: Sequence[ChunkUnit], embed_text: str) -> Chunk:
    return Chunk(
        heading_path=_common_path(group),
        first_line=group[0].first_line,
        last_line=group[-1].last_line,
        text=_join(group),
        embed_text=embed_text,
        digest=sha256(embed_text.encode()).hexdigest(),
    )


def _embed_text(
    group: Sequence[ChunkUnit],
    title: str,
    count_tokens: Callable[[str], int],
    limit: int,
    talkers: Collection[str],
) -> str:
    """Put title and headings before the text, without those that the text opens with."""
    text = drop_times(_join(group), talkers)
    opening = text.partition("\n")[0].strip("# \t")
    context = [part for part in (title, *_common_path(group)) if part and part != opening]
    while context and count_tokens(" > ".join(context)) > limit:
        context.pop(0)
    return "\n".join([" > ".join(dict.fromkeys(context)), text]) if context else text


def _join(group: Sequence[ChunkUnit]) -> str:
    """Put units together as they stood: on lines of their own, a blank line kept as one."""
    parts = [group[0].text]
    for before, unit in pairwise(group):
        gap = unit.first_line - before.last_line
        parts += ["" if gap == 0 else "\n" if gap == 1 else "\n\n", unit.text]
    return "".join(parts)


def _common_path(group: Sequence[ChunkUnit]) -> tuple[str, ...]:
    """Return the headings that all of the text is under; a heading alone does not count as text."""
    text = [unit for unit in group if not unit.is_heading] or group
    levels = zip(*(unit.heading_path for unit in text), strict=False)
    return tuple(level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels))


def _tokens(group: Sequence[ChunkUnit]) -> int:
    return sum(unit.tokens for unit in group)

"""Obsidian's links, and Markdown links to other notes, outside code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from memory_palace.models import Link
from memory_palace.notes.code import without_code

_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]{1,500})\]\]")
_INLINE = re.compile(r"\]\(<?([^()<>\s][^()<>\n]{0,500}?\.(?:md|markdown))(#[^()<>\n]{0,200})?>?\)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SUFFIX = re.compile(r"\.(?:md|markdown)$", re.IGNORECASE)


def find_links(body: str, *, first_line: int = 1) -> tuple[Link, ...]:
    """Return every link in order. Time grows with the length of the text, whatever is in it."""
    return tuple(iterate_links(body.split("\n"), first_line=first_line))


def iterate_links(lines: Sequence[str], *, first_line: int) -> Iterator[Link]:
    """Yield links with the number of the line they are on."""
    for number, line in enumerate(without_code(lines), start=first_line):
        if "[[" in line:
            yield from (_wiki(match, number) for match in _WIKI.finditer(line))
        if "](" in line:
            yield from _inline(line, number)


def _wiki(match: re.Match[str], line: int) -> Link:
    # In a table the bar before an alias is escaped.
    inside, _, alias = match[2].replace("\\|", "|").partition("|")
    target, _, heading = inside.partition("#")
    return Link(
        target=_SUFFIX.sub("", target.strip()),
        line=line,
        heading=heading.strip() or None,
        alias=alias.strip() or None,
        is_embed=bool(match[1]),
    )


def _inline(line: str, number: int) -> Iterator[Link]:
    for match in _INLINE.finditer(line):
        if not _SCHEME.match(match[1]):
            target = _SUFFIX.sub("", unquote(match[1]).strip())
            yield Link(target=target, line=number, heading=(match[2] or "")[1:] or None)

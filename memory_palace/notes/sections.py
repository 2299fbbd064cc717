"""Read and replace one section of a note: every other byte stays."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_palace.errors import PalaceError, UsageError
from memory_palace.markdown.markup import Markup
from memory_palace.notes.document import split_sections
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.notes.reading import decode_note

LAST = "Metadata"
"""The section that new ones stand before."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
LINE_END = re.compile(r"(?<![\r\n])[\r\n]+\Z")


def replace_section(path: str, data: bytes, name: str, text: str) -> bytes:
    """Put ``text`` below the heading ``name`` of level two; add the section where there is none.

    A new section stands before ``Metadata``, or else at the end. Raise ``UsageError`` for a text
    that would change other sections too, ``PalaceError`` for a note that is not UTF-8.
    """
    lines, above, body = split_lines(path, data)
    end = find_line_end(lines)
    new = [f"{line}{end}" for line in ("", *text.strip("\n").split("\n"), "")]
    section = body.find_section(name)
    if section is None:
        before = body.find_section(LAST)
        start = stop = above + before.heading.first if before else len(lines)
        if start and not LINE_END.search(lines[start - 1]):
            lines[start - 1] += end
        gap = [end] if start and lines[start - 1].strip() else []
        new = [*gap, f"## {name}{end}", *new]
    else:
        start, stop = above + section.first, above + section.end
    if stop == len(lines):
        new.pop()
    changed = "".join([*lines[:start], *new, *lines[stop:]]).encode()
    if not _is_plain(text) or _others(path, data, name) != _others(path, changed, name):
        raise UsageError(
            f"{path}: the text of {name} would change other sections; "
            "it contains a heading, or a fence or comment that is not closed"
        )
    return changed


def read_section(path: str, data: bytes, name: str) -> str | None:
    """Return the text below a heading of level two as it is stored; ``None`` where it is absent."""
    _, _, body = split_lines(path, data)
    section = body.find_section(name)
    return section and "\n".join(body.text.split("\n")[section.first : section.end])


def _is_plain(text: str) -> bool:
    """Say whether a text has no heading of the first two levels and leaves nothing open."""
    headings = Markup(f"{text}\n\n## last").headings
    if not headings or headings[-1].text != "last" or headings[-1].is_nested:
        return False
    return all(heading.level > 2 for heading in headings[:-1])


def _others(path: str, data: bytes, name: str) -> dict[str, str]:
    """Return the sections of a note but one."""
    text, _ = decode_note(data, path)
    sections = split_sections(text[split_front_matter(text).end :])
    return {key: text for key, text in sections.items() if key.casefold() != name.casefold()}


def split_lines(path: str, data: bytes) -> tuple[list[str], int, Markup]:
    """Return the lines with their ends, how many stand above the body, and the body."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PalaceError(f"{path} is not UTF-8; save it as UTF-8 first") from error
    lines = split_raw_lines(text)
    bare = [LINE_END.sub("", line) for line in lines]
    clean = "\n".join([bare[0].removeprefix("\ufeff"), *bare[1:]]) if bare else ""
    above = clean.count("\n", 0, split_front_matter(f"{clean}\n").end)
    return lines, above, Markup("\n".join(bare[above:]))


def split_raw_lines(text: str) -> list[str]:
    """Return the lines of a text as stored, each with its end."""
    return _LINE.findall(text)


def find_line_end(lines: Sequence[str]) -> str:
    """Return how the first line ends, which is how new ones do."""
    match = LINE_END.search(lines[0]) if lines else None
    return match[0] if match else "\n"

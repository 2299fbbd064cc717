"""Change a note at one place: replace a section, or add text to one; every other byte stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_palace.errors import UsageError
from memory_palace.language.markers import drop_markers
from memory_palace.markdown.comments import drop_comments
from memory_palace.markdown.markup import Heading, Markup
from memory_palace.notes.document import split_sections
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.notes.parsing import is_private
from memory_palace.notes.reading import decode_note, decode_stored
from memory_palace.notes.withholding import withhold

_LAST = "Metadata"
"""The section that new ones stand before."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_LINE_END = re.compile(r"(?<![\r\n])[\r\n]+\Z")
_LISTED = re.compile(r"\A(?:[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|\|)")
"""An item of a list or a row of a table: another one follows it without a blank line."""
_PROBE = "the end of what was written before"


def split_lines(path: str, data: bytes) -> tuple[list[str], int, Markup]:
    """Return the lines with their ends, how many stand above the body, and the body."""
    lines = _LINE.findall(decode_stored(path, data))
    bare = [_LINE_END.sub("", line) for line in lines]
    clean = "\n".join([bare[0].removeprefix("\ufeff"), *bare[1:]]) if bare else ""
    above = clean.count("\n", 0, split_front_matter(f"{clean}\n").end)
    return lines, above, Markup("\n".join(bare[above:]))


def _find_line_end(lines: Sequence[str]) -> str:
    """Return the line end of the first line, which new lines get too."""
    match = _LINE_END.search(lines[0]) if lines else None
    return match[0] if match else "\n"


def read_section(path: str, data: bytes, name: str) -> str | None:
    """Return the text below a heading of level two as it is stored; ``None`` where it is absent."""
    _, _, body = split_lines(path, data)
    section = body.find_section(name)
    return section and "\n".join(body.text.split("\n")[section.first : section.end])


def replace_section(path: str, data: bytes, name: str, text: str) -> bytes:
    """Put ``text`` below the heading ``name`` of level two; add the section where there is none.

    A new section stands before ``Metadata``, or else at the end. Raise ``UsageError`` for a text
    that would change other sections too, ``PalaceError`` for a note that is not UTF-8.
    """
    lines, above, body = split_lines(path, data)
    end = _find_line_end(lines)
    new = [f"{line}{end}" for line in ("", *text.strip("\n").split("\n"), "")]
    section = body.find_section(name)
    if section is None:
        before = body.find_section(_LAST)
        start = stop = above + before.heading.first if before else len(lines)
        if start and not _LINE_END.search(lines[start - 1]):
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


def _is_plain(text: str) -> bool:
    """Return whether a text has no heading of the first two levels and leaves nothing open."""
    headings = Markup(f"{text}\n\n## last").headings
    if not headings or headings[-1].text != "last" or headings[-1].is_nested:
        return False
    return all(heading.level > 2 for heading in headings[:-1])


def _others(path: str, data: bytes, name: str) -> dict[str, str]:
    """Return the sections of a note but one."""
    text, _ = decode_note(data, path)
    sections = split_sections(text[split_front_matter(text).end :])
    return {key: text for key, text in sections.items() if key.casefold() != name.casefold()}


@dataclass(frozen=True, slots=True)
class Insertion:
    """A note with the text in it, and where it stands."""

    data: bytes
    line: int
    last_line: int
    """Of the text in the new note, 1-based and inclusive."""
    made: str | None
    """The heading that was made for it."""


def append_text(path: str, data: bytes, text: str, *, under: str | None = None) -> Insertion:
    """Add a text at the end of a note, or of its first section called ``under``, of any level.

    A section ends at the next heading of its level or above. One that is missing is made, of level
    two, before ``Metadata`` or else at the end. Lines end as in the note. Raise ``UsageError``
    where the text would be hidden, or would change what other text means, ``PalaceError`` for a
    note that is not UTF-8.
    """
    lines, outline = _LINE.findall(decode_stored(path, data)), _read_outline(path, data)
    added = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    made = None
    start, stop, level = outline.above, len(lines), 0
    if under is not None:
        name = " ".join(under.lstrip("#").split())
        if not name:
            raise UsageError("a heading has words: --under NAME")
        section = outline.find_section(name, len(lines))
        if section is None:
            made, level = name, 2
            last = [h.first for h in outline.headings if h.level == 2 and _is_named(h, _LAST)]
            stop = outline.above + last[0] if last else stop
        else:
            start, stop, level = section
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    _check_text(path, added, outline.lines[: stop - outline.above], level)
    heading = [f"## {made}", ""] if made else []
    is_tight = bool(stop and not heading) and all(map(_LISTED.match, (lines[stop - 1], added[0])))
    gap = [] if stop == outline.above or is_tight else [""]
    after = [""] if stop < len(lines) and lines[stop].strip() else []
    end = _find_line_end(lines)
    opening = end if stop and not _LINE_END.search(lines[stop - 1]) else ""
    piece = opening + "".join(f"{line}{end}" for line in (*gap, *heading, *added, *after))
    first = stop + len(gap) + len(heading) + 1
    whole = "".join([*lines[:stop], piece, *lines[stop:]]).encode()
    _check_outline(path, outline, whole, [*heading, *added], stop)
    return Insertion(whole, first, first + len(added) - 1, made)


@dataclass(frozen=True, slots=True)
class _Outline:
    matter: str
    above: int
    """Lines above the body."""
    lines: list[str]
    """Of the body."""
    headings: list[Heading]

    def find_section(self, name: str, end: int) -> tuple[int, int, int] | None:
        """Return first line, line behind the last, and level of a section, whatever its case."""
        for place, found in enumerate(self.headings):
            if _is_named(found, name):
                later = self.headings[place + 1 :]
                ends = (other.first + self.above for other in later if other.level <= found.level)
                return self.above + found.last + 1, next(ends, end), found.level
        return None


def _is_named(heading: Heading, name: str) -> bool:
    return heading.text.casefold() == name.casefold()


def _read_outline(path: str, data: bytes) -> _Outline:
    whole = f"{decode_note(data, path)[0]}\n"
    text, _ = withhold(whole, path)
    matter = split_front_matter(text)
    if is_private(matter):
        raise UsageError(f"{path} is private; add to it in an editor")
    above = text.count("\n", 0, matter.end)
    return _Outline(
        matter.raw, above, whole.split("\n")[above:-1], _headings_of(text[matter.end :])
    )


def _headings_of(text: str) -> list[Heading]:
    clean, _ = withhold(text, "")
    found = Markup(drop_comments(drop_markers(clean))[0]).headings
    return [heading for heading in found if not heading.is_nested]


def _check_text(path: str, added: Sequence[str], before: Sequence[str], level: int) -> None:
    if _leaves_open("\n".join(before)):
        raise UsageError(
            f"{path}: what stands before the place is a code block, comment or private span that "
            "is not closed; close it first"
        )
    text = "\n".join(added)
    if not text.strip():
        raise UsageError("there is no text to append")
    if _leaves_open(text):
        raise UsageError("the text opens a code block, comment or private span; close it")
    highest = min((found.level for found in _headings_of(text)), default=level + 1)
    if highest <= level:
        raise UsageError(
            f"the text has a heading of level {highest}, which would end the section; "
            f"use {'#' * (level + 1)} or deeper"
        )


def _leaves_open(text: str) -> bool:
    """Whether what follows a text would not be read as text of its own."""
    found = _headings_of(f"{text}\n\n## {_PROBE}")
    return not found or found[-1].text != _PROBE


def _check_outline(
    path: str, before: _Outline, data: bytes, added: Sequence[str], stop: int
) -> None:
    """Prove that front matter and headings are what they were, and that the text is read as one."""
    after = _read_outline(path, data)
    own = _headings_of("\n".join(added))
    place = sum(heading.first + before.above < stop for heading in before.headings)
    wanted = [*before.headings[:place], *own, *before.headings[place:]]
    found = [(heading.level, heading.text) for heading in after.headings]
    if found != [(h.level, h.text) for h in wanted] or after.matter != before.matter:
        raise UsageError(f"{path}: the text would change its front matter or other headings")

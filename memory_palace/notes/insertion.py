"""Add text at the end of a note or of one of its sections: every other byte stays."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_palace.errors import PalaceError, UsageError
from memory_palace.language.markers import drop_markers
from memory_palace.markdown.comments import drop_comments
from memory_palace.markdown.markup import Heading, Markup
from memory_palace.notes.frontmatter import FrontMatter, split_front_matter
from memory_palace.notes.parsing import is_private
from memory_palace.notes.reading import decode_note
from memory_palace.notes.sections import LAST, LINE_END, find_line_end, split_raw_lines
from memory_palace.notes.withholding import withhold

_MARKS = (
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_LISTED = re.compile(r"\A(?:[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|\|)")
"""An item of a list or a row of a table: another one follows it without a blank line."""
_PROBE = "the end of what was written before"


@dataclass(frozen=True, slots=True)
class Insertion:
    """A note with the text in it, and where it stands."""

    data: bytes
    line: int
    last_line: int
    """Of the text in the new note, 1-based and inclusive."""
    made: str | None
    """The heading that was made for it."""


@dataclass(frozen=True, slots=True)
class _Outline:
    matter: FrontMatter
    above: int
    """Lines above the body."""
    body: str
    headings: list[Heading]


def clean_text(text: str, what: str = "the text") -> str:
    """Return a text with line feeds alone, and with a mark for each control character.

    Raise ``UsageError`` naming ``what`` where it is blank, or no UTF-8 can be made of it.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} is not UTF-8; save or send it as UTF-8") from error
    clean = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", re.sub(r"\r\n?", "\n", text))
    if not clean.replace("\N{REPLACEMENT CHARACTER}", "").strip():
        raise UsageError(f"{what} is empty")
    return clean.strip("\n").rstrip()


def append_text(path: str, data: bytes, text: str, *, under: str | None = None) -> Insertion:
    """Add a text at the end of a note, or of its first section called ``under``, of any level.

    A section ends at the next heading of its level or above. One that is missing is made, of level
    two, before ``Metadata`` or else at the end. Lines end as in the note, whose encoding is kept.
    Raise ``UsageError`` where the text would be hidden, or would change what other text means.
    """
    mark, stored, codec = _decode(data)
    lines, outline = split_raw_lines(stored), _read_outline(path, data)
    added = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    made = None
    start, stop, level = outline.above, len(lines), 0
    if under is not None:
        name = _check_heading(under)
        section = _find_section(outline, name, len(lines))
        if section is None:
            made, level = name, 2
            stop = next((o for o in _starts_of(outline, LAST)), stop)
        else:
            start, stop, level = section
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    _check_text(path, added, outline.body.split("\n")[: stop - outline.above], level)
    heading = [f"## {made}", ""] if made else []
    is_tight = bool(stop and not heading and _continues(lines[stop - 1], added[0]))
    gap = [] if stop == outline.above or is_tight else [""]
    after = [""] if stop < len(lines) and lines[stop].strip() else []
    end = find_line_end(lines)
    opening = end if stop and not LINE_END.search(lines[stop - 1]) else ""
    piece = opening + "".join(f"{line}{end}" for line in (*gap, *heading, *added, *after))
    first = stop + len(gap) + len(heading) + 1
    whole = b"".join(
        (
            mark,
            _encode(path, "".join(lines[:stop]), codec),
            _encode(path, piece, "cp1252" if codec == "latin-1" else codec),
            _encode(path, "".join(lines[stop:]), codec),
        )
    )
    _check_outline(path, outline, whole, [*heading, *added], stop)
    return Insertion(whole, first, first + len(added) - 1, made)


def _decode(data: bytes) -> tuple[bytes, str, str]:
    """Return the byte order mark, the text and a codec that gives back its very bytes."""
    mark, codec = next((pair for pair in _MARKS if data.startswith(pair[0])), (b"", "utf-8"))
    try:
        return mark, data[len(mark) :].decode(codec), codec
    except UnicodeDecodeError as error:
        if codec != "utf-8":
            raise PalaceError(f"the text is damaged {codec}; save it as UTF-8 first") from error
        return b"", data.decode("latin-1"), "latin-1"


def _encode(path: str, text: str, codec: str) -> bytes:
    try:
        return text.encode(codec)
    except UnicodeEncodeError as error:
        raise PalaceError(f"{path} is not UTF-8 and cannot hold it; save it as UTF-8") from error


def _read_outline(path: str, data: bytes) -> _Outline:
    whole, _ = decode_note(data, path)
    text, _ = withhold(whole, path)
    matter = split_front_matter(text)
    if is_private(matter):
        raise UsageError(f"{path} is private; add to it in an editor")
    above = text.count("\n", 0, matter.end)
    is_unended = bool(matter.end) and text[matter.end - 1] != "\n"
    body = "\n".join(whole.split("\n")[above + is_unended :])
    return _Outline(matter, above + is_unended, body, _headings_of(text[matter.end :]))


def _check_heading(under: str) -> str:
    name = " ".join(under.lstrip("#").split())
    if not name:
        raise UsageError("a heading has words: --under NAME")
    return name


def _find_section(outline: _Outline, name: str, end: int) -> tuple[int, int, int] | None:
    """Return first line, line behind the last, and level of a section, whatever its case."""
    for place, heading in enumerate(outline.headings):
        if heading.text.casefold() == name.casefold():
            later = outline.headings[place + 1 :]
            ends = (other.first + outline.above for other in later if other.level <= heading.level)
            return outline.above + heading.last + 1, next(ends, end), heading.level
    return None


def _starts_of(outline: _Outline, name: str) -> list[int]:
    found = (h for h in outline.headings if (h.level, h.text.casefold()) == (2, name.casefold()))
    return [outline.above + heading.first for heading in found]


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


def _headings_of(text: str) -> list[Heading]:
    clean, _ = withhold(text, "")
    found = Markup(drop_comments(drop_markers(clean))[0]).headings
    return [heading for heading in found if not heading.is_nested]


def _leaves_open(text: str) -> bool:
    """Whether what follows a text would not be read as text of its own."""
    found = _headings_of(f"{text}\n\n## {_PROBE}")
    return not found or found[-1].text != _PROBE


def _continues(before: str, text: str) -> bool:
    return _LISTED.match(before) is not None and _LISTED.match(text) is not None


def _check_outline(
    path: str, before: _Outline, data: bytes, added: Sequence[str], stop: int
) -> None:
    """Prove that front matter and headings are what they were, and that the text is read as one."""
    after = _read_outline(path, data)
    own = _headings_of("\n".join(added))
    place = sum(heading.first + before.above < stop for heading in before.headings)
    wanted = [*before.headings[:place], *own, *before.headings[place:]]
    found = [(heading.level, heading.text) for heading in after.headings]
    if found != [(h.level, h.text) for h in wanted] or after.matter.raw != before.matter.raw:
        raise UsageError(f"{path}: the text would change its front matter or other headings")

"""A note as front matter fields and level-two sections: parsing and byte-preserving edits.

An edit replaces a field or a section, or adds text to a section; every other byte stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from memory_palace.config import SEVEN, PalacePaths, Rooms
from memory_palace.errors import PalaceError, UsageError
from memory_palace.language.visible import drop_markers
from memory_palace.markdown.markup import Heading, Markup, drop_comments
from memory_palace.models import Link, Problem
from memory_palace.notes.discovery import discover_notes
from memory_palace.notes.frontmatter import dump_field, split_front_matter, write_front_matter
from memory_palace.notes.note import (
    NoteUnreadable,
    decode_note,
    decode_stored,
    read_note,
    stem_of,
    withhold,
)
from memory_palace.notes.parsing import find_links_in_fields, links_of

LEAD = ""
"""Key of the text outside every level-two section."""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed note without private spans, lines with secrets, or verification tokens."""

    path: str
    data: bytes
    """The file's bytes as stored, private text included, to edit."""
    fields: Mapping[str, Any]
    body: str
    body_first_line: int
    sections: Mapping[str, str]
    """Text by level-two heading, deeper headings included; see ``LEAD``."""
    heading: str
    """The text of the first level-one heading, else empty."""
    links: tuple[Link, ...]
    """Links of the front matter, then of the body."""
    is_cold: bool = False
    problem: str | None = None
    """The reason why the front matter could not be read."""
    place: str = ""
    """The path with its room's name in place of the room's folder: see ``Rooms.place_of``."""

    @property
    def stem(self) -> str:
        """The file's name without its suffix."""
        return stem_of(self.path)

    @property
    def title(self) -> str:
        """The ``title`` field, else the first level-one heading, else the stem."""
        return self.text("title") or self.heading or self.stem

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the note: its title, its stem and its aliases."""
        return (self.title, self.stem, *self.texts("aliases"))

    def text(self, key: str) -> str:
        """Return a field as one line of text; empty if it is absent, a list or a mapping."""
        value = self.fields.get(key)
        if value is None or isinstance(value, list | dict):
            return ""
        return "true" if value is True else " ".join(str(value).split())

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the values of a field, a list or a single value, each as one line of text."""
        value = self.fields.get(key)
        if isinstance(value, list):
            return tuple(" ".join(str(item).split()) for item in value)
        return (self.text(key),) if self.text(key) else ()

    def section(self, *names: str) -> str:
        """Return the text of the first section with one of the names, ignoring case; else empty."""
        wanted = {name.casefold() for name in names}
        return next((text for name, text in self.sections.items() if name.casefold() in wanted), "")


@dataclass(frozen=True, slots=True)
class Library:
    """The parsed notes of a palace without private ones, and the problems of reading."""

    documents: Mapping[str, Document]
    """Documents by path, in path order."""
    problems: tuple[Problem, ...] = ()


def read_library(
    paths: PalacePaths, *, ignore: str, limit_bytes: int, mentioning: bytes = b""
) -> Library:
    """Return all notes of a palace, read from disk because an index may be out of date.

    A note whose bytes do not contain ``mentioning`` is not parsed.
    """
    found = discover_notes(paths, ignore=ignore).checked()
    documents: dict[str, Document] = {}
    problems = list(found.problems)
    for file in found.files:
        try:
            data, _ = read_note(paths, file.path, limit_bytes=limit_bytes)
        except FileNotFoundError:
            continue
        except NoteUnreadable as error:
            problems.append(error.problem)
            continue
        if mentioning in data:
            read = parse_document(file.path, data, is_cold=file.is_cold, rooms=paths.rooms)
            documents |= {file.path: read} if read else {}
    return Library(documents, tuple(problems))


def parse_document(
    path: str, data: bytes, *, is_cold: bool = False, rooms: Rooms = SEVEN
) -> Document | None:
    """Parse a note; ``None`` where it is private."""
    text, _ = withhold(decode_note(data, path)[0], path)
    matter = split_front_matter(text)
    if matter.is_private:
        return None
    body = drop_markers(text[matter.end :])
    first_line = 1 + text.count("\n", 0, matter.end)
    markup = Markup(body)
    return Document(
        path=path,
        data=data,
        fields=matter.values,
        body=body,
        body_first_line=first_line,
        sections=_sections_of(markup),
        heading=markup.title,
        links=(*find_links_in_fields(matter.raw), *links_of(markup, first_line=first_line)),
        is_cold=is_cold,
        problem=matter.error,
        place=rooms.place_of(path),
    )


def split_sections(body: str) -> dict[str, str]:
    """Return the sections of a body by level-two heading; a level-one heading ends a section too.

    Comments are left out; text outside sections has the key ``LEAD``.
    """
    return _sections_of(Markup(body))


def _sections_of(markup: Markup) -> dict[str, str]:
    text, _ = drop_comments(markup.text)
    if text != markup.text:
        markup = Markup(text)
    lines = text.split("\n")
    sections: dict[str, list[str]] = {LEAD: []}
    name, start = LEAD, 0
    for heading in markup.headings:
        if heading.level <= 2 and not heading.is_nested:
            sections[name] += lines[start : heading.first]
            name, start = heading.text if heading.level == 2 else LEAD, heading.last + 1
            sections.setdefault(name, [])
    sections[name] += lines[start:]
    return {name: "\n".join(text).strip() for name, text in sections.items()}


# --- Fields ---------------------------------------------------------------------------------------

_TOP_KEY = re.compile(r"\A[^\s#\-][^\n]*?:(\s|$)")


def set_fields(path: str, data: bytes, values: Mapping[str, object]) -> bytes:
    """Return a note with front matter fields changed, or removed for ``None``; other bytes stay.

    Raise ``PalaceError`` for a note that is not UTF-8, or front matter that cannot be edited.
    """
    text = decode_stored(path, data)
    end = "\r\n" if "\r\n" in text else "\n"
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    clean = decode_note(data, path)[0]
    matter = split_front_matter(clean)
    if matter.error:
        raise PalaceError(f"{path}:{matter.error_line}: {matter.error}; correct it first")
    if matter.end and clean[0] != "-":
        raise PalaceError(f"{path}: its front matter is no YAML; change it by hand")
    if not matter.end:
        block = write_front_matter(values).replace("\n", end)
        return f"{mark}{block}".encode() + data[len(mark.encode()) :]
    lines = matter.raw.split("\n")[:-1]
    first, *rest = text.split("\n")
    rest = rest[len(lines) :]
    for key, value in values.items():
        lines = _set_field(lines, key, value)
    new = f"{first}\n{''.join(f'{line}{end}' for line in lines)}" + "\n".join(rest)
    after = split_front_matter(decode_note(new.encode(), path)[0]).values
    kept, wanted = (
        {key: value for key, value in fields.items() if key not in values}
        for fields in (after, matter.values)
    )
    given = {key for key, value in values.items() if value is not None}
    if kept != wanted or given != after.keys() & values.keys():
        raise PalaceError(f"{path}: its front matter is too unusual to edit; change it by hand")
    return new.encode()


def _set_field(lines: list[str], key: str, value: object) -> list[str]:
    keys = (
        line.partition(":")[0].strip("\"' ") if _TOP_KEY.match(line) else None for line in lines
    )
    start = next((number for number, found in enumerate(keys) if found == key), None)
    new = dump_field(key, value).split("\n")[:-1]
    if start is None:
        return [*lines, *new]
    stop = start + 1
    while stop < len(lines) and not _TOP_KEY.match(lines[stop]) and lines[stop][:1] != "#":
        stop += 1
    return [*lines[:start], *new, *lines[stop:]]


# --- Sections -------------------------------------------------------------------------------------

_LAST = "Metadata"
"""The section before which new sections are inserted."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_LINE_END = re.compile(r"(?<![\r\n])[\r\n]+\Z")
_LISTED = re.compile(r"\A(?:[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|\|)")
"""A list item or table row; an item or row appended to it needs no blank line between."""
_PROBE = "the end of what was written before"


def split_lines(path: str, data: bytes) -> tuple[list[str], int, Markup]:
    """Return a note's lines with line ends, the number of them above the body, and the body."""
    lines = _LINE.findall(decode_stored(path, data))
    bare = [_LINE_END.sub("", line) for line in lines]
    clean = "\n".join([bare[0].removeprefix("\ufeff"), *bare[1:]]) if bare else ""
    above = clean.count("\n", 0, split_front_matter(f"{clean}\n").end)
    return lines, above, Markup("\n".join(bare[above:]))


def _find_line_end(lines: Sequence[str]) -> str:
    """Return the line end of a note's first line, else a line feed; new lines get it too."""
    match = _LINE_END.search(lines[0]) if lines else None
    return match[0] if match else "\n"


def read_section(path: str, data: bytes, name: str) -> str | None:
    """Return the stored text of a level-two section, with line feeds; ``None`` if it is absent."""
    _, _, body = split_lines(path, data)
    section = body.find_section(name)
    return section and "\n".join(body.text.split("\n")[section.first : section.end])


def replace_section(path: str, data: bytes, name: str, text: str) -> bytes:
    """Return a note with ``text`` as its level-two section ``name``, which is added if missing.

    A new section goes before ``Metadata``, else to the end. Raise ``UsageError`` for a text that
    would change other sections too, ``PalaceError`` for a note that is not UTF-8.
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
    is_plain = not _leaves_open(text) and all(found.level > 2 for found in _headings_of(text))
    if not is_plain or _others(path, data, name) != _others(path, changed, name):
        raise UsageError(
            f"{path}: the text of {name} would change other sections; "
            "it contains a heading, or a fence or comment that is not closed"
        )
    return changed


def _others(path: str, data: bytes, name: str) -> dict[str, str]:
    """Return the sections of a note except ``name``."""
    text, _ = decode_note(data, path)
    sections = split_sections(text[split_front_matter(text).end :])
    return {key: text for key, text in sections.items() if key.casefold() != name.casefold()}


@dataclass(frozen=True, slots=True)
class Insertion:
    """A note with the text appended, the text's lines, and the heading that was added for it."""

    data: bytes
    line: int
    last_line: int
    """Lines of the text in the new note, 1-based and inclusive."""
    made: str | None


def append_text(path: str, data: bytes, text: str, *, under: str | None = None) -> Insertion:
    """Return a note with text appended to its end, or to its first section ``under`` of any level.

    A section ends at the next heading of its level or above. A missing one is added at level two,
    before ``Metadata`` or else at the end. Line ends are those of the note. Raise ``UsageError`` if
    the note is private or the text is empty, hidden or changes other headings, ``PalaceError`` if
    the note is not UTF-8.
    """
    lines, before = _LINE.findall(decode_stored(path, data)), _read_outline(path, data)
    added = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    start, stop, level = before.above, len(lines), 0
    heading: list[str] = []
    if under is not None:
        name = " ".join(under.lstrip("#").split())
        if not name:
            raise UsageError("a heading has words: --under NAME")
        section = before.find_section(name)
        if section is None:
            level, heading = 2, [f"## {name}", ""]
            last = before.find_section(_LAST, level=2)
            stop = last.first + before.above if last else stop
        else:
            start, level = section.last + 1 + before.above, section.level
            later = (
                h.first + before.above
                for h in before.headings
                if h.first > section.first and h.level <= level
            )
            stop = next(later, stop)
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    _check_text(path, added, before.lines[: stop - before.above], level)
    is_tight = bool(stop and not heading) and all(map(_LISTED.match, (lines[stop - 1], added[0])))
    gap = [] if stop == before.above or is_tight else [""]
    after = [""] if stop < len(lines) and lines[stop].strip() else []
    end = _find_line_end(lines)
    opening = end if stop and not _LINE_END.search(lines[stop - 1]) else ""
    piece = opening + "".join(f"{line}{end}" for line in (*gap, *heading, *added, *after))
    first = stop + len(gap) + len(heading) + 1
    whole = "".join([*lines[:stop], piece, *lines[stop:]]).encode()
    own = _headings_of("\n".join([*heading, *added]))
    place = sum(found.first + before.above < stop for found in before.headings)
    wanted = [*before.headings[:place], *own, *before.headings[place:]]
    now = _read_outline(path, whole)
    if now.matter != before.matter or [h[:2] for h in now.headings] != [h[:2] for h in wanted]:
        raise UsageError(f"{path}: the text would change its front matter or other headings")
    return Insertion(whole, first, first + len(added) - 1, name if heading else None)


class _Outline(NamedTuple):
    matter: str
    above: int
    """Number of lines above the body."""
    lines: list[str]
    """Lines of the body."""
    headings: list[Heading]

    def find_section(self, name: str, level: int | None = None) -> Heading | None:
        """Return the first heading with a name, ignoring case, and of ``level`` if given."""
        named = (h for h in self.headings if h.text.casefold() == name.casefold())
        return next((h for h in named if level in (None, h.level)), None)


def _read_outline(path: str, data: bytes) -> _Outline:
    whole = f"{decode_note(data, path)[0]}\n"
    text, _ = withhold(whole, path)
    matter = split_front_matter(text)
    if matter.is_private:
        raise UsageError(f"{path} is private; add to it in an editor")
    above = text.count("\n", 0, matter.end)
    lines = whole.split("\n")[above:-1]
    return _Outline(matter.raw, above, lines, _headings_of(text[matter.end :]))


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
    """Whether a text ends in an open code block, comment or private span."""
    found = _headings_of(f"{text}\n\n## {_PROBE}")
    return not found or found[-1].text != _PROBE

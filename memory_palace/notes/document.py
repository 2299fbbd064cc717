"""A note as a form: fields above, sections below. Read for deciding, edited line by line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_palace.config import SEVEN, PalacePaths, Rooms
from memory_palace.language.markers import drop_markers
from memory_palace.markdown.comments import drop_comments
from memory_palace.markdown.markup import Markup
from memory_palace.models import Link, Problem
from memory_palace.notes.discovery import discover_notes
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.notes.note import stem_of
from memory_palace.notes.parsing import find_links_in_fields, is_private, links_of
from memory_palace.notes.reading import NoteUnreadable, decode_note, read_note
from memory_palace.notes.withholding import withhold

LEAD = ""
"""Key of what stands above the first section."""


@dataclass(frozen=True, slots=True)
class Document:
    """One note as people filled it in, without what is private, secret or a verification token."""

    path: str
    data: bytes
    """As stored, for a change that replaces it."""
    fields: Mapping[str, Any]
    body: str
    body_first_line: int
    sections: Mapping[str, str]
    """Text below each heading of level two; deeper headings belong to it."""
    heading: str
    """The first heading of level one, or nothing."""
    links: tuple[Link, ...]
    """Of the front matter, then of the body."""
    is_cold: bool = False
    problem: str | None = None
    """The reason why the front matter could not be read."""
    place: str = ""
    """The path with the name of its room for the room's folder, see ``Rooms.place_of``."""

    @property
    def stem(self) -> str:
        """The file's name without its suffix."""
        return stem_of(self.path)

    @property
    def title(self) -> str:
        """The field, or the first heading, or the stem."""
        return self.text("title") or self.heading or self.stem

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the note: its title, its stem and its aliases."""
        return (self.title, self.stem, *self.texts("aliases"))

    def text(self, key: str) -> str:
        """Return a field as one line of text, empty where it is absent."""
        value = self.fields.get(key)
        if value is None or isinstance(value, list | dict):
            return ""
        return "true" if value is True else " ".join(str(value).split())

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a field that may hold several values."""
        value = self.fields.get(key)
        if isinstance(value, list):
            return tuple(" ".join(str(item).split()) for item in value)
        return (self.text(key),) if self.text(key) else ()

    def section(self, *names: str) -> str:
        """Return the first section that has one of the names, whatever their case."""
        wanted = {name.casefold() for name in names}
        return next((text for name, text in self.sections.items() if name.casefold() in wanted), "")


@dataclass(frozen=True, slots=True)
class Library:
    """Every note that could be read, private ones left out."""

    documents: Mapping[str, Document]
    """By path, in path order."""
    problems: tuple[Problem, ...] = field(default=())


def read_library(
    paths: PalacePaths,
    *,
    ignore: str,
    limit_bytes: int,
    mentioning: bytes = b"",
) -> Library:
    """Read all notes from the disk, so that nothing is decided on an index that is behind.

    A note whose bytes do not hold ``mentioning`` is not parsed. A build of the index and its
    examination read one note after another instead: they keep bytes, not forms.
    """
    found = discover_notes(paths, ignore=ignore).checked()
    documents: dict[str, Document] = {}
    problems = list(found.problems)
    for file in found.files:
        try:
            data, _ = read_note(paths, file, limit_bytes=limit_bytes)
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
    if is_private(matter):
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
    """Cut a body at its headings of level two; those of level one end a section as well.

    Comments are left out.
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

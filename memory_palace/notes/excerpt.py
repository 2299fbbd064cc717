"""Show lines of a note, without what is withheld from the index."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_palace.errors import UsageError
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.notes.parsing import is_private
from memory_palace.notes.reading import decode_note
from memory_palace.notes.withholding import withhold

_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
WITHHELD = "[withheld]"


@dataclass(frozen=True, slots=True)
class NoteText:
    """Lines of a note as stored, 1-based and inclusive."""

    path: str
    first_line: int
    last_line: int
    total_lines: int
    text: str


def split_line_range(text: str) -> tuple[str, int | None, int | None]:
    """Return the name, first and last line of ``name``, ``name:10`` or ``name:10-20``."""
    name, _, lines = text.rpartition(":")
    match = _RANGE.fullmatch(lines) if name else None
    if match is None:
        return text, None, None
    return name, int(match[1]), int(match[2] or match[1])


def excerpt(
    path: str, data: bytes, *, first_line: int | None = None, last_line: int | None = None
) -> NoteText:
    """Cut lines out of a note; lines with secrets and private spans are shown as withheld."""
    whole, _ = decode_note(data, path)
    clean, _ = withhold(whole, path)
    if is_private(split_front_matter(clean)):
        raise UsageError(f"{path} is private; open it in an editor")
    lines = [
        kept if kept == original else f"{kept}{WITHHELD}"
        for kept, original in zip(clean.split("\n"), whole.split("\n"), strict=True)
    ]
    if lines[-1] == "":
        lines.pop()
    first = first_line or 1
    last = min(last_line or len(lines), len(lines))
    if first > max(len(lines), 1) or last < first - 1:
        raise UsageError(f"{path} has {len(lines)} lines; it has no lines {first}-{last_line}")
    return NoteText(path, first, last, len(lines), "\n".join(lines[first - 1 : last]))

"""Note and chunk records as they are kept for showing: values to JSON lines and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_palace.index.segment import PRIORITIES, SOURCES, json_line
from memory_palace.language.visible import visible
from memory_palace.models import Chunk, ChunkRecord, Link, Note, NoteDate, NoteRecord, Problem

PREVIEW_CHARACTERS = 200


def note_line(note: Note) -> bytes:
    """Return what is kept of a note beside the columns."""
    return json_line(
        {
            "tags": note.tags,
            "entities": note.entities,
            "aliases": note.aliases,
            "links": [[k.target, k.line, k.heading, k.alias, k.is_embed] for k in note.links],
            "problems": [[p.line, p.kind, p.message, p.is_failure] for p in note.problems],
        }
    )


def note_record(
    line: dict[str, Any], *, path: str, title: str, kind: str, priority: int, date: float,
    date_source: int, is_evergreen: bool, is_cold: bool,
) -> NoteRecord:  # fmt: skip
    """Join a note's line with its columns."""
    return NoteRecord(
        path=path,
        title=title,
        type=kind,
        priority=PRIORITIES[priority] or None,  # type: ignore[arg-type]
        tags=tuple(line["tags"]),
        aliases=tuple(line["aliases"]),
        entities=tuple(line["entities"]),
        links=tuple(Link(*link) for link in line["links"]),
        date=NoteDate(date, SOURCES[date_source]),  # type: ignore[arg-type]
        is_evergreen=is_evergreen,
        is_cold=is_cold,
        problems=tuple(Problem(path, *problem) for problem in line["problems"]),
    )


def chunk_line(chunk: Chunk) -> bytes:
    """Return what is kept of a chunk beside the columns: headings and preview.

    There is a line for every few sentences of a vault, so it names no fields.
    """
    preview = visible(" ".join(chunk.text.split())[:PREVIEW_CHARACTERS])
    return json_line([chunk.heading_path, preview])


def chunk_record(
    line: Sequence[Any], path: str, lines: Sequence[int], digest: bytes
) -> ChunkRecord:
    """Join a chunk's line with its columns: first and last line, and digest."""
    first, last = int(lines[0]), int(lines[1])
    heading, preview = line
    return ChunkRecord(path, tuple(heading), first, last, digest.hex(), preview)

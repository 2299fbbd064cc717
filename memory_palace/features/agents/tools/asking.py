"""The tools that read: search, read, recall, verify."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_palace.errors import UsageError
from memory_palace.features.agents.fencing import fence, show_hits, write_place, write_state
from memory_palace.features.checking.report import write_lines
from memory_palace.language.visible import visible
from memory_palace.notes.excerpt import NoteText, split_line_range
from memory_palace.palace import Palace

SEARCH_BYTES = 4_000
READ_BYTES = 12_000
"""Of UTF-8: some 3,000 tokens. What is longer is read in parts."""
_SHOWN_LINES = 100


def search(
    palace: Palace,
    query: str = "",
    limit: int = 5,
    folder: str | None = None,
    tag: str | None = None,
    since: str | None = None,
    until: str | None = None,
    budget: int = SEARCH_BYTES,
    cold: bool = False,
) -> str:
    """Return the hits of a question, or the notes that match the filters."""
    filters: dict[str, Any] = {"folder": folder, "tags": tag, "since": since, "until": until}
    if not query.strip() and not any(filters.values()):
        raise UsageError("give a 'query', or a folder, tag or date to list notes of")
    asked = {name: value for name, value in filters.items() if value}
    found = palace.query(
        query, limit=limit, neighbors=0, include_cold=cold, budget_bytes=budget, **asked
    ).worth_reading()
    generation = palace.snapshot(include_cold=cold).commit.generation
    return show_hits(
        found,
        generation=generation,
        budget_bytes=budget,
        cut=lambda place: f"read {write_place(place)}",
    )


def read(palace: Palace, note: str, cold: bool = False) -> str:
    """Return a note or some of its lines; what is too long ends with how to go on."""
    name, first, last = split_line_range(note)
    shown = palace.read(name, first_line=first, last_line=last, include_cold=cold)
    lines, end = cut_lines(shown, READ_BYTES)
    place = write_place(f"{shown.path}:{shown.first_line}-{end}")
    text = fence("\n".join(lines), budget_bytes=2 * READ_BYTES, cut=f"read fewer lines of {place}")
    more = write_place(f"{shown.path}:{end + 1}-{shown.last_line}")
    rest = f"\ngo on with {more}" if end < shown.last_line else ""
    return f"{place} of {shown.total_lines} lines\n{text}{rest}"


def cut_lines(shown: NoteText, most_bytes: int) -> tuple[list[str], int]:
    """Return the lines there is room for, one at least, and the number of the last of them."""
    lines, size = shown.text.split("\n"), 0
    for count, line in enumerate(lines):
        size += len(line.encode("utf-8", "replace")) + 1
        if size > most_bytes and count:
            return lines[:count], shown.first_line + count - 1
    return lines, shown.last_line


def recall(palace: Palace, text: str, context: Sequence[str] = ()) -> str:
    """Return what the notes have on what was said; a word of silence where it is nothing."""
    found = palace.recall(text, context=context)
    state = write_state(found, palace.snapshot().commit.generation)
    return f"{state}\n{fence(found.text) if found.text else 'the notes have nothing on this'}"


def verify(palace: Palace, answer: str, notes: Sequence[str] = ()) -> str:
    """Return what notes say to each sentence of an answer; without notes the palace is searched."""
    done = palace.memories.verify(answer, notes)
    lines = list(write_lines(done))
    if not done.by_meaning:
        lines[0] += " (compared by words only)"
    if more := len(lines[_SHOWN_LINES:]):
        lines[_SHOWN_LINES:] = [f"… {more} more lines; verify a shorter answer"]
    return "\n".join(map(visible, lines))

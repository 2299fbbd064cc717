"""Write memories in the Markdown form, and change parts of one: every other byte stays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from memory_palace.mnemonics.form import (
    ANCHOR,
    CONTENT,
    IMAGE,
    LINKS,
    LOCUS,
    MEMORY_TYPE,
    METADATA,
    SMASHIN,
    STATED_SCORE,
)
from memory_palace.mnemonics.memory_values import BY_PERSON, MOST_FACTORS, Mark, Memory
from memory_palace.notes.frontmatter import write_front_matter
from memory_palace.notes.sections import replace_section, split_lines


def render_memory(memory: Memory, *, tags: Sequence[str] = (), today: date) -> str:
    """Return a new note for a memory."""
    matter: dict[str, object] = {"title": memory.subject, "type": MEMORY_TYPE, "date": today}
    if tags:
        matter["tags"] = list(tags)
    lead = [
        f"- {label}: {text}"
        for label, text in ((LOCUS, memory.locus), (ANCHOR, ", ".join(memory.anchors)))
        if text
    ]
    parts = [f"# {memory.subject}", "\n".join(lead), f"## {IMAGE}", _with_token(memory)]
    parts += [f"## {CONTENT}", memory.content.strip()]
    if memory.links:
        items = (f"- {link.kind.value}: [[{link.target}]]" for link in memory.links)
        parts += [f"## {LINKS}", "\n".join(items)]
    parts += [f"## {SMASHIN}", render_marks(memory.marks)] if memory.marks else []
    stated = (
        f"SMASHIN {memory.smashin_score}/{MOST_FACTORS}, created {today}, "
        f"confidence {memory.confidence * 5:g}/5"
    )
    parts += [f"## {METADATA}", stated]
    return write_front_matter(matter) + "\n\n".join(part for part in parts if part) + "\n"


def render_marks(marks: Iterable[Mark]) -> str:
    """Return the factor map as a task list, one factor a line."""
    return "\n".join(_render_mark(mark) for mark in marks)


def state_score(path: str, data: bytes, score: int) -> bytes:
    """Write the score into ``Metadata``, where one is stated, or at the end of it."""
    lines, above, body = split_lines(path, data)
    section = body.find_section(METADATA)
    if section is None:
        return replace_section(path, data, METADATA, f"SMASHIN {score}/{MOST_FACTORS}")
    start, stop = above + section.first, above + section.end
    for at in range(start, stop):
        changed = STATED_SCORE.sub(rf"\g<1>{score}\g<3>", lines[at])
        if changed != lines[at]:
            return "".join([*lines[:at], changed, *lines[at + 1 :]]).encode()
        if STATED_SCORE.search(lines[at]):
            return data
    text = "\n".join(body.text.split("\n")[section.first : section.end]).strip()
    stated = f"SMASHIN {score}/{MOST_FACTORS}"
    return replace_section(path, data, METADATA, f"{text}\n{stated}" if text else stated)


def _render_mark(mark: Mark) -> str:
    reason = f": {' '.join(mark.reason.split())}" if mark.reason else ""
    by = "" if mark.by == BY_PERSON else f" (by {mark.by})"
    return f"- [{'x' if mark.is_present else ' '}] {mark.factor.value.capitalize()}{reason}{by}"


def _with_token(memory: Memory) -> str:
    missing = [token for token in memory.verify_tokens if f": {token}]" not in memory.image]
    return " ".join([memory.image.strip(), *(f"[Verify: {token}]" for token in missing)]).strip()

"""Write memories in the Markdown form, and change parts of one: every other byte stays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from memory_palace.errors import PalaceError, UsageError
from memory_palace.markdown.markup import Markup
from memory_palace.mnemonics.form import (
    ANCHOR,
    ANCHOR_ITEM,
    ANCHORS,
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
from memory_palace.notes.document import split_sections
from memory_palace.notes.frontmatter import split_front_matter, write_front_matter
from memory_palace.notes.reading import decode_note

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_END = re.compile(r"[\r\n]+\Z")


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


def replace_section(path: str, data: bytes, name: str, text: str) -> bytes:
    """Put ``text`` below the heading ``name`` of level two; add the section where there is none.

    A new section stands before ``Metadata``, or else at the end. Raise ``UsageError`` for a text
    that would change other sections too, ``PalaceError`` for a note that is not UTF-8.
    """
    lines, above, body = _split(path, data)
    end = _line_end(lines)
    new = [f"{line}{end}" for line in ("", *text.strip("\n").split("\n"), "")]
    section = body.find_section(name)
    if section is None:
        before = body.find_section(METADATA)
        start = stop = above + before.heading.first if before else len(lines)
        if start and not _END.search(lines[start - 1]):
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
    _, _, body = _split(path, data)
    section = body.find_section(name)
    return section and "\n".join(body.text.split("\n")[section.first : section.end])


def add_anchors(path: str, data: bytes, anchors: Sequence[str]) -> bytes:
    """Extend the list item of anchors above the first section, or else the section of anchors.

    Where there is neither, a section is added: it is a passage of its own in the index, and above
    the text it would blur the first.
    """
    lines, above, body = _split(path, data)
    sections = (found.first for found in body.headings if found.level > 1 and not found.is_nested)
    plain = body.plain.split("\n")
    for at, line in enumerate(plain[: next(sections, len(plain))], start=above):
        if ANCHOR_ITEM.match(line):
            old = lines[at].rstrip()
            joint = " " if old.endswith((":", ",", "*")) else ", "
            end = _END.search(lines[at])
            lines[at] = f"{old}{joint}{', '.join(anchors)}{end[0] if end else ''}"
            return "".join(lines).encode()
    held = (read_section(path, data, ANCHORS) or "").strip("\n")
    items = "\n".join(f"- {anchor}" for anchor in anchors)
    return replace_section(path, data, ANCHORS, f"{held}\n{items}")


def state_score(path: str, data: bytes, score: int) -> bytes:
    """Write the score into ``Metadata``, where one is stated, or at the end of it."""
    lines, above, body = _split(path, data)
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


def _render_mark(mark: Mark) -> str:
    reason = f": {' '.join(mark.reason.split())}" if mark.reason else ""
    by = "" if mark.by == BY_PERSON else f" (by {mark.by})"
    return f"- [{'x' if mark.is_present else ' '}] {mark.factor.value.capitalize()}{reason}{by}"


def _with_token(memory: Memory) -> str:
    missing = [token for token in memory.verify_tokens if f": {token}]" not in memory.image]
    return " ".join([memory.image.strip(), *(f"[Verify: {token}]" for token in missing)]).strip()


def _split(path: str, data: bytes) -> tuple[list[str], int, Markup]:
    """Return the lines with their ends, how many stand above the body, and the body."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PalaceError(f"{path} is not UTF-8; save it as UTF-8 first") from error
    lines = _LINE.findall(text)
    bare = [_END.sub("", line) for line in lines]
    clean = "\n".join([bare[0].removeprefix("\ufeff"), *bare[1:]]) if bare else ""
    above = clean.count("\n", 0, split_front_matter(f"{clean}\n").end)
    return lines, above, Markup("\n".join(bare[above:]))


def _line_end(lines: Sequence[str]) -> str:
    match = _END.search(lines[0]) if lines else None
    return match[0] if match else "\n"

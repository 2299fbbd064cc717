"""Write an evolution into a note: its anchors, the field aliases, the section Image."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_palace.errors import PalaceError
from memory_palace.notes.code import fenced_lines
from memory_palace.notes.document import Document, set_fields
from memory_palace.notes.headings import parse_heading
from memory_palace.redqueen.memories import SECTION, anchors_of, is_memory_form
from memory_palace.redqueen.values import Evolution

_ANCHOR_ITEM = re.compile(r"[ \t]*[-*][ \t]+\**anchors?\**:", re.I)
_VERIFY = re.compile(r"\[verify:[^\]\n]*\]", re.I)
_UNSAFE = re.compile(r"<!--|-->|^#{1,6}[ \t].*$|\[verify:[^\]\n]*\]?", re.I | re.M)


def patch_note(document: Document, evolution: Evolution) -> bytes:
    """Return the note's bytes with the evolution in them; every other line stays.

    What the note already says is not said again. Raise ``PalaceError`` for a note that is not
    UTF-8.
    """
    try:
        text = document.data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PalaceError(f"{document.path} is not UTF-8; save it as UTF-8 first") from error
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    body = document.body_first_line - 1
    known = {name.casefold() for name in anchors_of(document)}
    anchors = [anchor for anchor in evolution.anchors if anchor.casefold() not in known]
    if is_memory_form(document):
        _change_image(lines, body, evolution, end.strip("\n"))
    if anchors and not _extend_item(lines, body, anchors, end.strip("\n")):
        _add_section(lines, body, anchors, end.strip("\n"))
    data = "\n".join(lines).encode()
    aliases = document.texts("aliases")
    taken = {name.casefold() for name in aliases}
    names = [name for name in evolution.aliases if name.casefold() not in taken]
    return set_fields(document.path, data, {"aliases": [*aliases, *names]}) if names else data


def _extend_item(lines: list[str], body: int, anchors: Sequence[str], tail: str) -> bool:
    """Extend the list item of anchors above the first section; say whether there is one."""
    is_code = fenced_lines([line.rstrip("\r") for line in lines[body:]])
    for place in range(body, len(lines)):
        heading = None if is_code[place - body] else parse_heading(lines[place].rstrip("\r"))
        if heading is not None and heading[0] > 1:
            return False
        if not is_code[place - body] and _ANCHOR_ITEM.match(lines[place]):
            old = lines[place].rstrip()
            lines[place] = f"{old}{_joint(old)}{', '.join(anchors)}{tail}"
            return True
    return False


def _add_section(lines: list[str], body: int, anchors: Sequence[str], tail: str) -> None:
    """Extend the section of anchors, or write one below everything else.

    There it is a passage of its own in the index: above the text it would blur the first.
    """
    items = [f"- {anchor}{tail}" for anchor in anchors]
    span = _find_section(lines, body, SECTION.casefold())
    last = span[1] if span is not None else len(lines)
    while last > body and not lines[last - 1].strip():
        last -= 1
    rest = [] if span is None or span[1] == len(lines) else [tail]
    new = items if span is not None else [tail, f"## {SECTION}{tail}", tail, *items]
    if last and tail and not lines[last - 1].endswith(tail):
        lines[last - 1] += tail
    lines[last : span[1] if span is not None else len(lines)] = [*new, *rest]
    if not rest:
        lines.append("")


def _joint(line: str) -> str:
    return " " if line.endswith((":", ",", "*")) else ", "


def _change_image(lines: list[str], body: int, evolution: Evolution, tail: str) -> None:
    """Put a new image, its token kept, or a prompt for one, into the section Image."""
    span = _find_section(lines, body, "image")
    if span is None or not (evolution.image or evolution.image_prompt):
        return
    first, last = span
    if evolution.image:
        old = "\n".join(lines[first:last])
        tokens = " ".join(_VERIFY.findall(old))
        picture = " ".join(_UNSAFE.sub(" ", evolution.image).split())
        lines[first:last] = [tail, f"{picture} {tokens}".strip() + tail, tail]
        return
    prompt = " ".join(_UNSAFE.sub(" ", evolution.image_prompt).split())
    while last > first and not lines[last - 1].strip():
        last -= 1
    lines[last:last] = [tail, f"<!-- image prompt: {prompt} -->{tail}"]


def _find_section(lines: Sequence[str], body: int, name: str) -> tuple[int, int] | None:
    """Return the lines between a heading of level two and the next heading of level one or two."""
    is_code = fenced_lines([line.rstrip("\r") for line in lines[body:]])
    start: int | None = None
    for place in range(body, len(lines)):
        heading = None if is_code[place - body] else parse_heading(lines[place].rstrip("\r"))
        if heading is None or heading[0] > 2:
            continue
        if start is not None:
            return start, place
        if heading[0] == 2 and heading[1].casefold() == name:
            start = place + 1
    return None if start is None else (start, len(lines))

"""Write a plan as one HTML file without network access that may run only its own script.

The plan is JSON by columns, deflated, in base64, without duplicates. It is one block, which the
page unpacks at start; texts are blocks of about a megabyte, unpacked when one of their notes is
opened. The beginning of a text, which search reads, is stored only in the plan. A title is stored
only if it differs from the file's stem and the first heading.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path, PurePosixPath

from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.view.gather import PalacePlan, PlanNote, gather
from memory_palace.features.view.layout import Box
from memory_palace.palace import Palace
from memory_palace.shown import Shown, inner, open_path, plural, say_behind
from memory_palace.storage import write_atomic

STYLES = ("app.css", "panel.css", "print.css")
_NAMES = """
state data colours camera places floor notes marks plan pointer timeline folding syntax markdown
panel search rooms keys live start
"""
SCRIPTS = ("../vendor/markdown-it.min.js", *(f"{name}.js" for name in _NAMES.split()))
"""Scripts in this order, in one function: at start each may use definitions of those before it.
Once the plan is open all may use all; ``start.js``, which opens the plan, is the last."""

UNITS = 100_000
"""Page units per plan unit; with 25,000 notes a cell is 600 wide."""
BLOCK_BYTES = 1_000_000
HEAD_LENGTH = 160
"""Most characters of a text's beginning, which search reads and a tooltip shows."""
SHORT_LENGTH = 320
"""Most characters of a text that is stored whole in the plan, as one block compresses better."""

IS_STEM, IS_HEADING = 0, 1
"""Codes of titles that are not stored; ``page/data.js`` has the same codes."""


def render(plan: PalacePlan, *, live: str | None = None) -> bytes:
    """Return the HTML page of a plan as UTF-8, deterministically.

    With ``live``, the name of the server's plan generation, the page has no texts and requests
    them from the server.
    """
    packed = pack(plan, with_texts=live is None)
    parts = {
        "policy": content_policy(is_live=live is not None),
        "title": escape(plan.title),
        "live": escape(live or ""),
        "style": style(),
        "script": script(),
        "data": "\n".join(
            f'<script type="text/plain" id="{name}">{block}</script>'
            for name, block in [
                ("packed-plan", packed.plan),
                *((f"packed-text-{n}", block) for n, block in enumerate(packed.texts)),
            ]
        ),
    }
    pieces = read("index.html").split("{{")
    page = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        page += [parts[name], rest]
    return "".join(page).encode()


def content_policy(*, is_live: bool) -> str:
    """Return the Content-Security-Policy: only the page's own script and style and data: images."""
    rules = [
        "default-src 'none'",
        f"script-src '{digest(script())}'",
        f"style-src '{digest(style())}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
        *(["connect-src 'self'"] if is_live else []),
    ]
    return "; ".join(rules)


def digest(content: str) -> str:
    """Return the CSP hash source of an inline element with ``content``."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode("ascii")


@cache
def style() -> str:
    """Return the style sheets of the page, joined."""
    return "\n" + "".join(read(name) for name in STYLES)


@cache
def script() -> str:
    """Return the scripts of the page, joined in one function."""
    body = "".join(read(name) for name in SCRIPTS)
    return f'\n(() => {{\n"use strict";\n{body}}})();\n'


@cache
def read(name: str) -> str:
    """Return the text of a file in the folder ``page``."""
    return (files("memory_palace.features.view") / "page" / name).read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Packed:
    """A plan packed as base64 text for ``script`` elements."""

    plan: str
    texts: tuple[str, ...]
    """Blocks in the order of the notes; the plan has the number of notes per block."""


def pack(plan: PalacePlan, *, with_texts: bool = True) -> Packed:
    """Return a plan packed; without ``with_texts``, only the beginnings of texts are included."""
    heads = [head_of(note.text) for note in plan.notes]
    rests = [note.text[len(head) :] for note, head in zip(plan.notes, heads, strict=True)]
    blocks = list(divide(rests))
    columns = {
        "title": plan.title,
        "day": plan.day,
        "vault": plan.vault,
        "units": UNITS,
        "rooms": [[r.name, *scaled(r.box), int(r.is_cold), r.notes, r.locked] for r in plan.rooms],
        "districts": [[d.room, *scaled(d.box), d.label, d.notes] for d in plan.districts],
        "notes": pack_notes(plan, heads),
        "blocks": [len(block) for block in blocks],
    }
    return Packed(shrink(columns), tuple(map(shrink, blocks)) if with_texts else ())


def pack_notes(plan: PalacePlan, heads: Sequence[str]) -> dict[str, object]:
    """Return the notes of a plan as columns by field name."""
    notes = plan.notes
    boxes = [scaled(note.box) for note in notes]
    return {
        "path": [note.path for note in notes],
        "title": [title_code(note, head) for note, head in zip(notes, heads, strict=True)],
        "head": list(heads),
        "aliases": [note.aliases for note in notes],
        "tags": [note.tags for note in notes],
        "room": [note.room for note in notes],
        **{name: [box[side] for box in boxes] for side, name in enumerate("xywh")},
        "length": [note.length for note in notes],
        "day": [note.day - plan.day for note in notes],
        "undated": [int(not note.is_dated) for note in notes],
        "priority": [note.priority for note in notes],
        "cold": [int(note.is_cold) for note in notes],
        "links": [[link_code(notes, *link) for link in note.links] for note in notes],
        "near": [note.near for note in notes],
    }


def head_of(text: str) -> str:
    """Return the lines up to one that begins with a letter; short texts are returned whole."""
    if len(text) <= SHORT_LENGTH:
        return text
    end = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if line.strip()[:1].isalnum() or end > HEAD_LENGTH:
            break
    return text[: min(end, HEAD_LENGTH)]


def heading_of(head: str) -> str:
    """Return the text of the first line if it is a level 1 heading, else an empty string.

    Only spaces, tabs and carriage returns are stripped: Python and JavaScript differ on others.
    """
    first = head.split("\n", 1)[0]
    return first[2:].strip(" \t\r") if first.startswith("# ") else ""


def title_code(note: PlanNote, head: str) -> str | int:
    """Return the title, or ``IS_STEM`` or ``IS_HEADING`` if the page can derive it."""
    if note.title == PurePosixPath(note.path).stem:
        return IS_STEM
    return IS_HEADING if note.title == heading_of(head) else note.title


def link_code(notes: Sequence[PlanNote], target: str, place: int) -> int | list[object]:
    """Return a linked note's index, paired with the target if that differs from the note's stem."""
    return place if target == PurePosixPath(notes[place].path).stem else [place, target]


def scaled(box: Box) -> list[int]:
    """Return x, y, width and height in whole page units; edges shared by boxes stay shared."""
    left, top = round(box.x * UNITS), round(box.y * UNITS)
    right, bottom = round((box.x + box.width) * UNITS), round((box.y + box.height) * UNITS)
    return [left, top, right - left, bottom - top]


def divide(texts: Iterable[str]) -> Iterable[list[str]]:
    """Yield consecutive texts in blocks of about ``BLOCK_BYTES``."""
    block: list[str] = []
    size = 0
    for text in texts:
        block.append(text)
        size += len(text.encode())
        if size >= BLOCK_BYTES:
            yield block
            block, size = [], 0
    if block:
        yield block


def shrink(value: object) -> str:
    """Return a value as JSON, deflated, in base64."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode("ascii")


MARK = b'<meta name="generator" content="memory-palace view">'
"""Marker of pages written by this program, which may be overwritten, unlike other files."""
_HEAD_BYTES = 8192


@dataclass(frozen=True, slots=True)
class ViewReport(Shown):
    """A written page's file and counts."""

    file: Path
    size_bytes: int
    rooms: int
    districts: int
    notes: int
    cold: int
    """Archived notes on it."""
    locked: int
    """Archived notes that are only counted."""
    text_bytes: int
    """Of the notes' text on it, in UTF-8."""
    layout_remarks: tuple[str, ...]
    """What a person should know of how it was laid out."""
    behind: int = inner(default=0)
    """Notes that differ from the index."""

    def lines(self) -> Iterator[str]:
        yield f"page       {open_path(self.file.resolve())}, {_megabytes(self.size_bytes)}"
        has_districts = self.districts > self.rooms
        districts = f", {plural(self.districts, 'district')}" if has_districts else ""
        yield f"notes      {self.notes:,} in {plural(self.rooms, 'room')}{districts}"
        if self.locked:
            yield f"archived   {self.locked:,} locked; --include-cold shows them"
        elif self.cold:
            yield f"archived   {self.cold:,} shown"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        return [*self.layout_remarks, *([say_behind(self.behind)] if self.behind else [])]


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:,.0f} kB"


def write_view(
    palace: Palace,
    out: str | os.PathLike[str] | None = None,
    *,
    include_cold: bool = False,
    new_plan: bool = False,
) -> ViewReport:
    """Write the palace as one HTML page to ``out``, by default beside the index.

    A page of this program is overwritten. Notes keep their positions unless ``new_plan`` is set.
    Raise ``UsageError`` for a target that must not be overwritten; if writing fails, raise
    ``PalaceError`` beside the index and ``OSError`` for ``out``.
    """
    file = palace.paths.view if out is None else Path(out).expanduser()
    if out is not None:
        check_target(file)
    remarks: list[str] = []
    plan = gather(palace, include_cold=include_cold, new_plan=new_plan, remark=remarks.append)
    page = render(plan)
    try:
        write_atomic(file, page)
    except OSError as error:
        if out is not None:
            raise
        raise PalaceError(
            f"{file}: {error.strerror}; write the page elsewhere with --out FILE"
        ) from error
    return ViewReport(
        file=file,
        size_bytes=len(page),
        rooms=len(plan.rooms),
        districts=len(plan.districts),
        notes=len(plan.notes),
        cold=sum(note.is_cold for note in plan.notes),
        locked=sum(room.locked for room in plan.rooms),
        text_bytes=sum(len(note.text.encode()) for note in plan.notes),
        layout_remarks=tuple(remarks),
    )


def check_target(file: Path) -> None:
    """Raise ``UsageError`` if a page must not be written to, or overwrite, ``file``."""
    if file.suffix.lower() in (".md", ".markdown") or file.name == "-":
        raise UsageError(f"{file} cannot be a page; name a file such as palace.html")
    if not file.parent.is_dir():
        raise UsageError(f"there is no folder {file.parent}; make it, or name another with --out")
    if file.is_file():
        with file.open("rb") as opened:
            is_ours = MARK in opened.read(_HEAD_BYTES)
        if not is_ours:
            raise UsageError(
                f"{file} was not written by `palace view` and is left as it is; name another file "
                "with --out, or move it away"
            )
    elif file.exists():
        raise UsageError(f"{file} is not a file; name one such as --out palace.html")

"""Write a plan as one HTML file that needs no network and may run nothing but its own script.

The plan is columns of JSON, deflated, in base64, and nothing is stored twice. It is one block that
the page unpacks at once; the texts are blocks of about a megabyte, unpacked when a note of one is
asked for. The beginning of a text, which search reads, is in the plan only, and a title only
where neither the file's name nor the first heading gives it.
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
from memory_palace.shown import Shown, inner, plural, say_behind
from memory_palace.storage import write_atomic

STYLES = ("app.css", "panel.css", "print.css")
SCRIPTS = (
    "../vendor/markdown-it.min.js",
    "state.js",
    "data.js",
    "colours.js",
    "camera.js",
    "places.js",
    "floor.js",
    "notes.js",
    "marks.js",
    "plan.js",
    "pointer.js",
    "legend.js",
    "timeline.js",
    "folding.js",
    "syntax.js",
    "markdown.js",
    "panel.js",
    "search.js",
    "rooms.js",
    "keys.js",
    "help.js",
    "live.js",
    "start.js",
)
"""In this order, inside one function: what one defines, those after it may use when they run. All
may use it once the plan is open; ``start.js``, which opens it, is the last."""

UNITS = 100_000
"""Of the page, in one of the plan: a cell of 25,000 is 600 wide."""
BLOCK_BYTES = 1_000_000
HEAD_LENGTH = 160
"""Characters of the beginning that search reads and a tip shows."""
SHORT_LENGTH = 320
"""A text of so many characters is not cut in two: one block shrinks more than two."""

IS_STEM, IS_HEADING = 0, 1
"""Where a title is found that is not stored; ``page/data.js`` reads the same."""


def render(plan: PalacePlan, *, live: str | None = None) -> bytes:
    """Return the page of ``plan`` as UTF-8; the same plan gives the same bytes.

    With ``live``, the generation of the index that a server has open, it holds no texts: it asks
    the server for them.
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
    """Return what the page may do: run its own script, show data: pictures, and nothing else."""
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
    """Return the source expression for an inline element with ``content``."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode("ascii")


@cache
def style() -> str:
    """Return all rules of the page."""
    return "\n" + "".join(read(name) for name in STYLES)


@cache
def script() -> str:
    """Return all scripts of the page as one."""
    body = "".join(read(name) for name in SCRIPTS)
    return f'\n(() => {{\n"use strict";\n{body}}})();\n'


@cache
def read(name: str) -> str:
    """Return a file of the folder ``page``."""
    return (files("memory_palace.features.view") / "page" / name).read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Packed:
    """A plan as text that may stand in an element ``script``."""

    plan: str
    texts: tuple[str, ...]
    """Blocks in the order of the notes; the plan says which notes begin them."""


def pack(plan: PalacePlan, *, with_texts: bool = True) -> Packed:
    """Return ``plan`` packed; without the rest of the texts where they are asked of a server."""
    heads = [head_of(note.text) for note in plan.notes]
    rests = [note.text[len(head) :] for note, head in zip(plan.notes, heads, strict=True)]
    blocks = list(divide(rests))
    columns = {
        "title": plan.title,
        "day": plan.day,
        "units": UNITS,
        "rooms": [[r.name, *scaled(r.box), int(r.is_cold), r.notes, r.locked] for r in plan.rooms],
        "districts": [[d.room, *scaled(d.box), d.label, d.notes] for d in plan.districts],
        "notes": pack_notes(plan, heads),
        "blocks": [len(block) for block in blocks],
    }
    return Packed(shrink(columns), tuple(map(shrink, blocks)) if with_texts else ())


def pack_notes(plan: PalacePlan, heads: Sequence[str]) -> dict[str, object]:
    """Return a column for each field of a note."""
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
        "changed": [note.changed - plan.day for note in notes],
        "undated": [int(not note.is_dated) for note in notes],
        "priority": [note.priority for note in notes],
        "cold": [int(note.is_cold) for note in notes],
        "links": [[link_code(notes, *link) for link in note.links] for note in notes],
        "near": [note.near for note in notes],
    }


def head_of(text: str) -> str:
    """Return the beginning of ``text`` up to the end of its first line that is not a heading."""
    if len(text) <= SHORT_LENGTH:
        return text
    end = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if (line.strip() and not line.startswith("#")) or end > HEAD_LENGTH:
            break
    return text[: min(end, HEAD_LENGTH)]


def heading_of(head: str) -> str:
    """Return the first line if it is a heading of level 1, without its mark.

    Spaces, tabs and carriage returns go; what else is white space Python and JavaScript differ in.
    """
    first = head.split("\n", 1)[0]
    return first[2:].strip(" \t\r") if first.startswith("# ") else ""


def title_code(note: PlanNote, head: str) -> str | int:
    """Return the title, or where the page finds it."""
    if note.title == PurePosixPath(note.path).stem:
        return IS_STEM
    return IS_HEADING if note.title == heading_of(head) else note.title


def link_code(notes: Sequence[PlanNote], target: str, place: int) -> int | list[object]:
    """Return the place of a linked note, with the target where it is not the stem."""
    return place if target == PurePosixPath(notes[place].path).stem else [place, target]


def scaled(box: Box) -> list[int]:
    """Return x, y, width and height in whole units, its edges where those of its neighbours are."""
    left, top = round(box.x * UNITS), round(box.y * UNITS)
    right, bottom = round((box.x + box.width) * UNITS), round((box.y + box.height) * UNITS)
    return [left, top, right - left, bottom - top]


def divide(texts: Iterable[str]) -> Iterable[list[str]]:
    """Yield runs of ``texts`` of about :data:`BLOCK_BYTES`."""
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
    """Return ``value`` as JSON, deflated, in base64."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode("ascii")


MARK = b'<meta name="generator" content="memory-palace view">'
"""What tells a page of ours, which may be replaced, from a file of somebody else."""
_HEAD_BYTES = 8192


@dataclass(frozen=True, slots=True)
class ViewReport(Shown):
    """A page that was written, and what is on it."""

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
        yield f"page       {seen_from_here(self.file)}, {_megabytes(self.size_bytes)}"
        has_districts = self.districts > self.rooms
        districts = f", {plural(self.districts, 'district')}" if has_districts else ""
        yield f"notes      {self.notes:,} in {plural(self.rooms, 'room')}{districts}"
        if self.locked:
            yield f"archived   {self.locked:,} locked; --include-cold shows them"
        elif self.cold:
            yield f"archived   {self.cold:,} shown"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        return [*self.layout_remarks, *([say_behind(self.behind)] if self.behind else [])]


def seen_from_here(file: Path) -> str:
    """Return a path as it is seen from the working folder."""
    whole, here = file.resolve(), Path.cwd()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:,.0f} kB"


def write_view(
    palace: Palace,
    out: str | os.PathLike[str] | None = None,
    *,
    include_cold: bool = False,
    relayout: bool = False,
) -> ViewReport:
    """Draw the palace as one HTML page, and return which file it is and what is on it.

    It is written to ``out``, or beside the index; a page of ours is replaced. Notes lie where they
    lay before, unless ``relayout`` lays the plan out anew. Raise ``UsageError`` for a file that
    must not be replaced, ``PalaceError`` where it cannot be written beside the index, ``OSError``
    elsewhere.
    """
    file = palace.paths.view if out is None else Path(out).expanduser()
    if out is not None:
        check_target(file)
    remarks: list[str] = []
    plan = gather(palace, include_cold=include_cold, relayout=relayout, remark=remarks.append)
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
    """Raise ``UsageError`` for what a page must not be written to, nor over."""
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

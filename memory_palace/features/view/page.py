"""Write a plan as one HTML file without network access that may run only its own script.

The plan is JSON by columns, deflated, in base64, without duplicates. It is one block, which the
page unpacks at start; texts are blocks of some hundred notes, unpacked when one of them is
opened. The beginning of a text, which search reads, is stored only in the plan. A title is stored
only if it differs from the file's stem and the first heading.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path, PurePosixPath

from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.view.gather import PalacePlan, PlanNote, gather
from memory_palace.features.view.layout import PLAN
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

PER_BLOCK = 400
"""Notes whose texts are one block."""
HEAD_LENGTH = 160
"""Most characters of a text's beginning, which search reads and a tooltip shows."""
SHORT_LENGTH = 320
"""Most characters of a text that is stored whole in the plan, as one block compresses better."""
_AS_THEY_ARE = ("aliases", "tags", "room", "length", "day", "links", "near")
"""Fields of a note that the page reads by the same names."""


def render(plan: PalacePlan, *, live: str | None = None) -> bytes:
    """Return the HTML page of a plan as UTF-8, deterministically.

    With ``live``, the name of the server's plan generation, the page has no texts and requests
    them from the server.
    """
    parts = {
        "policy": content_policy(is_live=live is not None),
        "title": escape(plan.title),
        "live": escape(live or ""),
        "style": style(),
        "script": script(),
        "data": "\n".join(
            f'<script type="text/plain" id="packed-{number}">{block}</script>'
            for number, block in enumerate(pack(plan, with_texts=live is None))
        ),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda part: parts[part[1]], read("index.html")).encode()


def content_policy(*, is_live: bool) -> str:
    """Return the Content-Security-Policy: only the page's own script and style and data: images."""
    return (
        f"default-src 'none'; script-src '{digest(script())}'; style-src '{digest(style())}'; "
        "img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'" + "; connect-src 'self'" * is_live
    )


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


def pack(plan: PalacePlan, *, with_texts: bool = True) -> list[str]:
    """Return a plan as base64 text for ``script`` elements, then the blocks of its texts.

    The plan has the beginnings of the texts; without ``with_texts`` it is alone.
    """
    notes, texts = plan.notes, [note.text for note in plan.notes]
    heads = [text[:HEAD_LENGTH] if len(text) > SHORT_LENGTH else text for text in texts]
    rests = [text[len(h) :] for text, h in zip(texts, heads, strict=True)] if with_texts else []
    columns = {
        "title": plan.title,
        "vault": plan.vault,
        "units": PLAN.width,
        "rooms": [[r.name, *r.box, int(r.is_cold), r.notes, r.locked] for r in plan.rooms],
        "districts": [[d.room, *d.box, d.label] for d in plan.districts],
        "notes": {
            "path": [note.path for note in notes],
            "title": [_code(note, head) for note, head in zip(notes, heads, strict=True)],
            "head": heads,
            **{name: [note.box[side] for note in notes] for side, name in enumerate("xywh")},
            "cold": [note.is_cold for note in notes],
            **{name: [getattr(note, name) for note in notes] for name in _AS_THEY_ARE},
        },
        "perBlock": PER_BLOCK,
        "headLength": HEAD_LENGTH,
    }
    blocks = [rests[first : first + PER_BLOCK] for first in range(0, len(rests), PER_BLOCK)]
    return [shrink(columns), *map(shrink, blocks)]


def _code(note: PlanNote, head: str) -> str | None:
    """Return a title; ``None`` if it is the first heading, nothing if the name of the file."""
    if head.startswith(f"# {note.title}\n"):
        return None
    return "" if note.title == PurePosixPath(note.path).stem else note.title


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
    layout_remarks: tuple[str, ...]
    """What a person should know of how it was laid out."""
    behind: int = inner(default=0)
    """Notes that differ from the index."""

    def lines(self) -> Iterator[str]:
        yield f"page       {open_path(self.file.resolve())}, {self.size_bytes / 1e6:.1f} MB"
        yield f"notes      {self.notes:,} in {plural(self.rooms, 'room')}"
        if self.locked:
            yield f"archived   {self.locked:,} locked; --include-cold shows them"
        elif self.cold:
            yield f"archived   {self.cold:,} shown"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        return [*self.layout_remarks, *([say_behind(self.behind)] if self.behind else [])]


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

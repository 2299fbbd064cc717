"""Write the page of a palace, and say what is on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memory_palace.engine import Engine
from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.view.cache import write_beside_index
from memory_palace.features.view.gather import gather
from memory_palace.features.view.page import render
from memory_palace.features.view.values import TextAmount, ViewOptions
from memory_palace.storage.atomic import make_ignored_folder, write_atomic

MARK = b'<meta name="generator" content="memory-palace view">'
"""What tells a page of ours, which may be replaced, from a file of somebody else."""
_HEAD_BYTES = 8192
_NOTE_SUFFIXES = (".md", ".markdown")
_OWN_BYTES, _SHARE_OF_TEXT = 350_000, 0.55
"""A page weighs at most so much, and this share of the text on it."""


@dataclass(frozen=True, slots=True)
class ViewReport:
    """A page that was written, and what is on it."""

    file: Path
    size_bytes: int
    limit_bytes: int
    """What it weighs at most: 350 kB and .55 of the notes' text."""
    rooms: int
    districts: int
    notes: int
    cold: int
    """Archived notes on it."""
    locked: int
    """Archived notes that are only counted."""
    text_bytes: int
    """Of the notes' text on it, in UTF-8."""
    text_amount: TextAmount
    remarks: tuple[str, ...]
    """What a person should know of how it was laid out."""


def write_view(
    engine: Engine,
    out: Path | None = None,
    *,
    include_cold: bool = False,
    relayout: bool = False,
) -> ViewReport:
    """Write the page of a palace to ``out``, or beside its index; a page of ours is replaced.

    Raise ``UsageError`` for a file that must not be replaced, ``PalaceError`` where it cannot be
    written beside the index, ``OSError`` elsewhere.
    """
    file = out or engine.paths.view
    check_target(file)
    if out is not None and not out.parent.is_dir():
        raise UsageError(f"there is no folder {out.parent}; make it, or name another with --out")
    remarks: list[str] = []
    plan = gather(engine, ViewOptions(include_cold, relayout), remark=remarks.append)
    page = render(plan)
    if out is not None:
        write_atomic(file, page)
    else:
        try:
            make_ignored_folder(file.parent, mode=0o700)
            write_beside_index(file, page)
        except OSError as error:
            raise PalaceError(
                f"{file}: {error.strerror}; write the page elsewhere with --out FILE"
            ) from error
    text = sum(len(note.text.encode()) for note in plan.notes)
    return ViewReport(
        file=file,
        size_bytes=len(page),
        limit_bytes=_OWN_BYTES + int(_SHARE_OF_TEXT * text),
        rooms=len(plan.rooms),
        districts=len(plan.districts),
        notes=len(plan.notes),
        cold=sum(note.is_cold for note in plan.notes),
        locked=sum(room.locked for room in plan.rooms),
        text_bytes=text,
        text_amount=plan.text_amount,
        remarks=tuple(remarks),
    )


def check_target(file: Path) -> None:
    """Raise ``UsageError`` for what a page must not be written to, nor over."""
    if file.is_dir():
        raise UsageError(f"{file} is a folder; name a file, such as --out {file / 'palace.html'}")
    if file.name == "-" or file.suffix.lower() in _NOTE_SUFFIXES:
        raise UsageError(f"{file} cannot be a page; name a file such as palace.html")
    if not file.exists():
        return
    if not file.is_file():
        raise UsageError(f"{file} is not a file; name one such as --out palace.html")
    with file.open("rb") as opened:
        is_ours = MARK in opened.read(_HEAD_BYTES)
    if not is_ours:
        raise UsageError(
            f"{file} was not written by `palace view` and is left as it is; name another file "
            "with --out, or move it away"
        )

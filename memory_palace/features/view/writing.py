"""Write the page of a palace, and say what is on it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.view.gather import gather
from memory_palace.features.view.page import render
from memory_palace.palace import Palace
from memory_palace.shown import Shown, inner, plural, say_behind
from memory_palace.storage import write_atomic

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
        """Return where it is, and the figures."""
        yield f"page       {seen_from_here(self.file)}, {_megabytes(self.size_bytes)}"
        has_districts = self.districts > self.rooms
        districts = f", {plural(self.districts, 'district')}" if has_districts else ""
        yield f"notes      {self.notes:,} in {plural(self.rooms, 'room')}{districts}"
        if self.locked:
            yield f"archived   {self.locked:,} locked; --include-cold shows them"
        elif self.cold:
            yield f"archived   {self.cold:,} shown"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return what is to be known of the plan, and that notes changed since."""
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

"""Lines of notes as they may be shown, and which notes are in conflict."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from memory_palace.config import PalacePaths
from memory_palace.errors import UsageError
from memory_palace.notes.discovery import SourceFile
from memory_palace.notes.reading import NoteUnreadable, decode_note, read_note

_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
WITHHELD = "[withheld]"
_NO_TEXT = re.compile(r"<!--|%%|verify|smashin", re.IGNORECASE)
"""Signs of comments, verification tokens and the score sheets of memories."""
_HEAD_BYTES = 8192
_OPEN = re.compile(r"^status:[ \t]*[\"']?open[\"']?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NoteText:
    """Lines of a note as stored, 1-based and inclusive."""

    path: str
    first_line: int
    last_line: int
    total_lines: int
    text: str


def split_line_range(text: str) -> tuple[str, int | None, int | None]:
    """Return the name, first and last line of ``name``, ``name:10`` or ``name:10-20``."""
    name, _, lines = text.rpartition(":")
    match = _RANGE.fullmatch(lines) if name else None
    if match is None:
        return text, None, None
    return name, int(match[1]), int(match[2] or match[1])


def write_line_range(name: str, first: int, last: int) -> str:
    """Return what ``split_line_range`` reads."""
    return f"{name}:{first}" + (f"-{last}" if last > first else "")


def excerpt(
    path: str, data: bytes, *, first_line: int | None = None, last_line: int | None = None
) -> NoteText:
    """Cut lines out of a note; lines with secrets and private spans are shown as withheld."""
    from memory_palace.notes.frontmatter import split_front_matter  # delayed: it imports YAML
    from memory_palace.notes.parsing import is_private
    from memory_palace.notes.withholding import withhold

    whole, _ = decode_note(data, path)
    clean, _ = withhold(whole, path)
    if is_private(split_front_matter(clean)):
        raise UsageError(f"{path} is private; open it in an editor")
    lines = [
        kept if kept == original else f"{kept}{WITHHELD}"
        for kept, original in zip(clean.split("\n"), whole.split("\n"), strict=True)
    ]
    if lines[-1] == "":
        lines.pop()
    first = first_line or 1
    last = min(last_line or len(lines), len(lines))
    if first > max(len(lines), 1) or last < first - 1:
        raise UsageError(f"{path} has {len(lines)} lines; it has no lines {first}-{last_line}")
    return NoteText(path, first, last, len(lines), "\n".join(lines[first - 1 : last]))


def read_indexed(
    paths: PalacePaths, file: SourceFile, *, digest: bytes, is_withheld: bool
) -> list[str]:
    """Return the lines of a note as they were indexed; none where it is no longer what it was.

    ``digest`` is the beginning of its SHA-256. ``is_withheld`` says that something of it is private
    or secret: such lines are empty, and so are comments and verification tokens.
    """
    try:
        data, _ = read_note(paths, file, limit_bytes=file.stat.size)
    except (NoteUnreadable, OSError):
        return []  # whoever asks says that the index is behind
    if sha256(data).digest()[: len(digest)] != digest:
        return []
    text, _ = decode_note(data, file.path)
    if is_withheld or _NO_TEXT.search(text):
        from memory_palace.notes.parsing import read_body  # delayed: it imports YAML

        return read_body(file.path, data).lines
    return text.split("\n")


def find_disputes(paths: PalacePaths) -> dict[str, tuple[str, ...]]:
    """Return the open conflicts of every note that is party to one."""
    disputes: dict[str, tuple[str, ...]] = {}
    rooms = paths.rooms.folders.items()
    folders = [paths.root / folder for folder, room in rooms if room == "conflict_room"]
    for file in sorted({file for folder in folders for file in folder.rglob("*.md")}):
        with suppress(OSError):  # it vanished: the index names it
            found = file.stat()
            stamp = found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
            for party in _open_parties(file, stamp):
                disputes[party] = (*disputes.get(party, ()), paths.shown(file))
    return disputes


@lru_cache(maxsize=4096)
def _open_parties(file: Path, stamp: tuple[int, ...]) -> list[str]:
    """Return the parties of a conflict that is open; read once, while its file stays as it is."""
    try:
        with file.open("rb") as opened:
            text = opened.read(_HEAD_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError:
        return []  # it vanished, or it may not be read: the index names it
    head, _, _ = text.partition("\n---\n")
    if not head.startswith("---\n") or not _OPEN.search(head):
        return []
    from memory_palace.notes.frontmatter import split_front_matter  # delayed: it imports YAML

    parties = split_front_matter(f"{head}\n---\n").values.get("parties")
    return [str(party) for party in parties] if isinstance(parties, list) else []

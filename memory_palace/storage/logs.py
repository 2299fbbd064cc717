"""The one module that appends to logs of JSON lines and reads them.

Changes, reviews, rounds, usage and searches are logged so. The manifest is not: people edit it, and
its bad lines are named instead of skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from memory_palace.storage.atomic import naming, sync_folder

_Logged = TypeVar("_Logged")


def append_record(path: Path, record: Mapping[str, object], *, is_durable: bool = True) -> None:
    """Add one line, in one write, so that two processes do not mix theirs.

    A torn last line is ended first. ``is_durable=False`` leaves flushing to the system, for a
    record that may be lost in a power cut.
    """
    line = to_line(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        with naming(path):
            size = os.lseek(descriptor, 0, os.SEEK_END)
            if size:
                os.lseek(descriptor, size - 1, os.SEEK_SET)
                line = line if os.read(descriptor, 1) == b"\n" else b"\n" + line
            while line:  # short only where the disk is full: the next write says so
                line = line[os.write(descriptor, line) :]
            if is_durable:
                os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_durable:
        sync_folder(path.parent)


def to_line(record: Mapping[str, object]) -> bytes:
    """Return the line of a record; a lone surrogate becomes the escape that JSON has for it."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def make_room(path: Path, most_bytes: int) -> None:
    """Give a log that is full the name with ``.1`` behind it, in the place of the one before."""
    if path.exists() and path.stat().st_size > most_bytes:
        path.replace(path.with_name(f"{path.name}.1"))


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every line that is a JSON object, oldest first; nothing where there is no file.

    A torn or damaged line is skipped: its writer was stopped before it could say it was done.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    for line in lines:
        record = parse_record(line)
        if record is not None:
            yield record


def parse_record(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object that a line is, ``None`` where it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def follow_moves(found: dict[str, list[_Logged]], moves: Iterable[tuple[str, str]]) -> None:
    """Give what is logged of a note to its present path, in place.

    ``moves`` are pairs of old and new path, oldest first.
    """
    for old, new in moves:
        if old in found:
            found[new] = [*found.get(new, ()), *found.pop(old)]

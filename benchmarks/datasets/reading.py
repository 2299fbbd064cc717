"""Read files of question sets; say which line of which file is not as it should be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_palace.errors import UsageError
from memory_palace.notes.golden import find_rows


def read_json(path: Path) -> list[Any]:
    """Parse a JSON array; raise ``UsageError`` with file and line where it is none."""
    try:
        items = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: {error.msg}; is it the official file?") from error
    if not isinstance(items, list):
        raise UsageError(f"{path}:1: this is not a JSON array; is it the official file?")
    return items


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and record; raise ``UsageError`` with file and line for a bad line."""
    for number, line in read_lines(path):
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise UsageError(f"{path}:{number}: {error.msg}") from error
        if not isinstance(record, dict):
            raise UsageError(f"{path}:{number}: a line must be one JSON object")
        yield number, record


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, counted from 1.

    Only a line feed ends one: ``str.splitlines`` also cuts at U+2028 and others, which may stand
    inside the strings of JSON.
    """
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, line.removesuffix("\r")


def read_table(path: Path, *columns: str) -> Iterator[list[str]]:
    """Yield the rows of a file's Markdown tables; raise ``UsageError`` where there are none."""
    rows = [cells for _, cells in find_rows(read_text(path), *columns)]
    if not rows:
        raise UsageError(f"{path} has no table of {', '.join(columns)}")
    yield from rows


def read_text(path: Path) -> str:
    """Read UTF-8; raise ``UsageError`` naming file, and line where bytes are something else."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {(error.strerror or '').lower()}") from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{line}: byte {error.start} is not UTF-8") from error


def take(record: Any, key: str, where: str) -> Any:
    """Return a field; raise ``UsageError`` naming the place where it is missing."""
    if not isinstance(record, dict) or key not in record:
        raise UsageError(f"{where}: {key!r} is missing; is it the official schema?")
    return record[key]


def take_list(record: Any, key: str, where: str) -> list[Any]:
    """Return a field that is a list; raise ``UsageError`` naming the place where it is not."""
    items = take(record, key, where)
    if not isinstance(items, list):
        raise UsageError(f"{where}: {key!r} is not a list; is it the official schema?")
    return items

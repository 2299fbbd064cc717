"""Read the entries of a long JSON file one by one; a broken one does not stop the next.

A list of objects (also as ``{"conversations": [...]}``), one object, or one after another. The
standard library's parser takes a text whole, and a streaming one stops at the first error: so only
the borders of entries are found here, and each entry is parsed by ``json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from memory_palace.importing.formats.export_files import READ_ERRORS, ExportFile, report_broken
from memory_palace.importing.items import ReadReport

Hook = Callable[[dict[str, Any]], Any]
_CHUNK = 1 << 18
_LIMIT_ENTRY = 256 << 20
"""Bytes of one entry; a longer one is passed over."""
_LIMIT_LINE = 64 << 20
_KEPT = 1 << 16
_SUSPICIOUS = 4 << 20
"""An entry this long is searched for the head of the next: a lost quotation mark swallows it."""
_MARK = re.compile(rb'"[^"\\]*+"|["\[\]{}]')
_WRAPPED = re.compile(rb'\{\s*"(?:conversations|chats|data|items)"\s*:\s*\[')
_SCALAR = rb'(?:"(?:[^"\\]|\\.)*+"|[^\s",:{}\[\]]+)'
_HEAD_FORM = rb"\{\s*%b\s*:\s*%b\s*,\s*%b\s*:"
_KEY = rb'("(?:[^"\\]|\\.)*+")'
_HEAD = re.compile(_HEAD_FORM % (_KEY, _SCALAR, _KEY))
_OPEN, _QUOTE, _BACKSLASH = b"[{", ord('"'), ord("\\")
_BETWEEN = b" \t\r\n,"
_NONE = 1 << 30
"""A depth that no entry has: the list has ended."""


def read_lines(file: ExportFile, report: ReadReport) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give each line that is a JSON object, with its number; report the others."""
    number = 0
    try:
        with file.open() as stream:
            while line := stream.readline(_LIMIT_LINE):
                number += 1
                is_whole = line.endswith(b"\n")
                while len(line) >= _LIMIT_LINE and not is_whole:
                    rest = stream.readline(_LIMIT_LINE)
                    is_whole = not rest or rest.endswith(b"\n")
                    line = b"?"
                if line.strip():
                    value, reason = _parse(line.decode("utf-8-sig", "replace"), None)
                    if value is not None:
                        yield number, value
                    else:
                        reason = reason if is_whole else "the file ends in the middle of this line"
                        report_broken(report, file.name, f"line {number}", reason)
    except READ_ERRORS as error:
        report_broken(report, file.name, f"line {number + 1}", f"cannot be read on: {error}")


def read_objects(
    file: ExportFile, report: ReadReport, hook: Hook | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each object of the file with its position, "entry 4"; report what is none.

    ``hook`` makes each object smaller as soon as it is parsed (``json.loads(object_hook=…)``).
    """
    splitter = _Splitter()
    for chunk in _read_chunks(file, report):
        splitter.add(chunk)
        while (text := splitter.take(is_end=not chunk)) is not None:
            value, reason = _parse(text, hook)
            position = f"entry {splitter.count}"
            if value is not None:
                splitter.head = splitter.head or _find_head(text)
                yield position, value
            else:
                report_broken(report, file.name, position, splitter.resume(text) or reason)
    if splitter.depth > 0:
        position = f"entry {splitter.count + 1}"
        report_broken(report, file.name, position, "the file ends before its list does")


def _read_chunks(file: ExportFile, report: ReadReport) -> Iterator[bytes]:
    """Give the bytes of a file, and an empty chunk at the end."""
    done = 0
    try:
        with file.open() as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk.removeprefix(b"\xef\xbb\xbf") if not done else chunk
                done += len(chunk)
    except READ_ERRORS as error:
        report_broken(report, file.name, f"byte {done}", f"cannot be read on: {error}")
    yield b""


def _parse(text: str, hook: Hook | None) -> tuple[dict[str, Any] | None, str]:
    try:
        value = json.loads(text, object_hook=hook)
    except ValueError as error:
        return None, f"is no JSON: {error}"
    except RecursionError:
        return None, "is nested too deeply"
    return (value, "") if isinstance(value, dict) else (None, "is no object")


def _find_head(text: str) -> re.Pattern[bytes] | None:
    """Return how the entries of this file begin, by their first two keys."""
    found = _HEAD.match(text.encode("utf-8", "replace"))
    if not found:
        return None
    first, second = (re.escape(key) for key in found.groups())
    return re.compile(_HEAD_FORM % (first, _SCALAR, second))


def slim(entry: dict[str, Any], left_out: frozenset[str], kept: frozenset[str]) -> dict[str, Any]:
    """Return an object without what is empty and what is never read; ``kept`` may be empty."""
    return {
        key: value
        for key, value in entry.items()
        if key in kept or (value not in (None, "", [], {}) and key not in left_out)
    }


class _Splitter:
    """Finds where the entries of a JSON text begin and end, in a buffer that grows."""

    def __init__(self) -> None:
        self.count = 0
        """Entries taken, broken ones too."""
        self.depth = 0
        self.flaw = ""
        """Why what was taken last is no whole entry, where that is known."""
        self.head: re.Pattern[bytes] | None = None
        """How an entry begins; no string of JSON can hold it unescaped."""
        self._buffer = bytearray()
        self._place = 0  # up to here the buffer has been looked at
        self._quote = -1  # where an open string with escapes begins
        self._start = -1  # where the open entry begins
        self._base = -1  # the depth of entries; -1 before the first
        self._searched = _SUSPICIOUS
        self._skips = False  # whether the open entry is too long to be kept

    def add(self, chunk: bytes) -> None:
        self._buffer += chunk

    def take(self, *, is_end: bool) -> str | None:
        """Return the next entry, or what stands in its place; ``None`` where more is needed."""
        self.flaw = ""
        while (place := self._next_mark()) >= 0:
            step = self._open if self._buffer[place] in _OPEN else self._close
            if (text := step(place)) is not None:
                return text
        return self._unfinished(is_end=is_end)

    def resume(self, text: str) -> str:
        """Go on behind a broken entry: at the next one inside it. Return what is wrong with it."""
        data = text.encode("utf-8", "replace")
        found = self.head.search(data, 1) if self.head else None
        if found is None:
            return self.flaw
        self._buffer[:0] = data[found.start() :]
        self._place, self._quote, self._start, self.depth = 0, -1, -1, max(self._base, 0)
        self.flaw = ""
        return ""

    def _next_mark(self) -> int:
        """Return the place of the next bracket outside strings, and go past it; -1 without one."""
        while True:
            if self._quote >= 0:
                end = self._string_end()
                if end < 0:
                    self._place = len(self._buffer)
                    return -1
                self._quote, self._place = -1, end
            mark = _MARK.search(self._buffer, self._place)
            if mark is None:
                self._place = len(self._buffer)
                return -1
            start, self._place = mark.span()
            if self._buffer[start] != _QUOTE:
                return start
            if self._place - start == 1:
                self._quote = start

    def _string_end(self) -> int:
        place = self._place
        while (end := self._buffer.find(b'"', place)) >= 0:
            before = end - 1
            while before > self._quote and self._buffer[before] == _BACKSLASH:
                before -= 1
            if (end - before) % 2:
                return end + 1
            place = end + 1
        return -1

    def _open(self, place: int) -> str | None:
        """Go one level down; return what stands before an entry and is none."""
        if self.depth == 0 and (inside := self._enter(place)):
            del self._buffer[:inside]
            self._place = 0
            return None
        if self.depth == self._base and self._start < 0 and not self._skips:
            if self._buffer[:place].strip(_BETWEEN):
                return self._cut(0, place)
            self._start = place
        self.depth += 1
        return None

    def _enter(self, place: int) -> int:
        """Return where the list that begins here begins to have entries; 0 for an entry."""
        wrapped = _WRAPPED.match(self._buffer, place)
        is_list = wrapped is not None or self._buffer[place] == _OPEN[0]
        self._base = self.depth = 2 if wrapped else int(is_list)
        return wrapped.end() if wrapped else (place + 1) * is_list

    def _close(self, place: int) -> str | None:
        """Go one level up; return the entry that ends there, or what is none and ends a list."""
        if self.depth == self._base and self._start < 0 and self._buffer[:place].strip(_BETWEEN):
            return self._cut(0, place)
        self.depth = max(self.depth - 1, 0)
        if self.depth == self._base:
            if self._start >= 0:
                return self._cut(self._start, self._place)
            self._skips = False
        if self.depth <= self._base or not self.depth:
            del self._buffer[: self._place]
            self._place = 0
        if self.depth < self._base:
            self._base = _NONE if self.depth else -1
        return None

    def _cut(self, start: int, end: int) -> str:
        """Take an entry out of the buffer."""
        with memoryview(self._buffer) as view, view[start:end] as part:
            text = str(part, "utf-8", "replace")
        del self._buffer[:end]
        self._place, self._quote, self._start, self._searched = 0, -1, -1, _SUSPICIOUS
        self.count += 1
        return text.strip(" \t\r\n,")

    def _unfinished(self, *, is_end: bool) -> str | None:
        """Return an entry that is not whole, has swallowed others, or is too long."""
        length = len(self._buffer) - max(self._start, 0)
        if self._skips:
            self._forget()
        elif is_end and (self._start >= 0 or self._buffer.strip(_BETWEEN)):
            self.flaw = "the file ends in the middle of this entry" * (self.depth > 0)
            self.depth = 0
            return self._cut(max(self._start, 0), len(self._buffer))
        elif self._start < 0 and not self._buffer.strip(_BETWEEN):
            self._buffer.clear()
            self._place = 0
        elif length > self._searched:
            return self._too_long(length)
        return None

    def _too_long(self, length: int) -> str | None:
        self._searched = 2 * length
        found = self.head.search(self._buffer, self._start + 1) if self.head else None
        if found or self._start < 0:
            text = self._cut(max(self._start, 0), found.start() if found else len(self._buffer))
            self.depth = max(self._base, 0)
            return text
        if length <= _LIMIT_ENTRY:
            return None
        self.flaw = f"is longer than {_LIMIT_ENTRY >> 20} MB"
        self._start, self._skips = -1, True
        self.count += 1
        self._forget()
        return ""

    def _forget(self) -> None:
        """Keep only the end of what is passed over: backslashes before a quotation mark count."""
        done = max(len(self._buffer) - _KEPT, 0)
        del self._buffer[:done]
        self._place -= done
        self._quote = max(self._quote - done, 0) if self._quote >= 0 else -1

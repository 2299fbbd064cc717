"""Run one command in this process as if the client had: its folder, its terminal, its streams."""

from __future__ import annotations

import codecs
import io
import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from memory_palace.cli.app import report_errors
from memory_palace.cli.commands import run
from memory_palace.server.request import Refused, Request, find_verb
from memory_palace.server.resident import MOST_REPLY_BYTES, pick_shown

_Decoder = codecs.getincrementaldecoder("utf-8")
_OUT, _ERR = 1, 2
_BLOCK = 4096
"""What a pipe or a file takes at once; stdout and stderr in one pipe meet at its borders."""


def answer(request: Request) -> dict[str, Any]:
    """Run the command of a request; return its output and exit status, or why it is not run."""
    try:
        if find_verb(request.args) is None:
            raise Refused("verb")
        with _folder_of(request), _environment_of(request), warnings.catch_warnings():
            written = _Written()
            with _streams(request, written):
                status = report_errors(run, list(request.args))
        if written.size > MOST_REPLY_BYTES:
            raise Refused("size")
    except Refused as refused:
        return {"refused": str(refused)}
    return {"status": status, "parts": written.parts()}


class _Written:
    """What a command has written to both streams, in order."""

    def __init__(self) -> None:
        self.size = 0
        self._pieces: list[tuple[int, bytes]] = []

    def add(self, stream: int, data: bytes) -> None:
        """Keep a piece; what is beyond the largest reply only counts."""
        self.size += len(data)
        if self.size <= MOST_REPLY_BYTES:
            self._pieces.append((stream, data))

    def parts(self) -> list[tuple[int, str]]:
        """Return the pieces as text, joined where no other stream comes between."""
        decoders = {stream: _Decoder("replace") for stream in (_OUT, _ERR)}
        joined: list[tuple[int, list[str]]] = []
        for stream, data in self._pieces:
            if not joined or joined[-1][0] != stream:
                joined.append((stream, []))
            joined[-1][1].append(decoders[stream].decode(data))
        return [(stream, "".join(texts)) for stream, texts in joined]


class _Stream(io.RawIOBase):
    """One output of a command."""

    def __init__(self, written: _Written, number: int, *, is_terminal: bool) -> None:
        self._written, self._number, self._is_terminal = written, number, is_terminal

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, data: Any) -> int:
        self._written.add(self._number, bytes(data))
        return len(data)


class _Input(io.RawIOBase):
    """The input of a command, as far as the client has read it."""

    def __init__(self, text: str | None, *, is_terminal: bool) -> None:
        self._is_terminal = is_terminal
        self._data = None if text is None else io.BytesIO(text.encode("utf-8", "replace"))

    def readable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._is_terminal

    def readinto(self, buffer: Any) -> int:
        if self._data is None:
            raise Refused("stdin")
        return self._data.readinto(buffer)


@contextmanager
def _streams(request: Request, written: _Written) -> Iterator[None]:
    """Give the command streams that answer as the client's do, and take them back."""
    of_input, of_output, of_errors = request.terminals
    raw = _Input(request.stdin, is_terminal=of_input)
    out = _open(_Stream(written, _OUT, is_terminal=of_output), is_by_line=of_output)
    err = _open(_Stream(written, _ERR, is_terminal=of_errors), is_by_line=True)
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8", errors="replace")
    sys.stdout, sys.stderr = out, err
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        out.flush()
        err.flush()


def _open(raw: _Stream, *, is_by_line: bool) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw, _BLOCK),
        encoding="utf-8",
        errors="replace",
        newline="\n",
        line_buffering=is_by_line,
    )


@contextmanager
def _folder_of(request: Request) -> Iterator[None]:
    """Stand in the client's folder; ``Refused`` where that cannot be."""
    try:
        os.chdir(request.cwd)
    except OSError:
        raise Refused("folder") from None
    try:
        yield
    finally:
        os.chdir("/")


@contextmanager
def _environment_of(request: Request) -> Iterator[None]:
    """Set the variables that say how an answer looks, and put the server's own back."""
    shown = {**request.shown, **_size_of(request)}
    before = pick_shown(os.environ)
    _exchange(before, shown)
    try:
        yield
    finally:
        _exchange(pick_shown(os.environ), before)


def _size_of(request: Request) -> dict[str, str]:
    """Return the size of the client's terminal, unless a variable says another one."""
    given = request.shown.get("COLUMNS", "")
    is_given = given.isdecimal() and int(given) > 0
    return {} if is_given else {"COLUMNS": str(request.width or 80)}


def _exchange(old: Mapping[str, str], new: Mapping[str, str]) -> None:
    for name in old.keys() - new.keys():
        del os.environ[name]
    os.environ.update(new)
    if old.get("TZ") != new.get("TZ"):
        time.tzset()

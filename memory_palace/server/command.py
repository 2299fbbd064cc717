"""A command line that a client asks for: checked, and run as if the client had.

Its folder, its terminal and its streams are the client's; all of them belong to the process, so
that one command runs at a time.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeGuard

from memory_palace.places import read_place
from memory_palace.server.client import MOST_REPLY_BYTES, pick_fixed, pick_shown

_MOST_COLUMNS = 10_000
_STREAMS = ("in", "out", "err")
_Decoder = codecs.getincrementaldecoder("utf-8")
_OUT, _ERR = 1, 2
_BLOCK = 4096
"""What a pipe or a file takes at once; stdout and stderr in one pipe meet at its borders."""


class Refused(BaseException):
    """The client has to run the command itself. No command may catch it, so it is no Exception."""


@dataclass(frozen=True, slots=True)
class Request:
    """One command line, and the terminal it was typed in."""

    args: tuple[str, ...]
    cwd: str
    shown: Mapping[str, str]
    """The variables that say how an answer looks."""
    fixed: Mapping[str, str]
    """The variables that say where models and settings are."""
    stdin: str | None
    """``None`` where the client has not read its standard input."""
    width: int | None
    """Columns of the terminal that stdout is."""
    terminals: tuple[bool, bool, bool]
    """Whether stdin, stdout and stderr are terminals."""


def parse_request(message: Mapping[str, Any]) -> Request:
    """Return the request of a message; raise ``ValueError`` where no client of ours sends it."""
    get: Callable[[str], Any] = message.get
    args, cwd, width = get("args"), get("cwd"), get("width")
    environ, stdin, tty = get("env"), get("stdin"), get("tty")
    is_sound = {
        "args": isinstance(args, list) and all(map(_is_argument, args)),
        "cwd": _is_argument(cwd) and cwd.startswith("/"),
        "env": isinstance(environ, dict)
        and all(_is_argument(one) for pair in environ.items() for one in pair)
        and all(name and "=" not in name for name in environ),
        "stdin": stdin is None or isinstance(stdin, str),
        "width": width is None or (type(width) is int and 0 < width <= _MOST_COLUMNS),
        "tty": isinstance(tty, dict) and all(type(tty.get(name)) is bool for name in _STREAMS),
    }
    if wrong := [name for name, is_fine in is_sound.items() if not is_fine]:
        raise ValueError(f"no client sends such {' and '.join(wrong)}")
    terminals = (tty["in"], tty["out"], tty["err"])
    shown, fixed = pick_shown(environ), pick_fixed(environ)
    return Request(tuple(args), cwd, shown, fixed, stdin, width, terminals)


def _is_argument(value: Any) -> TypeGuard[str]:
    """Whether a value can be an argument of a process: text that the system can encode."""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def answer(request: Request, run: Callable[[list[str]], int]) -> dict[str, Any]:
    """Run the command of a request; return its output and exit status, or why it is not run."""
    written: list[tuple[int, bytes]] = []
    try:
        if read_place(request.args) is None:
            raise Refused("verb")
        with _standing_in(request, written), warnings.catch_warnings():
            status = run(list(request.args))
        if sum(len(data) for _, data in written) > MOST_REPLY_BYTES:
            raise Refused("size")
    except Refused as refused:
        return {"refused": str(refused)}
    return {"status": status, "parts": _join(written)}


def _join(written: Sequence[tuple[int, bytes]]) -> list[tuple[int, str]]:
    """Return pieces of output as text, joined where no other stream comes between."""
    decoders = {stream: _Decoder("replace") for stream in (_OUT, _ERR)}
    joined: list[tuple[int, list[str]]] = []
    for stream, data in written:
        if not joined or joined[-1][0] != stream:
            joined.append((stream, []))
        joined[-1][1].append(decoders[stream].decode(data))
    return [(stream, "".join(texts)) for stream, texts in joined]


@contextmanager
def _standing_in(request: Request, written: list[tuple[int, bytes]]) -> Iterator[None]:
    """Give the command the folder, the variables and the streams of its client.

    The size of the terminal is a variable too, unless one says another size. Raise ``Refused``
    where the folder cannot be entered.
    """
    of_input, of_output, of_errors = request.terminals
    shown, given = dict(request.shown), request.shown.get("COLUMNS", "")
    if not (given.isdecimal() and int(given) > 0):
        shown["COLUMNS"] = str(request.width or 80)
    out = _open(_Output(written, _OUT, is_terminal=of_output), is_by_line=of_output)
    err = _open(_Output(written, _ERR, is_terminal=of_errors), is_by_line=True)
    raw = io.BufferedReader(_Input(request.stdin, is_terminal=of_input))
    before, streams = pick_shown(os.environ), (sys.stdin, sys.stdout, sys.stderr)
    try:
        os.chdir(request.cwd)
    except OSError:
        raise Refused("folder") from None
    try:
        _exchange(before, shown)
        sys.stdin = io.TextIOWrapper(raw, encoding="utf-8", errors="replace")
        sys.stdout, sys.stderr = out, err
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        out.flush()
        err.flush()
        _exchange(pick_shown(os.environ), before)
        os.chdir("/")


class _Output(io.RawIOBase):
    """One output of a command; the pieces of both are kept in order."""

    def __init__(self, written: list[tuple[int, bytes]], number: int, *, is_terminal: bool) -> None:
        self._written, self._number, self._is_terminal = written, number, is_terminal

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, data: Any) -> int:
        self._written.append((self._number, bytes(data)))
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


def _open(raw: _Output, *, is_by_line: bool) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw, _BLOCK),
        encoding="utf-8",
        errors="replace",
        newline="\n",
        line_buffering=is_by_line,
    )


def _exchange(old: Mapping[str, str], new: Mapping[str, str]) -> None:
    for name in old.keys() - new.keys():
        del os.environ[name]
    os.environ.update(new)
    if old.get("TZ") != new.get("TZ"):
        time.tzset()

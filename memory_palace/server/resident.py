"""The resident server of a palace: one thread per connection, one for the notes, one that answers.

A command runs with the working folder, terminal and streams of its client. These are global to the
process, so that one command runs at a time.
"""

from __future__ import annotations

import codecs
import gc
import io
import os
import signal
import socket
import struct
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeGuard

from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError
from memory_palace.palace import Palace
from memory_palace.places import SERVED, read_place, socket_path
from memory_palace.server.client import (
    MOST_REPLY_BYTES,
    MOST_REQUEST_BYTES,
    VERSION,
    decode,
    encode,
    pick_fixed,
    pick_shown,
)
from memory_palace.server.listening import Listener
from memory_palace.server.refreshing import KnownFreshness, keep_fresh
from memory_palace.server.starting import claim_socket, mark_of
from memory_palace.storage import make_room
from memory_palace.table import load, place_of

_MOST_COLUMNS = 10_000
_STREAMS = ("in", "out", "err")
_Decoder = codecs.getincrementaldecoder("utf-8")
_OUT, _ERR = 1, 2
_BLOCK = 4096
"""Buffer size of a stream; stdout and stderr of one pipe interleave at its boundaries."""


class Refused(BaseException):
    """The client must run the command itself; no ``Exception``, so that no command catches it."""


@dataclass(frozen=True, slots=True)
class Request:
    """A command line with its client's environment and terminal."""

    args: tuple[str, ...]
    cwd: str
    shown: Mapping[str, str]
    """Environment variables that determine the look of an answer."""
    fixed: Mapping[str, str]
    """Environment variables that locate models and settings."""
    stdin: str | None
    """``None`` if the client has not read its standard input."""
    width: int | None
    """Columns of the terminal that stdout is."""
    terminals: tuple[bool, bool, bool]
    """Whether stdin, stdout and stderr are terminals."""


def parse_request(message: Mapping[str, Any]) -> Request:
    """Parse a message into a request; raise ``ValueError`` for an invalid one."""
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
    """Run the command of a request; return output and exit status, or the reason for a refusal."""
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
    """Decode pieces of output; successive ones of the same stream are joined."""
    decoders = {stream: _Decoder("replace") for stream in (_OUT, _ERR)}
    joined: list[tuple[int, list[str]]] = []
    for stream, data in written:
        if not joined or joined[-1][0] != stream:
            joined.append((stream, []))
        joined[-1][1].append(decoders[stream].decode(data))
    return [(stream, "".join(texts)) for stream, texts in joined]


@contextmanager
def _standing_in(request: Request, written: list[tuple[int, bytes]]) -> Iterator[None]:
    """Set the working folder, environment and streams of the client while its command runs.

    ``COLUMNS`` is the width of its terminal, unless the client has set it. Raise ``Refused`` if the
    folder cannot be entered.
    """
    of_input, of_output, of_errors = request.terminals
    shown, given = dict(request.shown), request.shown.get("COLUMNS", "")
    if not (given.isdecimal() and int(given) > 0):
        shown["COLUMNS"] = str(request.width or 80)
    out = _open_stream(_Output(written, _OUT, is_terminal=of_output), is_by_line=of_output)
    err = _open_stream(_Output(written, _ERR, is_terminal=of_errors), is_by_line=True)
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
    """Standard output or error of a command; pieces of both are recorded in order."""

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
    """Standard input of a command; reading raises ``Refused`` if the client has not read it."""

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


def _open_stream(raw: _Output, *, is_by_line: bool) -> io.TextIOWrapper:
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


Lend = Callable[[Palace], None]
"""Shares the open index and models of the server with a palace that a command opens."""
Run = Callable[[list[str], Lend], int]
"""Runs a command line, passing the palace that it opens to ``Lend``; returns the exit status."""
_LOOK_SECONDS = 2.0
"""Interval of the checks that the palace and the socket still exist."""
_TURN_SECONDS = 1.0
_SENDING_SECONDS = 0.05
_LISTEN_SECONDS = 60.0
"""Poll interval of the listener, which ends only with the process."""
_ENDING_SECONDS = 5.0
"""Maximum wait for pending answers when the server ends."""
_MOST_LOG_BYTES = 1 << 18
_ALLOCATED = 50_000
"""Garbage collection threshold; objects loaded at the start are frozen."""
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def serve(paths: PalacePaths, run: Run, *, idle_seconds: float, watches: bool) -> str:
    """Answer commands about a palace until stopped; return the reason for the end.

    Raise ``ServedError`` if another process serves the palace.
    """
    root = os.path.realpath(paths.root)
    with claim_socket(root, os.environ) as listening:
        server = _Resident(listening, paths, root, run)
        server.note(f"process {os.getpid()} serves {root}")
        why = server.serve(idle_seconds=idle_seconds, watches=watches)
        server.note(f"process {os.getpid()} ends: {why}; {server.answered} answers")
    return why


class _Resident(Listener):
    """The server of one root: its open palace and its socket."""

    def __init__(self, listening: socket.socket, paths: PalacePaths, root: str, run: Run) -> None:
        """``root`` is absolute, with symbolic links resolved."""
        super().__init__(listening)
        self._paths, self._root, self._run = paths, root, run
        self._since, self._fixed = time.time(), pick_fixed(os.environ)
        places = (root, str(paths.own.resolve()), socket_path(root, os.environ))
        self._marks = {place: mark_of(place) for place in places}
        self._last: Palace | None = None
        self._freshness = KnownFreshness()
        self._asked: SimpleQueue[tuple[Request, SimpleQueue[dict[str, Any]]] | None] = SimpleQueue()
        self._owed: set[socket.socket] = set()
        """Connections whose answer is not sent yet."""
        self._ends: str | None = None
        self.answered = self._collected = 0

    def serve(self, *, idle_seconds: float, watches: bool) -> str:
        """Answer requests until the server ends; return the reason."""
        os.chdir("/")  # a working folder could not be removed
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._end("a signal"))
        self._warm_up()
        gc.freeze()
        gc.set_threshold(_ALLOCATED)
        self.server_activate()
        threading.Thread(target=self._listen, name="listener", daemon=True).start()
        stop = threading.Event()
        watch = partial(keep_fresh, self._paths, stop=stop, note=self.note)
        watcher = threading.Thread(target=watch, name="watcher")
        if watches:
            watcher.start()
        try:
            return self._answer_until_the_end(idle_seconds)
        finally:
            stop.set()
            if watches:
                watcher.join()

    def note(self, text: str) -> None:
        """Append a line to the log, which is rotated. Questions are never logged."""
        file = self._paths.server_log
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode("utf-8", "replace")
        with suppress(OSError):  # a full disk is no reason to stop answering
            make_room(file, _MOST_LOG_BYTES)
            if file.parent.is_dir():
                with file.open("ab") as log:
                    log.write(line)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether the client belongs to this user and the limit of connections is not reached."""
        return is_own(request) and super().verify_request(request, client_address)

    def handle(self, connection: socket.socket) -> None:
        """Answer the requests of one client in order."""
        while self._ends is None:
            line = self.receive(connection, b"\n", MOST_REQUEST_BYTES)
            if b"\n" not in line and len(line) <= MOST_REQUEST_BYTES:
                return  # the client is gone
            try:
                if len(line) > MOST_REQUEST_BYTES:
                    raise ValueError("a request is shorter")
                if b"\n" in line[:-1]:
                    raise ValueError("a request waits for the reply to the one before")
                self._take(connection, decode(line))
            except (ValueError, RecursionError) as error:
                why = str(error)[:200]
                self._reply(connection, {"refused": "malformed", "why": why})
                return

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log a defect, since standard error may be the stream of a command."""
        self.note(traceback.format_exc())

    def _take(self, connection: socket.socket, message: dict[str, Any]) -> None:
        """Reply to a message; a command is run by the main thread."""
        if message.get("do") == "status":
            import resource  # delayed: of POSIX alone

            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_UNIT
            own = {"pid": os.getpid(), "since": self._since, "root": self._root}
            own |= {"answered": self.answered, "peak_memory_bytes": peak}
            self._reply(connection, own)
        elif message.get("do") == "stop":
            self._reply(connection, {"stopping": True})
            self._end("stopped")
        elif message.get("v") != VERSION:
            self._reply(connection, {"refused": "restart"})
            self._end("asked by another version")
        else:
            request, answered = parse_request(message), SimpleQueue[dict[str, Any]]()
            self._owed.add(connection)
            try:
                self._asked.put((request, answered))
                self._reply(connection, answered.get())
            finally:
                self._owed.discard(connection)

    def _reply(self, connection: socket.socket, record: dict[str, Any]) -> None:
        self.send(connection, encode({"v": VERSION, **record}))

    def _listen(self) -> None:
        try:
            self.serve_forever(_LISTEN_SECONDS)
        except Exception:  # the process must not continue without a listener
            self.note(traceback.format_exc())
        finally:
            self._end("a defect")

    def _end(self, why: str) -> None:
        """End the server after the pending answers; callable from any thread or signal handler."""
        if self._ends is None:
            self._ends = why
            self._asked.put(None)

    def _answer_until_the_end(self, idle_seconds: float) -> str:
        looked = self.last_used = time.monotonic()
        while self._ends is None:
            self._answer_next(_TURN_SECONDS)
            now = time.monotonic()
            if now - looked >= _LOOK_SECONDS:
                looked = now
                for path in (path for path, mark in self._marks.items() if mark_of(path) != mark):
                    self._end(f"{path} is gone")
            if not self.open and now - self.last_used >= idle_seconds:
                self._end("idle")
        deadline = time.monotonic() + _ENDING_SECONDS
        while self._owed and time.monotonic() < deadline:
            self._answer_next(_SENDING_SECONDS)
        return self._ends

    def _answer_next(self, seconds: float) -> None:
        """Answer the next request, if one comes in time; else let go of replaced generations."""
        try:
            asked = self._asked.get(timeout=seconds)
        except Empty:
            if self._collected != self.answered:
                self._collected = self.answered
                gc.collect()
            return
        if asked:
            request, answered = asked
            found = self._answer(request)
            self.answered += 1
            answered.put(found)

    def _answer(self, request: Request) -> dict[str, Any]:
        if request.fixed != self._fixed:
            return {"refused": "environment"}
        try:
            return answer(request, lambda line: self._run(line, self._lend))
        except Exception:  # a defect: the client runs the command and shows it
            self.note(traceback.format_exc())
            return {"refused": "failed"}

    def _lend(self, palace: Palace) -> None:
        """Share the previous palace's open index and models with a newly opened one.

        Raise ``Refused`` for a palace of another root.
        """
        if os.path.realpath(palace.paths.root) != self._root:
            raise Refused("palace")
        if self._last is not None:
            palace.adopt(self._last)
        palace.check_freshness = self._freshness.check
        self._last = palace

    def _warm_up(self) -> None:
        """Preload verbs, index and embedder; a later command reports failures."""
        for verb in SERVED:
            load(place_of(verb))
        with suppress(PalaceError, OSError):
            palace = Palace(self._root)
            palace.query("warm")
            self._last = palace


def is_own(connection: socket.socket) -> bool:
    """Whether the peer process belongs to this user; true if the system cannot tell."""
    if sys.platform == "linux":
        size = struct.calcsize("3i")
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        return bool(struct.unpack("3i", found)[1] == os.getuid())
    if sys.platform == "darwin":  # struct xucred begins with a version and the user
        return bool(struct.unpack_from("2I", connection.getsockopt(0, 1, 76))[1] == os.getuid())
    return True  # the socket's folder is private to the user

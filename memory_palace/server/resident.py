"""The resident server of a palace: threads listen, a thread watches the notes, this one answers."""

from __future__ import annotations

import gc
import os
import resource
import signal
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError
from memory_palace.palace import Palace
from memory_palace.places import SERVED, socket_path
from memory_palace.server.client import MOST_REQUEST_BYTES, VERSION, decode, encode, pick_fixed
from memory_palace.server.command import Refused, Request, answer, parse_request
from memory_palace.server.listening import Listener
from memory_palace.server.refreshing import KnownFreshness, keep_fresh
from memory_palace.server.starting import claim_socket, mark_of
from memory_palace.storage import make_room
from memory_palace.table import load, place_of

Lend = Callable[[Palace], None]
"""Gives a palace that a command opens what the server has open."""
Run = Callable[[list[str], Lend], int]
"""Runs a command line that lends to the palace it opens; returns the exit status."""
_LOOK_SECONDS = 2.0
"""How often it is asked whether there is still something to serve."""
_TURN_SECONDS = 1.0
_SENDING_SECONDS = 0.05
_LISTEN_SECONDS = 60.0
"""The listener is never asked to end: it ends with the process."""
_ENDING_SECONDS = 5.0
"""How long an end waits for the answers that are owed."""
_MOST_LOG_BYTES = 1 << 18
_ALLOCATED = 50_000
"""New objects between two looks for cycles; what is loaded at the start is never looked at."""
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def serve(paths: PalacePaths, run: Run, *, idle_seconds: float, watches: bool) -> str:
    """Answer commands about a palace until it is told to end; return why it ended.

    Raise ``ServedError`` where another process serves the palace.
    """
    root = os.path.realpath(paths.root)
    with claim_socket(root, os.environ) as listening:
        server = _Resident(listening, paths, root, run)
        server.note(f"process {os.getpid()} serves {root}")
        why = server.serve(idle_seconds=idle_seconds, watches=watches)
        server.note(f"process {os.getpid()} ends: {why}; {server.answered} answers")
    return why


class _Resident(Listener):
    """The palace of one root, kept open, and the socket on which it is asked."""

    def __init__(self, listening: socket.socket, paths: PalacePaths, root: str, run: Run) -> None:
        """``root`` is absolute, with its links resolved."""
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
        self.answered = 0

    def serve(self, *, idle_seconds: float, watches: bool) -> str:
        """Answer until the end; return why it came."""
        os.chdir("/")  # no folder is kept from being removed
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
        """Add a line to the log, which stays small. Questions are never in it."""
        file = self._paths.server_log
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode("utf-8", "replace")
        try:
            make_room(file, _MOST_LOG_BYTES)
            if file.parent.is_dir():
                with file.open("ab") as log:
                    log.write(line)
        except OSError:
            return  # a full disk is no reason to stop answering

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether the client is of this user, and there is room for it."""
        return is_own(request) and super().verify_request(request, client_address)

    def handle(self, connection: socket.socket) -> None:
        """Serve a client: it asks, waits and reads, and may ask again."""
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
        """Note a defect: standard error may be the stream of a command."""
        self.note(traceback.format_exc())

    def _take(self, connection: socket.socket, message: dict[str, Any]) -> None:
        """Reply to a message, from the thread that answers where a command has to be run."""
        if message.get("do") == "status":
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
        except Exception:  # whatever it is, the process must not stay without a listener
            self.note(traceback.format_exc())
        finally:
            self._end("a defect")

    def _end(self, why: str) -> None:
        """End after the answers that are owed; may be called from anywhere."""
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
                if why := self._find_reason_to_end():
                    self._end(why)
            if not self.open and now - self.last_used >= idle_seconds:
                self._end("idle")
        deadline = time.monotonic() + _ENDING_SECONDS
        while self._owed and time.monotonic() < deadline:
            self._answer_next(_SENDING_SECONDS)
        return self._ends

    def _answer_next(self, seconds: float) -> None:
        """Answer the next request, if one comes in time."""
        with suppress(Empty):
            if asked := self._asked.get(timeout=seconds):
                request, answered = asked
                found = self._answer(request)
                self.answered += 1
                answered.put(found)

    def _answer(self, request: Request) -> dict[str, Any]:
        if request.fixed != self._fixed:
            return {"refused": "environment"}
        try:
            return answer(request, lambda line: self._run(line, self._lend))
        except Exception:  # a defect of the command: it is shown where it runs alone
            self.note(traceback.format_exc())
            return {"refused": "failed"}

    def _lend(self, palace: Palace) -> None:
        """Give a palace that was just opened what the one before it has open.

        Raise ``Refused`` where it is another palace.
        """
        if os.path.realpath(palace.paths.root) != self._root:
            raise Refused("palace")
        if self._last is not None:
            palace.adopt(self._last)
        palace.check_freshness = self._freshness.check
        self._last = palace

    def _warm_up(self) -> None:
        """Import, open and embed what a question needs; what is wrong, a command will say."""
        for verb in SERVED:
            load(place_of(verb))
        with suppress(PalaceError, OSError):
            palace = Palace(self._root)
            palace.query("warm")
            self._last = palace

    def _find_reason_to_end(self) -> str | None:
        """Return a place that is gone or another than at first."""
        for path, mark in self._marks.items():
            if mark_of(path) != mark:
                return f"{path} is gone"
        return None


def is_own(connection: socket.socket) -> bool:
    """Whether the process at the other end is of this user, where the system tells."""
    if sys.platform == "linux":
        size = struct.calcsize("3i")
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        return bool(struct.unpack("3i", found)[1] == os.getuid())
    if sys.platform == "darwin":  # struct xucred begins with a version and the user
        return bool(struct.unpack_from("2I", connection.getsockopt(0, 1, 76))[1] == os.getuid())
    return True  # the folder of the socket lets nobody else in

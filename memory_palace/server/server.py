"""One resident process: a thread listens, a thread watches the notes, this one answers."""

from __future__ import annotations

import gc
import os
import resource
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from typer import Context

from memory_palace.cli import options
from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError
from memory_palace.palace import Palace
from memory_palace.places import SERVED, socket_path
from memory_palace.server.claiming import claim_socket, mark_of
from memory_palace.server.command import answer
from memory_palace.server.listening import Asked, Switchboard
from memory_palace.server.refreshing import keep_fresh
from memory_palace.server.request import Refused, Request
from memory_palace.server.resident import pick_fixed
from memory_palace.server.unchanged import KnownFreshness
from memory_palace.storage.logs import make_room
from memory_palace.table import load, place_of


class Lender:
    """Holds the index and the models of one palace."""

    def __init__(self, root: str) -> None:
        """``root`` is absolute, with its links resolved."""
        self._root = root
        self._last: Palace | None = None
        self._freshness = KnownFreshness()

    def lend(self, ctx: Context, palace: Palace) -> None:
        """Give a palace that was just opened what the one before it has open.

        Raise ``Refused`` where it is another palace.
        """
        if os.path.realpath(palace.paths.root) != self._root:
            raise Refused("palace")
        if self._last is not None:
            palace.adopt(self._last)
        palace.check_freshness = self._freshness.check
        self._last = palace

    def warm_up(self) -> None:
        """Import, open and embed what a question needs; what is wrong, a command will say."""
        for verb in SERVED:
            load(place_of(verb))
        try:
            palace = Palace(self._root)
            palace.query("warm")
        except (PalaceError, OSError):
            return
        self._last = palace


_MOST_LOG_BYTES = 1 << 18
_ALLOCATED = 50_000
"""New objects between two looks for cycles; what is loaded at the start is never looked at."""


def serve(paths: PalacePaths, *, idle_seconds: float, watches: bool) -> str:
    """Answer commands about a palace until it is told to end; return why it ended.

    Raise ``ServedError`` where another process serves the palace.
    """
    root = os.path.realpath(paths.root)
    note = partial(_note, paths.server_log)
    with claim_socket(root, os.environ) as listening:
        server = _Server(paths, root, listening, note, idle_seconds=idle_seconds)
        note(f"process {os.getpid()} serves {root}")
        why = server.run(watches=watches)
        note(f"process {os.getpid()} ends: {why}; {server.listener.answered} answers")
    return why


class _Server:
    def __init__(
        self,
        paths: PalacePaths,
        root: str,
        listening: socket.socket,
        note: Callable[[str], None],
        *,
        idle_seconds: float,
    ) -> None:
        self._paths, self._root, self._note = paths, root, note
        self._since = time.time()
        self._fixed = pick_fixed(os.environ)
        self._requests: SimpleQueue[Asked | None] = SimpleQueue()
        places = (root, str(paths.own.resolve()), socket_path(root, os.environ))
        self._marks = {place: mark_of(place) for place in places}
        self._code: dict[str, int] = {}
        self.listener = Switchboard(
            listening,
            self._requests,
            describe=self._describe,
            look=self._find_reason_to_end,
            idle_seconds=idle_seconds,
        )

    def run(self, *, watches: bool) -> str:
        """Answer until the end; no thread is left."""
        lender, stop = Lender(self._root), threading.Event()
        options.lend = lender.lend
        os.chdir("/")  # no folder is kept from being removed
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.listener.end_if("a signal"))
        lender.warm_up()
        gc.freeze()
        gc.set_threshold(_ALLOCATED)
        threads = [threading.Thread(target=self._listen, name="listener")]
        if watches:
            watch = partial(keep_fresh, self._paths, stop=stop, note=self._note)
            threads.append(threading.Thread(target=watch, name="watcher"))
        for thread in threads:
            thread.start()
        try:
            while (asked := self._requests.get()) is not None:
                self.listener.reply(asked.client, self._answer(asked.request))
        finally:
            stop.set()
            self.listener.end_if("a defect")
            for thread in threads:
                thread.join()
            options.lend = None
        return self.listener.ends or ""

    def _listen(self) -> None:
        try:
            self.listener.run()
        except Exception:  # whatever it is, the process must not stay without a listener
            self._note(traceback.format_exc())

    def _answer(self, request: Request) -> dict[str, Any]:
        if request.fixed != self._fixed:
            return {"refused": "environment"}
        try:
            return answer(request)
        except Exception:  # a defect of the command: it is shown where it runs alone
            self._note(traceback.format_exc())
            return {"refused": "failed"}

    def _describe(self) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "since": self._since,
            "root": self._root,
            "answered": self.listener.answered,
            "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_UNIT,
        }

    def _find_reason_to_end(self) -> str | None:
        for path, mark in self._marks.items():
            if mark_of(path) != mark:
                return f"{path} is gone"
        return f"{changed} has changed" if (changed := self._find_changed_code()) else None

    def _find_changed_code(self) -> str | None:
        """Return a file of the package that is not as it was when it was first looked at."""
        for name, module in list(sys.modules.items()):
            is_ours = name.partition(".")[0] == "memory_palace"
            file: str | None = getattr(module, "__file__", None) if is_ours else None
            if file and self._code.setdefault(file, mark := _modified(file)) != mark:
                return file
        return None


def _modified(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns  # noqa: PTH116
    except OSError:
        return 0


_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def _note(file: Path, text: str) -> None:
    """Add a line to the log, which stays small. Questions are never in it."""
    line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode("utf-8", "replace")
    try:
        make_room(file, _MOST_LOG_BYTES)
        if file.parent.is_dir():
            with file.open("ab") as log:
                log.write(line)
    except OSError:
        return  # a full disk is no reason to stop answering

"""``palace view --live``: one process shows the palace until somebody ends it."""

from __future__ import annotations

import os
import signal
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from secrets import token_urlsafe
from types import FrameType

from memory_palace.errors import UsageError
from memory_palace.features.view.live_pages import ENDPOINTS, Pages
from memory_palace.features.view.values import ViewOptions
from memory_palace.index.commit import read_commit
from memory_palace.palace import Palace
from memory_palace.places import Server, read_registered, socket_path
from memory_palace.server.loopback import Door
from memory_palace.server.refreshing import keep_fresh
from memory_palace.shown import say

_LOOK_SECONDS = 1.0
"""Where a wait without end cannot be interrupted."""
_END_SECONDS = 0.5
_TOKEN_BYTES = 24


def serve_page(palace: Palace, options: ViewOptions, *, port: int, opens: bool) -> None:
    """Show the palace on a port of this machine, 0 for any, until it is interrupted.

    Raise ``UsageError`` where the port is taken, ``IndexMissingError`` without an index.
    """
    root, stop = os.path.realpath(palace.paths.root), threading.Event()
    read_commit(palace.paths.commit)  # says that there is no index
    address = None if _is_alone() else socket_path(root, os.environ)
    pages = Pages(root, palace.paths, options, address=address, warn=say)
    for number in (signal.SIGINT, signal.SIGTERM):  # in the background a shell ignores the first
        signal.signal(number, _interrupt)
    threads: list[threading.Thread] = []
    try:
        with _open_door(port, pages) as door:
            pages.generations.refresh()
            _start_resident(root, palace, address)
            watch = partial(keep_fresh, palace.paths, stop=stop, note=_say_once())
            work = (watch, partial(pages.generations.follow, stop), door.serve_forever)
            threads += [threading.Thread(target=run, daemon=True) for run in work]
            for thread in threads:
                thread.start()
            _announce(door, opens=opens)
            while not stop.wait(_LOOK_SECONDS):
                continue
    except KeyboardInterrupt:
        stop.set()
        for thread in threads[:1]:  # it ends the process that indexes, if it is given the time
            thread.join(_END_SECONDS)
        say("ends: a signal")


def _is_alone() -> bool:
    """Whether no resident server is to be asked."""
    return os.name != "posix" or bool(os.environ.get("PALACE_NO_SERVE"))


def _open_door(port: int, pages: Pages) -> Door:
    """Listen on a port, 0 for any; whoever has the new token may look."""
    try:
        return Door(port, token_urlsafe(_TOKEN_BYTES), ENDPOINTS, pages.answer)
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be used: {error.strerror}; leave --port out for a free one"
        ) from error


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _announce(door: Door, *, opens: bool) -> None:
    """Print the address, once; whoever has it can read the palace while this process runs."""
    print(door.url, flush=True)
    say("whoever has this address can read what the page shows; Ctrl-C ends it")
    if opens and not webbrowser.open(door.url):
        say("no browser was found; open the address in one")


def _start_resident(root: str, palace: Palace, address: str | None) -> None:
    """Start the resident server where the user's settings let a question do it."""
    if address is None:
        return
    with suppress(OSError, ValueError):
        if read_registered()[2] == "auto":
            from memory_palace.server.starting import start_server  # delayed: few want it

            start_server(Server(root, palace.paths.own.name, address))


def _say_once() -> Callable[[str], None]:
    """Return what says each remark once: that another process indexes is no news the next time."""
    said: set[str] = set()

    def note(text: str) -> None:
        if text not in said:
            said.add(text)
            say(text)

    return note

"""``palace view --live``: one process serves the page and follows the notes until it is ended.

Nothing is written through it, and no path comes from a visit: a note is asked for by its place in
the plan, and read from the disk when it is asked for.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from secrets import token_urlsafe
from types import FrameType

from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.view.gather import gather, read_text
from memory_palace.features.view.page import content_policy, pack, render
from memory_palace.index.commit import read_commit
from memory_palace.palace import Palace
from memory_palace.server.loopback import Door, PageReply, PageVisit, Unwanted
from memory_palace.server.refreshing import keep_fresh
from memory_palace.shown import say

MOST_HITS = 8
LOOK_SECONDS = 0.5
"""How often it is asked whether another index was committed: one call of the system."""
ENDPOINTS = {
    "": frozenset[str](),
    "plan": frozenset[str](),
    "note": frozenset({"of", "i"}),
    "search": frozenset({"q"}),
}
"""What can be asked for, and the names of the values that each takes."""
_END_SECONDS = 0.5
_TOKEN_BYTES = 24


def serve_page(palace: Palace, *, include_cold: bool, port: int, opens: bool) -> None:
    """Show the palace on a port of this machine, 0 for any, until it is interrupted.

    Raise ``UsageError`` where the port is taken, ``IndexMissingError`` without an index.
    """
    root, stop = os.path.realpath(palace.paths.root), threading.Event()
    read_commit(palace.paths.commit)  # says that there is no index
    say_once = cache(say)  # that another process indexes is no news the next time
    page = LivePage(root, include_cold=include_cold, warn=say_once)
    for number in (signal.SIGINT, signal.SIGTERM):  # in the background a shell ignores the first
        signal.signal(number, _interrupt)
    threads: list[threading.Thread] = []
    try:
        with _open_door(port, page) as door:
            page.refresh()
            watch = partial(keep_fresh, palace.paths, stop=stop, note=say_once)
            for run in (watch, partial(page.follow, stop), door.serve_forever):
                threads.append(threading.Thread(target=run, daemon=True))
                threads[-1].start()
            print(door.url, flush=True)
            say("whoever has this address can read what the page shows; Ctrl-C ends it")
            if opens and not webbrowser.open(door.url):
                say("no browser was found; open the address in one")
            while not stop.wait(1.0):  # a wait without end cannot be interrupted everywhere
                continue
    except KeyboardInterrupt:
        stop.set()
        for thread in threads[:1]:  # it ends the process that indexes, if it is given the time
            thread.join(_END_SECONDS)
        say("ends: a signal")


def _open_door(port: int, page: LivePage) -> Door:
    """Listen on a port, 0 for any; whoever has the new token may look."""
    try:
        return Door(port, token_urlsafe(_TOKEN_BYTES), ENDPOINTS, page.answer)
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be used: {error.strerror}; leave --port out for a free one"
        ) from error


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@dataclass(frozen=True, slots=True)
class PlanGeneration:
    """A plan, ready to be sent."""

    name: str
    """Of the index it was made from and of its own bytes."""
    page: bytes
    data: bytes
    """What a page that is open already needs of it."""
    paths: tuple[str, ...]
    """Of the notes, in the order of the plan."""


class LivePage:
    """The page of one palace: drawn anew for each index, and the answers to its visits."""

    latest: PlanGeneration
    """The plan that is shown; there is one after the first ``refresh``."""

    def __init__(
        self, root: str, *, include_cold: bool = False, warn: Callable[[str], None]
    ) -> None:
        self._include_cold, self._warn = include_cold, warn
        self._drawn, self._asked = Palace(root), Palace(root)
        self._turn = threading.Lock()
        """Held by the visit that asks the palace: its index and models take one at a time."""
        self._mark = ""
        """Digest of the commit that the latest plan shows."""

    def refresh(self) -> None:
        """Draw the plan if the index is another; raise ``PalaceError`` where it cannot be read."""
        commit = self._drawn.paths.commit
        mark = _digest(commit.read_bytes()) if commit.exists() else ""
        if mark == self._mark and mark:
            return
        self._drawn = _reopen(self._drawn)
        plan = gather(self._drawn, include_cold=self._include_cold)
        data = pack(plan, with_texts=False).plan.encode()
        name = _digest(mark.encode() + data)
        paths = tuple(note.path for note in plan.notes)
        self.latest = PlanGeneration(name, render(plan, live=name), data, paths)
        self._mark = mark

    def follow(self, stop: threading.Event) -> None:
        """Refresh until ``stop`` is set; where that fails the last plan stays."""
        while not stop.wait(LOOK_SECONDS):
            try:
                self.refresh()
            except (PalaceError, OSError) as error:
                self._warn(str(error))

    def answer(self, visit: PageVisit, has_gone: Callable[[], bool]) -> PageReply:
        """Return the reply to a visit that was let in; raise ``Unwanted`` for what is not there."""
        latest = self.latest
        match visit.endpoint:
            case "":
                policy = f"{content_policy(is_live=True)}; frame-ancestors 'none'"
                return PageReply(latest.page, "text/html; charset=utf-8", policy=policy)
            case "plan" if visit.known == latest.name:
                return PageReply(status=304, tag=latest.name)
            case "plan":
                return PageReply(latest.data, tag=latest.name)
            case "note":
                return self._show(latest, visit.values["of"], visit.values["i"])
            case _:
                return self._search(latest, visit.values["q"], has_gone)

    def _show(self, latest: PlanGeneration, name: str, place: str) -> PageReply:
        """Return a note of the plan as it is now, without what is private or secret."""
        if name != latest.name:
            return _json({"text": None})  # the page asks again when it has the new plan
        if not (place.isascii() and place.isdecimal() and int(place) < len(latest.paths)):
            raise Unwanted(404)
        return _json({"text": read_text(self._asked, latest.paths[int(place)])})

    def _search(self, latest: PlanGeneration, text: str, has_gone: Callable[[], bool]) -> PageReply:
        """Return what the palace finds, of the notes on the plan.

        One question is answered at a time; one whose page has a newer one is not answered at all.
        """
        if not text.strip():
            return _json({"answered": False, "hits": []})
        with self._turn:
            if has_gone():
                raise Unwanted(503)
            self._asked = _reopen(self._asked)
            try:
                found = self._asked.query(
                    text, limit=MOST_HITS, neighbors=0, include_cold=self._include_cold
                )
            except (PalaceError, OSError) as error:
                return _json({"problem": str(error), "hits": []})
        shown = set(latest.paths)
        hits = [
            {"path": hit.path, "text": hit.snippet, "confidence": hit.confidence}
            for hit in found.hits
            if hit.path in shown
        ]
        return _json({"answered": found.is_answered, "hits": hits})


def _reopen(palace: Palace) -> Palace:
    """Return a palace with its settings as they are now, and the models that were open."""
    again = Palace(palace.paths.root)
    again.adopt(palace)
    return again


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


def _json(record: Mapping[str, object]) -> PageReply:
    return PageReply(json.dumps(record).encode(), "application/json")

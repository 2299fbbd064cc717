"""``palace view --live``: serve the page on loopback and redraw it when the index changes.

The server is read-only. Requests name a note by its number in the plan, never by path; its text is
read from disk on request.
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
"""Interval of checks for a new index commit; each reads one small file."""
ENDPOINTS = {
    "": frozenset[str](),
    "plan": frozenset[str](),
    "note": frozenset({"of", "i"}),
    "search": frozenset({"q"}),
}
"""Endpoints of the server, and the names of their query parameters."""
_END_SECONDS = 0.5
_TOKEN_BYTES = 24


def serve_page(palace: Palace, *, include_cold: bool, port: int, opens: bool) -> None:
    """Serve the page on a loopback port, 0 for any, until SIGINT or SIGTERM.

    Raise ``UsageError`` if the port cannot be used, ``IndexMissingError`` without an index.
    """
    root, stop = os.path.realpath(palace.paths.root), threading.Event()
    read_commit(palace.paths.commit)  # raises IndexMissingError early
    say_once = cache(say)  # prints each message once
    page = LivePage(root, include_cold=include_cold, warn=say_once)
    for number in (signal.SIGINT, signal.SIGTERM):  # shells ignore SIGINT for background jobs
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
            while not stop.wait(1.0):  # some platforms cannot interrupt a wait without timeout
                continue
    except KeyboardInterrupt:
        stop.set()
        for thread in threads[:1]:  # give the watcher time to end its indexing process
            thread.join(_END_SECONDS)
        say("ends: a signal")


def _open_door(port: int, page: LivePage) -> Door:
    """Return a server on a port, 0 for any, with a new access token."""
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
    """A rendered plan."""

    name: str
    """Digest of the index commit and of ``data``."""
    page: bytes
    data: bytes
    """The packed plan, with which an open page updates itself."""
    paths: tuple[str, ...]
    """Paths of the notes, in the order of the plan."""


class LivePage:
    """Renders the page of one palace for each new index and answers its requests."""

    latest: PlanGeneration
    """The current plan; set by the first ``refresh``."""

    def __init__(
        self, root: str, *, include_cold: bool = False, warn: Callable[[str], None]
    ) -> None:
        self._include_cold, self._warn = include_cold, warn
        self._drawn, self._asked = Palace(root), Palace(root)
        self._turn = threading.Lock()
        """Serializes queries, because index and models allow one at a time."""
        self._mark = ""
        """Digest of the index commit that the latest plan shows."""

    def refresh(self) -> None:
        """Render the plan if the index changed; raise ``PalaceError`` if it cannot be read."""
        commit = self._drawn.paths.commit
        mark = _digest(commit.read_bytes()) if commit.exists() else ""
        if mark == self._mark and mark:
            return
        self._drawn = _reopen(self._drawn)
        plan = gather(self._drawn, include_cold=self._include_cold)
        data = pack(plan, with_texts=False)[0].encode()
        name = _digest(mark.encode() + data)
        paths = tuple(note.path for note in plan.notes)
        self.latest = PlanGeneration(name, render(plan, live=name), data, paths)
        self._mark = mark

    def follow(self, stop: threading.Event) -> None:
        """Refresh until ``stop`` is set; on an error warn and keep the last plan."""
        while not stop.wait(LOOK_SECONDS):
            try:
                self.refresh()
            except (PalaceError, OSError) as error:
                self._warn(str(error))

    def answer(self, visit: PageVisit, has_gone: Callable[[], bool]) -> PageReply:
        """Return the reply to an authorized request; raise ``Unwanted`` to refuse it."""
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
        """Return a note's present text without private spans and secrets; null if outdated."""
        if name != latest.name:
            return _json({"text": None})  # the page asks again with the new plan's number
        if not (place.isascii() and place.isdecimal() and int(place) < len(latest.paths)):
            raise Unwanted(404)
        return _json({"text": read_text(self._asked, latest.paths[int(place)])})

    def _search(self, latest: PlanGeneration, text: str, has_gone: Callable[[], bool]) -> PageReply:
        """Return the hits of a query among the notes of the plan.

        Queries are answered one at a time; a query whose page has left or asked anew gets 503.
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
    """Return a palace with settings read again and the open models kept."""
    again = Palace(palace.paths.root)
    again.adopt(palace)
    return again


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


def _json(record: Mapping[str, object]) -> PageReply:
    return PageReply(json.dumps(record).encode(), "application/json")

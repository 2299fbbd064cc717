"""What the live page is given: the plan, a note's text, what is found and what comes to mind."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError
from memory_palace.features.view.gather import gather
from memory_palace.features.view.live_asking import MOST_HITS, Asker, KeptPalace
from memory_palace.features.view.packing import pack
from memory_palace.features.view.page import content_policy, render
from memory_palace.features.view.texts import read_text
from memory_palace.features.view.values import ViewOptions
from memory_palace.server.door import PageReply
from memory_palace.server.gate import PageVisit
from memory_palace.server.head import Unwanted

LOOK_SECONDS = 0.5
"""How often it is asked whether another index was committed: one call of the system."""
_KEPT = 3
"""Generations whose notes can be asked for: a page may be a moment behind."""


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


class Generations:
    """Keeps the latest plans; a reader gets one that is whole, or none."""

    def __init__(
        self, commit: Path, make: Callable[[str], PlanGeneration], warn: Callable[[str], None]
    ) -> None:
        """``make`` returns the plan of the index whose mark it is given."""
        self._commit, self._make, self._warn = commit, make, warn
        self._kept: tuple[PlanGeneration, ...] = ()
        self._mark = ""
        self.seen = ""
        """The mark of the index as it is; its notes can be read before its plan is made."""
        self.problem = ""
        """Why the latest plan is not that of the notes as they are; empty where it is."""

    @property
    def latest(self) -> PlanGeneration:
        """The plan that is shown; there is one after the first ``refresh``."""
        return self._kept[-1]

    def find(self, name: str) -> PlanGeneration | None:
        """Return a plan by name; ``None`` for one that is too old."""
        return next((kept for kept in self._kept if kept.name == name), None)

    def refresh(self) -> None:
        """Make the plan again if the index is another; raise ``PalaceError`` where it cannot be."""
        mark = sha256(self._commit.read_bytes()).hexdigest()[:16] if self._commit.exists() else ""
        self.seen = mark
        if mark == self._mark and self._kept:
            return
        made = self._make(mark)
        if not self._kept or self.latest.name != made.name:
            self._kept = (*self._kept, made)[-_KEPT:]
        self._mark = mark

    def follow(self, stop: threading.Event) -> None:
        """Refresh until ``stop`` is set; what fails is said once, and the last plan stays."""
        while not stop.wait(LOOK_SECONDS):
            try:
                self.refresh()
                self.problem = ""
            except (PalaceError, OSError) as error:
                if self.problem != str(error):
                    self._warn(str(error))
                self.problem = str(error)


_HTML = "text/html; charset=utf-8"
_JSON = "application/json"
_DIGITS = 16


class Pages:
    """Answers the visits of one palace. Nothing is written, and no path comes from a visit."""

    def __init__(
        self,
        root: str,
        paths: PalacePaths,
        options: ViewOptions,
        *,
        address: str | None,
        warn: Callable[[str], None],
    ) -> None:
        self._options = options
        self._drawn, self._read = KeptPalace(root), KeptPalace(root)
        self._asker = Asker(root, options, address=address)
        self.generations = Generations(paths.commit, self._make, warn)

    def answer(self, visit: PageVisit, has_gone: Callable[[], bool]) -> PageReply:
        """Return the reply to a visit that was let in; raise ``Unwanted`` for what is not there."""
        latest = self.generations.latest
        tag = latest.name if visit.endpoint == "plan" else self._state_tag(latest)
        if visit.endpoint in ("state", "plan") and visit.known == tag:
            return PageReply(status=304, tag=tag)
        if visit.endpoint == "":
            policy = f"{content_policy(is_live=True)}; frame-ancestors 'none'"
            return PageReply(latest.page, _HTML, policy=policy)
        if visit.endpoint == "state":
            record = {"generation": latest.name, "index": self.generations.seen}
            return _json({**record, "problem": self.generations.problem}, tag=tag)
        if visit.endpoint == "plan":
            return PageReply(latest.data, tag=tag)
        if visit.endpoint == "note":
            return self._show(visit.values["of"], visit.values["i"])
        return self._ask(visit, has_gone)

    def _state_tag(self, latest: PlanGeneration) -> str:
        return _digest(f"{latest.name} {self.generations.seen} {self.generations.problem}")

    def _show(self, name: str, place: str) -> PageReply:
        """Return a note of a plan as it is now, without what is private or secret."""
        plan = self.generations.find(name)
        if plan is None:
            return _json({"text": None})  # the page asks again when it has the new plan
        if not (place.isascii() and place.isdecimal() and int(place) < len(plan.paths)):
            raise Unwanted(404)
        path, cold = plan.paths[int(place)], self._options.include_cold
        with self._read.turn:
            try:
                text = read_text(self._read.open(), path, include_cold=cold)
            except (PalaceError, OSError):  # the index has gone; the state says so
                text = None
        return _json({"text": text})

    def _ask(self, visit: PageVisit, has_gone: Callable[[], bool]) -> PageReply:
        try:
            if visit.endpoint == "search":
                found = self._asker.search(visit.values["q"], has_gone)
            else:
                found = self._asker.recall(visit.values["text"], has_gone)
        except (PalaceError, OSError) as error:
            return _json({"problem": str(error), "hits": []})
        if found is None:
            raise Unwanted(503)
        shown = set(self.generations.latest.paths)
        hits = [hit for hit in found["hits"] if hit["path"] in shown][:MOST_HITS]
        told = {name: found[name] for name in ("answered", "spoken") if name in found}
        return _json({**told, "hits": hits})

    def _make(self, mark: str) -> PlanGeneration:
        plan = gather(self._drawn.open(), self._options)
        plan = replace(plan, text_amount="whole")  # they are asked for
        data = pack(plan, with_texts=False).plan.encode()
        name = _digest(mark + _digest(data))
        self._options = replace(self._options, relayout=False)
        paths = tuple(note.path for note in plan.notes)
        return PlanGeneration(name, render(plan, live=name), data, paths)


def resident_address(root: str) -> str | None:
    """Return where a server of the palace would listen; ``None`` where none is to be asked."""
    if os.name != "posix" or os.environ.get("PALACE_NO_SERVE"):
        return None
    from memory_palace.places import socket_path  # delayed: it asks who the user is

    return socket_path(root, os.environ)


def _digest(data: str | bytes) -> str:
    content = data.encode("utf-8", "replace") if isinstance(data, str) else data
    return sha256(content).hexdigest()[:_DIGITS]


def _json(record: Any, *, tag: str = "") -> PageReply:
    return PageReply(json.dumps(record).encode(), _JSON, tag=tag)

"""What the live page is given: the plan, a note's text, what is found and what comes to mind."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError
from memory_palace.features.view.gather import gather
from memory_palace.features.view.packing import pack
from memory_palace.features.view.page import content_policy, render
from memory_palace.features.view.texts import read_text
from memory_palace.features.view.values import ViewOptions
from memory_palace.palace import Palace
from memory_palace.server.loopback import PageReply, PageVisit, Unwanted
from memory_palace.shown import to_record
from memory_palace.table import SHOWN, load

MOST_HITS = 8
_BUDGET_BYTES = 1500
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


class KeptPalace:
    """A palace whose index and models stay open between uses, by one thread at a time."""

    def __init__(self, root: str) -> None:
        self.turn = threading.Lock()
        self._root = root
        self._last: Palace | None = None

    def open(self) -> Palace:
        """Return the palace with its settings as they are now, and what is open of it."""
        palace = Palace(self._root)
        if self._last is not None:
            palace.adopt(self._last)
        self._last = palace
        return palace


class Asker:
    """Searches by meaning, and says what comes to mind, with the keys of ``--json``.

    A question is put to the resident server of the palace, or answered here without one. One is
    answered at a time; one whose page has a newer one meanwhile is not answered at all.
    """

    def __init__(self, root: str, options: ViewOptions, *, address: str | None) -> None:
        """``address`` is where a resident server would listen; ``None`` asks none."""
        self._root, self._options, self._address = root, options, address
        self._palace = KeptPalace(root)

    def search(self, text: str, has_gone: Callable[[], bool]) -> dict[str, Any] | None:
        """Return what the palace finds; ``None`` where nobody waits for it any more."""
        cold = self._options.include_cold
        line = ["query", "--json", "-k", str(MOST_HITS), *(["--include-cold"] if cold else [])]

        def here(palace: Palace) -> dict[str, Any]:
            hits = palace.query(text, limit=MOST_HITS, neighbors=0, include_cold=cold)
            record: dict[str, Any] = to_record(load(SHOWN["query"]).of(hits))
            return record

        return self._ask([*line, "--", text], here, has_gone)

    def recall(self, text: str, has_gone: Callable[[], bool]) -> dict[str, Any] | None:
        """Return what the notes have to say; ``None`` where nobody waits for it any more."""

        def here(palace: Palace) -> dict[str, Any]:
            found = load(SHOWN["recall"]).of(palace.recall(text, budget_bytes=_BUDGET_BYTES))
            record: dict[str, Any] = to_record(found)
            return record

        line = ["recall", "--json", "--budget", str(_BUDGET_BYTES), "--", text]
        return self._ask(line, here, has_gone)

    def _ask(
        self,
        line: Sequence[str],
        here: Callable[[Palace], dict[str, Any]],
        has_gone: Callable[[], bool],
    ) -> dict[str, Any] | None:
        if line[-1].strip() in ("", "-"):  # which a command would take for its standard input
            return {"answered": False, "spoken": False, "hits": []}
        with self._palace.turn:
            if has_gone():
                return None
            found = self._ask_server(line)
            return here(self._palace.open()) if found is None else found

    def _ask_server(self, line: Sequence[str]) -> dict[str, Any] | None:
        if self._address is None or not os.path.exists(self._address):  # noqa: PTH110
            return None
        from memory_palace.server.client import exchange  # delayed: not every system has sockets

        reply = exchange(self._address, ["-C", self._root, *line])
        if reply is None or reply[0]:
            return None  # what fails there is tried, and told, here
        text = "".join(text for stream, text in reply[1] if stream == 1)
        found: dict[str, Any] = json.loads(text)
        return found


ENDPOINTS = {
    "": frozenset[str](),
    "state": frozenset[str](),
    "plan": frozenset[str](),
    "note": frozenset({"of", "i"}),
    "search": frozenset({"q"}),
    "recall": frozenset({"text"}),
}
"""What can be asked for, and the names of the values that each takes."""
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


def _digest(data: str | bytes) -> str:
    content = data.encode("utf-8", "replace") if isinstance(data, str) else data
    return sha256(content).hexdigest()[:_DIGITS]


def _json(record: Any, *, tag: str = "") -> PageReply:
    return PageReply(json.dumps(record).encode(), _JSON, tag=tag)

"""Questions of the page: put to the resident server of the palace, or answered here without one.

Both give what ``palace query --json`` and ``palace recall --json`` print. One question is answered
at a time; one whose page has a newer one meanwhile is not answered at all.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from memory_palace.features.asking.answers import answer_record
from memory_palace.features.recall.shown import RecallShown
from memory_palace.features.view.values import ViewOptions
from memory_palace.palace import Palace
from memory_palace.shown import to_record

MOST_HITS = 8
_BUDGET_BYTES = 1500


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
    """Searches by meaning, and says what comes to mind."""

    def __init__(self, root: str, options: ViewOptions, *, address: str | None) -> None:
        """``address`` is where a resident server would listen; ``None`` asks none."""
        self._root, self._options, self._address = root, options, address
        self._palace = KeptPalace(root)

    def search(self, text: str, has_gone: Callable[[], bool]) -> dict[str, Any] | None:
        """Return what the palace finds; ``None`` where nobody waits for it any more."""
        cold = self._options.include_cold
        line = ["query", "--json", "-k", str(MOST_HITS), *(["--include-cold"] if cold else [])]

        def here(palace: Palace) -> dict[str, Any]:
            return answer_record(
                palace.query(text, limit=MOST_HITS, neighbors=0, include_cold=cold)
            )

        return self._ask([*line, "--", text], here, has_gone)

    def recall(self, text: str, has_gone: Callable[[], bool]) -> dict[str, Any] | None:
        """Return what the notes have to say; ``None`` where nobody waits for it any more."""

        def here(palace: Palace) -> dict[str, Any]:
            found = RecallShown.of(palace.recall(text, budget_bytes=_BUDGET_BYTES))
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
        from memory_palace.server.client import (
            exchange,  # delayed: not every system has the sockets
        )

        reply = exchange(self._address, ["-C", self._root, *line])
        if reply is None or reply[0]:
            return None  # what fails there is tried, and told, here
        text = "".join(text for stream, text in reply[1] if stream == 1)
        found: dict[str, Any] = json.loads(text)
        return found

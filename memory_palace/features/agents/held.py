"""The palace that a session asks, held open from one call to the next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from memory_palace.errors import (
    IndexDamagedError,
    IndexLockedError,
    IndexMissingError,
    WrongEmbedderError,
)
from memory_palace.index.freshness import Freshness
from memory_palace.palace import Palace

Update: TypeAlias = Callable[[Path, threading.Event, Callable[[str], None]], None]
"""Brings the index of a palace up to date in another process, until it is done or told to end."""
_WAIT_SECONDS = 2.0
"""A few changed notes take less; behind many more the answer says how many it does not know."""
_AGAIN_SECONDS = 30.0
"""Until an update is tried again that left as many notes as it found."""


class HeldPalace:
    """Finds the palace anew for each call, so that one that is made later is picked up."""

    def __init__(
        self,
        find: Callable[[], Palace],
        *,
        update: Update,
        check_freshness: Callable[..., Freshness],
        say: Callable[[str], None],
    ) -> None:
        """``find`` raises ``NotAPalaceError`` where there is none; ``say`` hears of failures."""
        self._find, self._update = find, update
        self._check_freshness, self._say = check_freshness, say
        self._last: Palace | None = None
        self._updating: threading.Thread | None = None
        self._left, self._tried_at = 0, -_AGAIN_SECONDS
        self._ends = threading.Event()

    def open(self, *, updates: bool = True) -> Palace:
        """Return the palace with its settings read anew, and what the call before has open.

        With ``updates`` notes that have changed are indexed, as far as that takes no time.
        """
        palace = self._find()
        if self._last is not None:
            palace.adopt(self._last)
        palace.check_freshness = self._check_freshness
        self._last = palace
        if updates:
            self._bring_up_to_date(palace)
        return palace

    def close(self) -> None:
        """End an update that runs."""
        self._ends.set()
        if self._updating is not None:
            self._updating.join(_WAIT_SECONDS)

    def _bring_up_to_date(self, palace: Palace) -> None:
        """Let changed notes be indexed, and wait for it a little; a palace without index stays so.

        What is wrong with the index, the call itself will say.
        """
        try:
            behind = self._count_behind(palace)
        except (IndexMissingError, IndexDamagedError, WrongEmbedderError):
            return
        waited = time.monotonic() - self._tried_at
        if not behind or (behind == self._left and waited < _AGAIN_SECONDS):
            return
        if self._updating is not None and self._updating.is_alive():
            return
        self._updating = threading.Thread(
            target=self._run_update, args=(palace.paths.root,), daemon=True
        )
        self._updating.start()
        self._updating.join(_WAIT_SECONDS)
        if not self._updating.is_alive():
            self._tried_at = time.monotonic()
            self._left = self._count_behind(palace)

    def _count_behind(self, palace: Palace) -> int:
        return palace.check_freshness(palace.paths, palace.config, palace.snapshot()).behind

    def _run_update(self, root: Path) -> None:
        try:
            self._update(root, self._ends, self._say)
        except (IndexLockedError, OSError) as error:  # another process is at it
            self._say(str(error))

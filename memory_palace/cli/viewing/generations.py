"""The plan of the palace as it is now: made again whenever another index was committed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from memory_palace.errors import PalaceError

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

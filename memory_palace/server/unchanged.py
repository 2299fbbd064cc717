"""How far the index is behind, without a look at every note where the kernel knows of no change.

The look takes a third of a question on 800 notes, and more than all the rest on 5,000. Linux queues
an event before the call that changes a file returns, so an answer never misses a change that was
made before its question. Elsewhere every note is looked at, as in any other process.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from memory_palace.config import Config, PalacePaths
from memory_palace.index.freshness import MOST_ENTRIES, Freshness, check_freshness
from memory_palace.index.snapshot import Snapshot

_CHANGES = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
"""Of what is in a folder: written, other rights or times, moved out and in, made, deleted; and that
it was itself deleted or moved (``<sys/inotify.h>``)."""
_ONLY_FOLDERS = 0x01000000
_PIECE_BYTES = 1 << 16
_MOST_TRUSTED = 50
"""Answers that one look is good for: changes on a network drive, or through a mapping of a file,
make no event."""


class KnownFreshness:
    """What the last look found, for as long as nothing happened in the folders it went through."""

    def __init__(self) -> None:
        self._events = _open_events()
        self._watched: set[int] = set()
        self._known: dict[int, tuple[Snapshot, Config, Freshness]] = {}
        self._trusted = 0

    def check(
        self,
        paths: PalacePaths,
        config: Config,
        snapshot: Snapshot,
        *,
        most_entries: int | None = MOST_ENTRIES,
    ) -> Freshness:
        """Return what ``check_freshness`` would."""
        self._trusted += 1
        if self._has_events() or self._trusted > _MOST_TRUSTED:
            self._known.clear()
            self._trusted = 0
        known = self._known.get(id(snapshot))
        if known is not None and known[1] == config and most_entries == MOST_ENTRIES:
            return known[2]
        found = check_freshness(paths, config, snapshot, most_entries=most_entries)
        if self._events is not None and most_entries == MOST_ENTRIES:
            self._remember(snapshot, config, found)
        return found

    def close(self) -> None:
        """Watch nothing any more."""
        if self._events is not None:
            os.close(self._events)
            self._events = None

    def _remember(self, snapshot: Snapshot, config: Config, found: Freshness) -> None:
        """Keep what was found if all folders were watched before it was looked for."""
        watched = _watch(self._events, found.folders) if found.folders is not None else None
        if watched is not None and watched <= self._watched:
            if len(self._known) > 1:  # of the notes with and without the archive
                self._known.clear()
            self._known[id(snapshot)] = snapshot, config, found
        self._watched = watched or set()

    def _has_events(self) -> bool:
        """Say whether anything happened since the last time, and forget it."""
        happened = False
        with suppress(BlockingIOError):
            while self._events is not None and os.read(self._events, _PIECE_BYTES):
                happened = True
        return happened


def _open_events() -> int | None:
    if sys.platform != "linux":
        return None
    found = int(_library().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    return None if found < 0 else found


def _watch(events: int | None, folders: Sequence[str]) -> set[int] | None:
    """Watch folders; return a number for each, the same for one that is watched already.

    ``None`` where the system does not watch that many.
    """
    add, mask = _library().inotify_add_watch, _CHANGES | _ONLY_FOLDERS
    numbers = {int(add(events, os.fsencode(folder), mask)) for folder in set(folders)}
    return None if -1 in numbers else numbers


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)

"""Keep the index of a served palace up to date, and cache its freshness.

A separate process, ``python -m memory_palace.server.refreshing ROOT``, builds the index, so that
its memory, time and failures do not affect the server.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from memory_palace.config import Config, PalacePaths
from memory_palace.errors import IndexLockedError, PalaceError
from memory_palace.index.snapshot import MOST_ENTRIES, Freshness, Snapshot, check_freshness
from memory_palace.palace import Palace

_POLL_SECONDS = 0.1
_CHANGES = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
"""inotify mask of a folder: content, attributes, moves, creation and deletion of entries, and its
own deletion or move (``<sys/inotify.h>``)."""
_ONLY_FOLDERS = 0x01000000
_PIECE_BYTES = 1 << 16
_MOST_TRUSTED = 50
"""Maximum number of answers per check: changes on a network drive, or through a memory mapping,
make no event."""


def keep_fresh(paths: PalacePaths, *, stop: threading.Event, note: Callable[[str], None]) -> None:
    """Update the index whenever notes change, until ``stop`` is set.

    A palace without an index gets none. Failures go to ``note``.
    """
    from memory_palace.index.watch import watch_palace  # delayed: it needs watchdog

    def update() -> None:
        if paths.commit.exists():
            index_apart(paths.root, stop, note)

    try:
        watch_palace(paths, update, stop=stop, warn=note)
    except OSError as error:
        note(f"notes are not watched: {error}")


def index_apart(root: Path, stop: threading.Event, note: Callable[[str], None]) -> None:
    """Update an index in another process; return when it has ended, or ``stop`` is set.

    Raise ``IndexLockedError`` if another writer has the lock; ``note`` receives other failures.
    """
    command = [sys.executable, "-P", "-m", "memory_palace.server.refreshing", str(root)]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=nothing, stdout=nothing, stderr=subprocess.PIPE, cwd="/"
    ) as process:
        while True:
            try:
                _, errors = process.communicate(timeout=_POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if stop.is_set():
                    process.terminate()
    if process.returncode == 0 or stop.is_set():
        return
    text = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if process.returncode == IndexLockedError.exit_code:
        raise IndexLockedError(text)
    note(f"notes are not indexed: {text}")


class KnownFreshness:
    """The cached freshness of a palace, valid while inotify reports no change.

    A check takes a third of a question's time on 800 notes, and most of it on 5,000. Linux queues
    the event before the system call that changes a file returns, so no change made before a
    question is missed. On other systems every check compares all notes.
    """

    def __init__(self) -> None:
        self._events: int | None = None
        if sys.platform == "linux":
            opened = int(_library().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
            self._events = None if opened < 0 else opened
        self._watched: set[int] = set()
        self._known: tuple[Snapshot, Config, Freshness] | None = None
        self._trusted = 0

    def check(
        self,
        paths: PalacePaths,
        config: Config,
        snapshot: Snapshot,
        *,
        most_entries: int | None = MOST_ENTRIES,
    ) -> Freshness:
        """Return the result of ``check_freshness``, cached while nothing changes."""
        self._trusted += 1
        if self._has_events() or self._trusted > _MOST_TRUSTED:
            self._known, self._trusted = None, 0
        known, is_usual = self._known, most_entries == MOST_ENTRIES
        if known is not None and known[0] is snapshot and known[1] == config and is_usual:
            return known[2]
        found = check_freshness(paths, config, snapshot, most_entries=most_entries)
        if self._events is not None and is_usual:
            self._remember(snapshot, config, found)
        return found

    def _remember(self, snapshot: Snapshot, config: Config, found: Freshness) -> None:
        """Cache a result if all folders were watched before the check began.

        inotify returns the existing descriptor of a watched folder, and -1 at its limit.
        """
        add, mask = _library().inotify_add_watch, _CHANGES | _ONLY_FOLDERS
        folders = set(found.folders or ())
        watched = {int(add(self._events, os.fsencode(folder), mask)) for folder in folders}
        is_whole = found.folders is not None and -1 not in watched
        if is_whole and watched <= self._watched:
            self._known = snapshot, config, found
        self._watched = watched if is_whole else set()

    def _has_events(self) -> bool:
        """Whether any event occurred since the last call; consume them."""
        happened = False
        with suppress(BlockingIOError):
            while self._events is not None and os.read(self._events, _PIECE_BYTES):
                happened = True
        return happened


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _index_once(root: str) -> int:
    """Update the index, print a failure on stderr, and return the exit status."""
    sys.argv[0] = "palace serve"  # shown as the holder of the lock
    try:
        Palace(root).index(takes_up=False)
    except (PalaceError, OSError) as error:
        print(error, file=sys.stderr)
        return error.exit_code if isinstance(error, PalaceError) else PalaceError.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(_index_once(sys.argv[1]))

"""Update the index while notes are edited. File events only hasten the regular rescan."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

from memory_palace.config import PalacePaths
from memory_palace.errors import IndexLockedError
from memory_palace.notes.discovery import SUFFIXES
from memory_palace.places import MANIFEST, SETTINGS

RESCAN_SECONDS = 300.0
"""Seconds between full rescans: the longest delay of an event that the system dropped."""
_WATCHED = {MANIFEST, SETTINGS, ".palaceignore", ".gitignore"}
_NO_MORE_WATCHES = {errno.ENOSPC, errno.EMFILE}


class _Changes(FileSystemEventHandler):
    """Records the time of the last event that can change the index."""

    def __init__(self, folder: Path, own: Path) -> None:
        self._folder = folder
        self._own = own
        self.happened = threading.Event()
        self.last = 0.0

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Record the creation, change, move or deletion of notes and settings."""
        if event.event_type in ("opened", "closed_no_write"):
            return
        if event.is_directory and event.event_type == "modified":
            return  # what changed inside it has an event of its own
        paths = [Path(str(path)) for path in (event.src_path, event.dest_path) if path]
        if any(self._counts(path, is_folder=event.is_directory) for path in paths):
            self.last = time.monotonic()
            self.happened.set()

    def _counts(self, path: Path, *, is_folder: bool) -> bool:
        if path.parent == self._own and path.name in _WATCHED:
            return True
        if path == self._folder or not path.is_relative_to(self._folder):
            return False
        if any(part.startswith(".") for part in path.parent.relative_to(self._folder).parts):
            return False
        is_note = is_folder or path.name.lower().endswith(SUFFIXES)
        return path.name in _WATCHED or (is_note and not path.name.startswith("."))


def watch_palace(
    paths: PalacePaths,
    update: Callable[[], None],
    *,
    stop: threading.Event,
    debounce_seconds: float = 1.0,
    rescan_seconds: float = RESCAN_SECONDS,
    warn: Callable[[str], None] = lambda words: None,
) -> None:
    """Call ``update`` in this thread after notes have changed and then been quiet.

    It is called once at the start, after each burst of changes, and every ``rescan_seconds``
    without changes. While another writer holds the lock, it is called again every
    ``debounce_seconds``, and ``warn`` is called once. Returns when ``stop`` is set, after the
    observer's thread has ended.
    """
    folder = paths.notes.resolve()
    changes = _Changes(folder, paths.own.resolve())
    observer = _start_observer(changes, folder, warn)
    try:
        due, was_locked = time.monotonic(), False
        while not stop.is_set():
            if changes.happened.is_set() and time.monotonic() - changes.last >= debounce_seconds:
                changes.happened.clear()
                due = time.monotonic()
            if time.monotonic() >= due:
                try:
                    update()
                    was_locked = False
                except IndexLockedError as error:
                    if not was_locked:
                        warn(str(error))
                    was_locked = True
                due = time.monotonic() + (debounce_seconds if was_locked else rescan_seconds)
            stop.wait(min(debounce_seconds, 0.2))
    finally:
        observer.stop()
        observer.join()


def _start_observer(changes: _Changes, folder: Path, warn: Callable[[str], None]) -> Any:
    observer: Any = Observer()
    observer.schedule(changes, str(folder), recursive=True)
    try:
        observer.start()
    except OSError as error:
        if error.errno not in _NO_MORE_WATCHES:
            raise
        warn("the system has no file watches left; looking at every file each second instead")
        observer = PollingObserver(timeout=1.0)
        observer.schedule(changes, str(folder), recursive=True)
        observer.start()
    return observer

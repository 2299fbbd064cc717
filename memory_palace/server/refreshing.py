"""Index what changes while a palace is served, in another process, as ``palace index --watch``.

It would take memory and time from the answers, and what it breaks must not break the server.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from memory_palace.config import PalacePaths
from memory_palace.errors import IndexLockedError

_POLL_SECONDS = 0.1


def keep_fresh(paths: PalacePaths, *, stop: threading.Event, note: Callable[[str], None]) -> None:
    """Bring the index up to date whenever notes have changed, until ``stop`` is set.

    A palace without an index gets none. ``note`` hears of what fails.
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
    """Bring an index up to date in another process, until it is done or ``stop`` is set.

    Raise ``IndexLockedError`` where another writer is at it; ``note`` hears of what else fails.
    """
    command = [sys.executable, "-P", "-m", "memory_palace.server.indexing", str(root)]
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

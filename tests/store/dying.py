"""Writers of a store that are killed before one of their statements."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

from store.pushing import Store

from memory_palace.features.store import writing
from memory_palace.palace import Palace


def die_before(number: int) -> Callable[[str], None]:
    """Return a hook that kills its process before that statement."""
    left = number

    def hook(_statement: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def open_store(root: str, url: str) -> Store:
    """Open a store in which vectors are indexed as soon as there are any."""
    writing.INDEXED_ROWS = 1
    return Store.at(url, Palace(Path(root)))


def push_and_die(root: str, url: str, before: int) -> None:
    """Push the index of a palace, and die before that statement."""
    store = open_store(root, url)
    store.hook(die_before(before))
    store.push_index(wait_seconds=30)

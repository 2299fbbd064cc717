"""A builder that is killed before a statement of its push."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def push_and_die(root: str, url: str, before: int) -> None:
    """Push the index of a palace, and die before that statement."""
    from postgres.pushing import Store

    from memory_palace.index.store import IndexFiles
    from memory_palace.palace import Palace
    from memory_palace.postgres.writing import push

    left = before

    def hook(_statement: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    palace = Palace(Path(root))
    store = Store.at(url, palace)
    push(store.connection, store.number, IndexFiles(palace.paths), hook=hook, wait_seconds=30)

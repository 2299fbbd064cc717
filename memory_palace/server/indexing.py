"""Bring the index of a palace up to date: ``python -m memory_palace.server.indexing ROOT``."""

from __future__ import annotations

import sys

from memory_palace.errors import PalaceError
from memory_palace.palace import Palace


def index_once(root: str) -> int:
    """Index what changed, say what fails on stderr, and return the exit status."""
    sys.argv[0] = "palace serve"  # who holds the lock, for those who wait for it
    try:
        Palace(root).index(takes_up=False)
    except (PalaceError, OSError) as error:
        print(error, file=sys.stderr)
        return error.exit_code if isinstance(error, PalaceError) else PalaceError.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(index_once(sys.argv[1]))

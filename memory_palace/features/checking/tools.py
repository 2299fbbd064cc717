"""What agents are offered: to check an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from memory_palace.features.checking.report import write_lines
from memory_palace.features.checking.verify import verify as check
from memory_palace.palace import Palace
from memory_palace.tools import Said

_MOST_LINES = 100


def verify(
    palace: Palace,
    answer: str,
    notes: Annotated[Sequence[str], "path or path:10-20; else all"] = (),
) -> Said:
    """Check each sentence of an answer against notes before you send it."""
    done = check(palace, answer, notes)
    lines = list(write_lines(done))
    if not done.by_meaning:
        lines[0] += " (compared by words only)"
    if more := len(lines[_MOST_LINES:]):
        lines[_MOST_LINES:] = [f"… {more} more lines; verify a shorter answer"]
    return Said(lines=lines)

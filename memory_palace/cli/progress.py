"""Progress of long work: one line on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from typer import Exit

from memory_palace.cli.app import INTERRUPTED
from memory_palace.language.visible import visible
from memory_palace.shown import say

if TYPE_CHECKING:
    from rich.progress import Progress

Advance = Callable[[str, int, int], None]
"""Callback for the name of a phase, the number of units done, and their total."""


@contextmanager
def progress_line(
    label: str = "",
    *,
    quiet: bool = False,
    in_bytes: bool = False,
    stopped: str | Callable[[str, int, int], str] = "stopped",
) -> Iterator[Advance]:
    """Show progress on standard error, if it is a terminal.

    Ctrl-C prints ``stopped``, or its value for the last phase and counts, and ends the command.
    """
    is_live = sys.stderr.isatty() and not quiet
    phase, done, total = "", 0, 0

    def advance(doing: str, so_far: int, at_most: int) -> None:
        nonlocal phase, done, total
        if drawn and doing != phase:
            drawn.reset(drawn.task_ids[0])
        phase, done, total = doing, so_far, max(so_far, at_most)
        if drawn:
            name = visible(": ".join(part for part in (label, doing) if part))
            line, has_count = drawn.task_ids[0], total > 1
            drawn.update(line, description=name, completed=done, total=total, visible=has_count)

    try:
        with _draw(in_bytes=in_bytes) if is_live else nullcontext() as drawn:
            yield advance
    except KeyboardInterrupt:
        say(stopped if isinstance(stopped, str) else stopped(phase, done, total))
        raise Exit(INTERRUPTED) from None


def _draw(*, in_bytes: bool) -> Progress:
    from rich import progress  # delayed: a quick verb needs no line
    from rich.console import Console

    count = progress.DownloadColumn() if in_bytes else progress.MofNCompleteColumn()
    columns = ("{task.description}", count, progress.TimeRemainingColumn(), "left")
    console = Console(stderr=True, markup=False, highlight=False)
    drawn = progress.Progress(*columns, console=console, transient=True)
    drawn.add_task("", total=None, visible=False)
    return drawn


def keep_vectors(phase: str, done: int, total: int) -> str:
    """Return the message of an interrupted index build, with the number of vectors kept."""
    from memory_palace.index.values import EMBEDDING  # delayed: most work builds no index

    if phase != EMBEDDING:
        return "stopped; the index is as it was; run `palace index` to go on"
    return f"stopped; {done:,} of {total:,} vectors are kept; run `palace index` to go on"

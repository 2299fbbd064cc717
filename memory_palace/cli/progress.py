"""How far long work has come: one line on a terminal, a line per phase where it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from typer import Exit

from memory_palace.cli.app import INTERRUPTED
from memory_palace.language.visible import visible
from memory_palace.shown import say

if TYPE_CHECKING:
    from rich.progress import Progress

Advance = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and how much there will be."""


class _Line:
    """Counts the work of a phase: drawn as it goes on, or written as it ends."""

    drawn: Progress | None = None

    def __init__(self, label: str, *, in_bytes: bool, is_written: bool) -> None:
        self.phase, self.done, self.total = "", 0, 0
        self._label, self._in_bytes, self._is_written = label, in_bytes, is_written

    def advance(self, phase: str, done: int, total: int) -> None:
        if phase != self.phase:
            self.end()
            if self.drawn:
                self.drawn.reset(self.drawn.task_ids[0])
        self.phase, self.done, self.total = phase, done, max(done, total)
        if self.drawn:
            self.drawn.update(
                self.drawn.task_ids[0],
                description=self._name,
                completed=done,
                total=self.total,
                visible=self.total > 1,
            )

    @property
    def _name(self) -> str:
        return visible(": ".join(part for part in (self._label, self.phase) if part))

    def end(self) -> None:
        if self.phase and self._is_written:
            count = f"{self.total / 1e6:.1f} MB" if self._in_bytes else f"{self.total:,}"
            print(f"{self._name}: {count}" if self.total > 1 else self._name, file=sys.stderr)


@contextmanager
def progress_line(
    label: str = "",
    *,
    quiet: bool = False,
    verbose: bool = False,
    in_bytes: bool = False,
    stopped: str | Callable[[str, int, int], str] = "stopped",
) -> Iterator[Advance]:
    """Show how far work is: live on a terminal, with ``verbose`` a line per phase elsewhere.

    Ctrl-C ends the command with ``stopped``, or what it says of the last phase and its counts.
    """
    is_live = sys.stderr.isatty() and not quiet
    line = _Line(label, in_bytes=in_bytes, is_written=verbose and not quiet and not is_live)
    try:
        with ExitStack() as stack:
            stack.callback(line.end)
            if is_live:
                line.drawn = stack.enter_context(_draw(in_bytes=in_bytes))
            yield line.advance
    except KeyboardInterrupt:
        counts = (line.phase, line.done, line.total)
        say(stopped if isinstance(stopped, str) else stopped(*counts))
        raise Exit(INTERRUPTED) from None


def _draw(*, in_bytes: bool) -> Progress:
    """Return a line with the count, the rate and the time left; it is gone at the end."""
    from rich import progress  # delayed: a quick verb needs no line
    from rich.console import Console

    count = progress.DownloadColumn() if in_bytes else progress.MofNCompleteColumn()
    columns = ("{task.description}", count, progress.TimeRemainingColumn(), "left")
    console = Console(stderr=True, markup=False, highlight=False)
    drawn = progress.Progress(*columns, console=console, transient=True)
    drawn.add_task("", total=None, visible=False)
    return drawn


def keep_vectors(phase: str, done: int, total: int) -> str:
    """Return what a stopped build of the index leaves for the next: vectors are kept."""
    from memory_palace.index.context import EMBEDDING  # delayed: most work builds no index

    if phase != EMBEDDING:
        return "stopped; the index is as it was; run `palace index` to go on"
    return f"stopped; {done:,} of {total:,} vectors are kept; run `palace index` to go on"

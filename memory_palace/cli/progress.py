"""How far long work has come: one line on a terminal, a line per phase where it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from typer import Exit

from memory_palace.cli.app import INTERRUPTED
from memory_palace.language.visible import visible
from memory_palace.shown import say

Advance = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and how much there will be."""


class _Phases:
    """Counts work through its phases, and writes a line as each ends where it is told to."""

    def __init__(self, label: str, *, in_bytes: bool, is_written: bool) -> None:
        self.phase, self.done, self.total = "", 0, 0
        self._label, self._in_bytes, self._is_written = label, in_bytes, is_written

    def advance(self, phase: str, done: int, total: int) -> None:
        if phase != self.phase:
            self.end()
        self.phase, self.done, self.total = phase, done, max(done, total)

    @property
    def name(self) -> str:
        return visible(": ".join(part for part in (self._label, self.phase) if part))

    def end(self) -> None:
        if self.phase and self._is_written:
            count = f"{self.total / 1e6:.1f} MB" if self._in_bytes else f"{self.total:,}"
            sys.stderr.write(f"{self.name}: {count}\n" if self.total > 1 else f"{self.name}\n")
            sys.stderr.flush()


@contextmanager
def _live_line(phases: _Phases, *, in_bytes: bool) -> Iterator[Advance]:
    """Draw one line with the count, the rate and the time left; it is gone at the end."""
    from rich import progress  # delayed: a quick verb needs no line
    from rich.console import Console

    count = progress.DownloadColumn() if in_bytes else progress.MofNCompleteColumn()
    columns = ("{task.description}", count, progress.TimeRemainingColumn(), "left")
    console = Console(stderr=True, markup=False, highlight=False)
    with progress.Progress(*columns, console=console, transient=True) as drawn:
        task = drawn.add_task("", total=None, visible=False)

        def advance(phase: str, done: int, total: int) -> None:
            if phase != phases.phase:
                drawn.reset(task)
            phases.advance(phase, done, total)
            drawn.update(
                task,
                description=phases.name,
                completed=done,
                total=phases.total,
                visible=phases.total > 1,
            )

        yield advance


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
    is_written = verbose and not quiet and not is_live
    phases = _Phases(label, in_bytes=in_bytes, is_written=is_written)
    try:
        with ExitStack() as stack:
            stack.callback(phases.end)
            if is_live:
                yield stack.enter_context(_live_line(phases, in_bytes=in_bytes))
            else:
                yield phases.advance
    except KeyboardInterrupt:
        say(
            stopped
            if isinstance(stopped, str)
            else stopped(phases.phase, phases.done, phases.total)
        )
        raise Exit(INTERRUPTED) from None

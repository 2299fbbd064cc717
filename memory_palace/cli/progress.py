"""How far long work has come: one line on a terminal, a line per phase where it is asked for."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from typer import Exit

from memory_palace.cli.app import INTERRUPTED
from memory_palace.cli.printing import say
from memory_palace.language.visible import visible

SMOOTHING_SECONDS = 8.0
"""What lies further back counts less than a third in the rate."""
REDRAW_SECONDS = 0.1

_CLEAR = "\r\x1b[K"
Advance = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and how much there will be."""


class Rate:
    """How much is done in a second, known from the second time it is told.

    Moves of a count are averaged with weights that fall by half in 5.5 seconds; the sum of the
    weights is divided out, so that the first move counts in full (Kingma and Ba 2015, section 3).
    """

    def __init__(self, done: int, now: float) -> None:
        self._done, self._now = done, now
        self._sum = self._weight = 0.0

    def tell(self, done: int, now: float) -> None:
        """Take note that so much is done now."""
        seconds = now - self._now
        if seconds <= 0:
            return
        kept = math.exp(-seconds / SMOOTHING_SECONDS)
        self._sum = kept * self._sum + (1 - kept) * (done - self._done) / seconds
        self._weight = kept * self._weight + (1 - kept)
        self._done, self._now = done, now

    @property
    def per_second(self) -> float | None:
        """The rate; ``None`` before anything moved."""
        return self._sum / self._weight if self._sum > 0 else None


class ProgressLine:
    """Follows work through its phases, and writes where it stands."""

    def __init__(
        self,
        stream: TextIO | None,
        *,
        label: str = "",
        in_bytes: bool = False,
        is_live: bool = True,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``is_live`` draws one line again and again; else each phase is a line when it ends.

        Without a stream the counts are kept and nothing is written.
        """
        self.phase, self.done, self.total = "", 0, 0
        self._stream, self._label, self._in_bytes = stream, label, in_bytes
        self._is_live, self._monotonic = is_live, monotonic
        self._rates: dict[str, Rate] = {}
        self._drawn_at = -math.inf

    def advance(self, phase: str, done: int, total: int) -> None:
        """Say how far a phase is."""
        now = self._monotonic()
        if phase != self.phase:
            self._end_phase()
            self._drawn_at = -math.inf
        rate = self._rates.setdefault(phase, Rate(done, now))
        rate.tell(done, now)
        self.phase, self.done, self.total = phase, done, max(done, total)
        is_due = now - self._drawn_at >= REDRAW_SECONDS or done >= total
        if self._is_live and is_due:
            self._drawn_at = now
            width = shutil.get_terminal_size().columns - 1
            self._write(_CLEAR + visible(fit(self._describe(rate.per_second), width)))

    def end(self) -> None:
        """Take the line away, or end the last phase."""
        if self._is_live:
            self._write(_CLEAR)
        self._end_phase()

    def _end_phase(self) -> None:
        if self.phase and not self._is_live:
            count = f": {self._count(self.total)}" if self.total > 1 else ""
            self._write(visible(f"{self._name()}{count}") + "\n")

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()

    def _describe(self, rate: float | None) -> list[str]:
        """Return the parts of the line, in the order in which they are read."""
        if self.total <= 1:
            return [self._name()]
        parts = [self._name(), f"{self._count(self.done)} of {self._count(self.total)}"]
        if rate is None or self.done >= self.total:
            return parts
        speed = self._count(round(rate)) if rate >= 10 else f"{rate:.1f}"
        return [*parts, f"{speed}/s", f"{show_duration((self.total - self.done) / rate)} left"]

    def _count(self, value: int) -> str:
        return f"{value / 1e6:.1f} MB" if self._in_bytes else f"{value:,}"

    def _name(self) -> str:
        return ": ".join(part for part in (self._label, self.phase) if part)


def fit(parts: list[str], width: int) -> str:
    """Join the parts; where the line is too narrow the rate goes first, then the count."""
    for leave_out in ((), (2,), (1, 2)):
        line = "  ".join(part for place, part in enumerate(parts) if place not in leave_out)
        if len(line) <= width:
            return line
    return line[:width]


def show_duration(seconds: float) -> str:
    """Return a time as people say it: ``8 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def clear_line() -> None:
    """Take away the line that shows progress, where there may be one, before something is said."""
    if sys.stderr.isatty():
        sys.stderr.write(_CLEAR)
        sys.stderr.flush()


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
    stream = sys.stderr if is_live or (verbose and not quiet) else None
    line = ProgressLine(stream, label=label, in_bytes=in_bytes, is_live=is_live)
    try:
        yield line.advance
    except KeyboardInterrupt:
        line.end()
        say(stopped if isinstance(stopped, str) else stopped(line.phase, line.done, line.total))
        raise Exit(INTERRUPTED) from None
    except BaseException:
        line.end()
        raise
    line.end()

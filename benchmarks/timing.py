"""Measurements beside something else of the same run: whole processes, calls, and what is held."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from memory_palace.errors import PalaceError

PEAK_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in which the operating system counts ``ru_maxrss``."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One figure, what it is compared with, and what it is held to."""

    what: str
    value: float | None
    """``None`` where it was not measured; ``note`` says why."""
    unit: str = ""
    beside: str = ""
    baseline: float | None = None
    limit: float | None = None
    """Of the ratio to ``baseline``, or of the value where there is none."""
    at_least: bool = False
    """Whether the limit is the least there may be, not the most."""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Value over baseline."""
        return self.value / self.baseline if self.baseline and self.value is not None else None

    @property
    def figure(self) -> float | None:
        """What is held to the limit."""
        return self.value if self.baseline is None else self.ratio

    @property
    def is_kept(self) -> bool | None:
        """Whether the limit is kept; ``None`` without a limit or a figure."""
        if self.limit is None or self.figure is None:
            return None
        return self.figure >= self.limit if self.at_least else self.figure <= self.limit


@dataclass(frozen=True, slots=True)
class ProcessCost:
    """What one whole process took, or the medians of several."""

    wall_seconds: float
    cpu_seconds: float
    peak_mib: float


def measure_commands(*commands: Sequence[str], runs: int = 5, warmup: int = 1) -> list[ProcessCost]:
    """Return the cost of each command: median seconds, highest peak.

    They run in turn, ``warmup + runs`` times, so that a drift of the machine meets all; the first
    ones do not count. Raise ``PalaceError`` where one fails.
    """
    rounds = [[_run(command) for command in commands] for _ in range(warmup + runs)]
    return [
        ProcessCost(
            median(cost.wall_seconds for cost in costs),
            median(cost.cpu_seconds for cost in costs),
            max(cost.peak_mib for cost in costs),
        )
        for costs in zip(*rounds[warmup:], strict=True)
    ]


def python(code: str, *arguments: str) -> list[str]:
    """Return the command that runs a piece of Python in a fresh interpreter."""
    return [sys.executable, "-c", code, *arguments]


def time_calls(
    *calls: Callable[[], object], runs: int = 50, warmup: int = 0, percentile: float = 50
) -> list[float]:
    """Return a percentile of the milliseconds of each call; they are made in turn."""
    times = np.zeros((warmup + runs, len(calls)))
    for turn in times:
        for place, call in enumerate(calls):
            started = time.perf_counter()
            call()
            turn[place] = (time.perf_counter() - started) * 1000
    found: list[float] = np.percentile(times[warmup:], percentile, axis=0).tolist()
    return found


def _run(command: Sequence[str]) -> ProcessCost:
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    with process:
        errors = process.stderr.read() if process.stderr else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise PalaceError(f"{' '.join(command)[:200]} failed: {errors.strip()[-500:]}")
    seconds = time.perf_counter() - started
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return ProcessCost(seconds, cpu_seconds, peak_mib(usage))


def peak_mib(usage: resource.struct_rusage) -> float:
    """Return the highest memory of a process."""
    return usage.ru_maxrss * PEAK_UNIT / (1 << 20)

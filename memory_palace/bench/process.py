"""Run a command as a whole process and take the operating system's own figures."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from memory_palace.errors import PalaceError


@dataclass(frozen=True, slots=True)
class Cost:
    """Median figures of several runs of one command."""

    wall_seconds: float
    cpu_seconds: float
    peak_mib: float


def measure(
    command: Sequence[str], *, runs: int = 5, cwd: Path | None = None, warmup: int = 1
) -> Cost:
    """Run a command ``warmup + runs`` times; the first ones do not count."""
    costs = [_run(command, cwd) for _ in range(warmup + runs)][warmup:]
    return Cost(
        wall_seconds=median(cost.wall_seconds for cost in costs),
        cpu_seconds=median(cost.cpu_seconds for cost in costs),
        peak_mib=max(cost.peak_mib for cost in costs),
    )


def measure_pair(
    first: Sequence[str], second: Sequence[str], *, runs: int = 5, cwd: Path | None = None
) -> tuple[Cost, Cost]:
    """Measure two commands in turn, so that a drift of the machine meets both."""
    pairs = [(_run(first, cwd), _run(second, cwd)) for _ in range(runs + 1)][1:]
    sides = [[pair[side] for pair in pairs] for side in (0, 1)]
    left, right = (
        Cost(
            median(cost.wall_seconds for cost in side),
            median(cost.cpu_seconds for cost in side),
            max(cost.peak_mib for cost in side),
        )
        for side in sides
    )
    return left, right


def python(code: str, *arguments: str) -> list[str]:
    """Return the command that runs a piece of Python in a fresh interpreter."""
    return [sys.executable, "-c", code, *arguments]


def _run(command: Sequence[str], cwd: Path | None) -> Cost:
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    with process:
        errors = process.stderr.read() if process.stderr else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise PalaceError(f"{' '.join(command)[:200]} failed: {errors.strip()[-500:]}")
    seconds = time.perf_counter() - started
    return Cost(seconds, usage.ru_utime + usage.ru_stime, _mib(usage))


def _mib(usage: resource.struct_rusage) -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_maxrss * unit / (1 << 20)

"""``palace bench workers``: what a build takes when several processes embed, beside one of them."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from memory_palace.bench.generate import scratch_folder
from memory_palace.bench.golden import copy_vault
from memory_palace.bench.scale import command
from memory_palace.bench.timing import Measured
from memory_palace.errors import PalaceError
from memory_palace.palace import Palace

LEAST_RATIO = 1.7


def measure_workers(
    notes: Path, *, embedder: str, counts: Sequence[int], runs: int
) -> Iterator[Measured]:
    """Yield how much longer one process with one thread takes over a copy of notes than others.

    The others are so many workers, and what a build does without the option: it has two threads.
    All builds run in turn, so that a drift of the machine meets all. Raise ``PalaceError`` where
    the indexes are not the same.
    """
    lines = {0: (), 1: ("--workers", "1")} | {n: ("--workers", str(n)) for n in counts}
    seconds: dict[int, list[float]] = {count: [] for count in lines}
    peaks = dict.fromkeys(lines, 0.0)
    with scratch_folder() as root:
        copy_vault(notes, root)
        made = set()
        for _ in range(runs):
            for count, options in lines.items():
                for path in Palace(root).paths.index.glob("*"):
                    path.unlink()
                started = time.perf_counter()
                report = _build(root, "--embedder", embedder, *options)
                seconds[count].append(time.perf_counter() - started)
                peaks[count] = max(peaks[count], report["worker_mib"])
                made.add(tuple(sorted(p.name for p in Palace(root).paths.index.glob("seg-*"))))
        if len(made) > 1:
            raise PalaceError("builds with and without workers are not the same, byte by byte")
    label = f"{report['embedded']:,} passages, {embedder}"
    one = median(seconds[1])
    for count in lines:
        who = f"{count} workers" if count else "one process, two threads"
        if count != 1:
            limit = LEAST_RATIO if count > 1 else None
            what, beside = f"{label}: one process, one thread", f"{who}, the same bytes"
            took = median(seconds[count])
            yield Measured(what, one, "s", beside, took, limit=limit, at_least=True)
    for count in counts:
        yield Measured(f"{label}: largest of {count} workers", peaks[count], "MiB")


def _build(root: Path, *options: str) -> dict[str, float]:
    """Build in a process of its own, as a person would; return what it reports."""
    line = command(root, "index", "--json", *options)
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PalaceError(f"{' '.join(line)} failed: {done.stderr.strip()[-500:]}")
    report: dict[str, float] = json.loads(done.stdout)
    return report

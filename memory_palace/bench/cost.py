"""What a run cost: seconds of making vectors and indexes, seconds of asking, and peak memory."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from memory_palace.bench.timing import peak_mib
from memory_palace.storage.atomic import write_atomic

_RESET_PEAK = b"5"
"""Written to ``/proc/self/clear_refs``, sets the peak to what is held now (proc(5))."""


@dataclass(frozen=True, slots=True)
class RunCost:
    """What the answers of a run took to find, whichever processes found them."""

    questions: int = 0
    """How many answers these figures cover: fewer than there are where a process was killed."""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of ranking alone."""
    prepare_wall_seconds: float = 0.0
    prepare_cpu_seconds: float = 0.0
    """Of embedding, and of making or opening indexes. Small where an earlier run made them."""
    peak_mib: float = 0.0
    """Of the process while it was at this run; see ``Meter``."""

    def __add__(self, other: RunCost) -> RunCost:
        """Join the costs of two processes that worked on one run."""
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return RunCost(**sums | {"peak_mib": max(self.peak_mib, other.peak_mib)})


class Meter:
    """Measures one run within a process.

    On Linux the peak of memory is set back when measuring begins, so that of several systems in
    one process each has its own. Elsewhere it is that of the whole process so far.
    """

    def __init__(self) -> None:
        self._questions = 0
        self._asking = [0.0, 0.0]
        self._preparing = [0.0, 0.0]
        self._can_reset = _reset_peak()

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Count what happens inside as embedding and indexing."""
        with _timed(self._preparing):
            yield

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Count what happens inside as ranking for one question."""
        with _timed(self._asking):
            yield
        self._questions += 1

    def read(self) -> RunCost:
        """Return the figures so far."""
        peak = _peak_since_reset() if self._can_reset else _peak_of_process()
        (wall, cpu), (prepare_wall, prepare_cpu) = self._asking, self._preparing
        return RunCost(self._questions, wall, cpu, prepare_wall, prepare_cpu, peak)


def write_cost(path: Path, cost: RunCost, *, configuration: str) -> None:
    """Keep a cost, and of which configuration it is."""
    record = {"configuration": configuration, **asdict(cost)}
    write_atomic(path, json.dumps(record, sort_keys=True).encode())


def read_cost(path: Path, *, configuration: str) -> RunCost:
    """Return what is kept of this configuration; nothing where there is none of it."""
    try:
        record = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return RunCost()
    if not isinstance(record, dict) or record.pop("configuration", None) != configuration:
        return RunCost()
    return RunCost(**record)


@contextmanager
def _timed(total: list[float]) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        total[0] += time.perf_counter() - wall
        total[1] += time.process_time() - cpu


def _reset_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_bytes(_RESET_PEAK)
    except OSError:
        return False
    return True


def _peak_since_reset() -> float:
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return _peak_of_process()


def _peak_of_process() -> float:
    return peak_mib(resource.getrusage(resource.RUSAGE_SELF))

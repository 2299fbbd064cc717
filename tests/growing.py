"""Tell work that grows with a text from work that grows with its square, on any machine."""

import gc
import time
from collections.abc import Callable

TIMES_LONGER = 8
MOST_TIMES_SLOWER = 24
"""Between 8, which is linear, and 64, which is a square."""
_TRIES = 5
_LEAST_SECONDS = 0.002
"""Below this the clock and the allocator are measured."""


def assert_linear(run: Callable[[int], object], size: int) -> None:
    """Fail where ``run(8 * size)`` takes more than 24 times the CPU time of ``run(size)``.

    The best of up to five runs of each counts: a busy machine makes single ones slow.
    """
    small = large = float("inf")
    for _ in range(_TRIES):
        small = min(small, max(_seconds(run, size), _LEAST_SECONDS))
        large = min(large, _seconds(run, TIMES_LONGER * size))
        if large <= MOST_TIMES_SLOWER * small:
            return
    raise AssertionError(f"{TIMES_LONGER} times the text takes {large / small:.0f} times as long")


def _seconds(run: Callable[[int], object], size: int) -> float:
    gc.disable()  # as timeit does: what other tests hold would be looked through again and again
    try:
        started = time.process_time()
        run(size)
        return time.process_time() - started
    finally:
        gc.enable()

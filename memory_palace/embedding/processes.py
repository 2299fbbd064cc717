"""Processes of this machine that embed passages, one thread each; they map the same weights."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from threading import Thread
from typing import Self

from memory_palace.embedding.base import Embedder
from memory_palace.embedding.workers import Made, Promise, make_vectors
from memory_palace.errors import PalaceError
from memory_palace.models import Matrix


class Processes:
    """So many processes, started as work comes, ended with this one whatever ends it.

    They are spawned, not forked: this process may have threads. So a script that asks for them
    keeps the call below ``if __name__ == "__main__"``.
    """

    def __init__(self, count: int) -> None:
        self.count, self.ahead, self.peak_mib = count, 2 * count, 0.0
        context = get_context("spawn")
        ends, self._alive = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(count, context, _begin, (ends,))

    def ask(self, embedder: Embedder, texts: Sequence[str]) -> Promise:
        """Give the texts to the next process that is free."""
        with _naming_death(), _without_interrupts():
            future = self._pool.submit(make_vectors, embedder.name, embedder.fingerprint, texts)
        return partial(self._wait, future)

    def _wait(self, future: Future[Made]) -> Matrix:
        with _naming_death():
            made = future.result()
        self.peak_mib = max(self.peak_mib, made.peak_mib)
        return made.vectors

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *what: object) -> None:
        """End the processes: at once where the build has failed or was stopped."""
        if kind is not None:
            self._alive.close()
        self._pool.shutdown(cancel_futures=True)
        self._alive.close()


@contextmanager
def _naming_death() -> Iterator[None]:
    """Say in one line that a worker was killed, or had no memory left."""
    try:
        yield
    except (BrokenProcessPool, MemoryError) as error:
        raise PalaceError(
            "a worker was killed or ran out of memory; what others embedded is kept: run "
            "`palace index` to go on, with fewer --workers where memory is short"
        ) from error


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach: this one ends them, in words of its own.

    The signals that a thread blocks are blocked in what it starts, from its first instruction on.
    """
    if os.name == "nt":  # pragma: no cover - tested on Linux and macOS only
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(ends: Connection) -> None:
    """End this worker when the build ends or dies: then the other end of the pipe is closed."""

    def follow() -> None:
        wait_for([ends])
        os._exit(1)

    Thread(target=follow, daemon=True).start()

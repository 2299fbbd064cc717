"""Processes of this machine that embed passages, one thread each; they map the same weights."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from tempfile import TemporaryFile
from typing import IO, Any, Self

from memory_palace.embedding.base import Embedder
from memory_palace.embedding.workers import Made, Promise
from memory_palace.errors import PalaceError
from memory_palace.models import Matrix

_PATIENCE_SECONDS = 600.0
"""Nobody waits longer for one answer, which takes a second or two."""
_END_SECONDS = 5.0
"""From its last word to its end."""
_PROGRAM = "import sys; sys.path[:] = {}; from memory_palace.embedding.worker import main; main()"
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_RESUME = (
    "what was embedded is kept: run `palace index` to go on, with fewer --workers where memory "
    "is short"
)


class Processes:
    """So many processes, started with the first work, ended with this one whatever ends it.

    Each has a thread here that gives it a task and waits for its answer, so that none waits for the
    notes that this process reads.
    """

    def __init__(self, count: int) -> None:
        self.count, self.ahead, self.peak_mib = count, 2 * count, 0.0
        self._threads = ThreadPoolExecutor(count)
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._started: list[_Worker] = []

    def ask(
        self, embedder: Embedder, texts: Sequence[str], *, are_questions: bool = False
    ) -> Promise:
        """Give the texts to the next process that is free."""
        task = (embedder.name, embedder.fingerprint, list(texts), are_questions)
        try:
            while len(self._started) < self.count:
                self._started.append(_Worker())
                self._idle.put(self._started[-1])
            future = self._threads.submit(self._embed, task)
        except (OSError, RuntimeError) as error:  # no process, or no thread, can be started
            raise PalaceError(f"no worker can be started: {error}; {_RESUME}") from error
        return partial(self._wait, future)

    def _embed(self, task: tuple[Any, ...]) -> Made:
        worker = self._idle.get()
        try:
            return worker.ask(task)
        finally:
            self._idle.put(worker)

    def _wait(self, future: Future[Made]) -> Matrix:
        try:
            made = future.result(_PATIENCE_SECONDS)
        except TimeoutError:
            raise PalaceError(
                f"no worker has answered for {_PATIENCE_SECONDS:g} seconds; {_RESUME}"
            ) from None
        self.peak_mib = max(self.peak_mib, made.peak_mib)
        return made.vectors

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *what: object) -> None:
        """End the processes at once: whatever they still do, nobody waits for."""
        for worker in self._started:
            worker.process.kill()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._started:
            worker.close()


class _Worker:
    """One process; Ctrl-C does not reach it, as it has a group of its own."""

    def __init__(self) -> None:
        self._errors: IO[bytes] = TemporaryFile()  # noqa: SIM115 - it lives as long as this
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM.format(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**os.environ, **_ONE_THREAD},
                process_group=None if os.name == "nt" else 0,
            )
        except OSError:
            self._errors.close()
            raise

    def ask(self, task: tuple[Any, ...]) -> Made:
        """Return the answer; raise ``PalaceError`` for a task that failed, or a process that did.

        A process that is gone in the middle of an answer leaves a pickle that ends early.
        """
        tasks, answers = self.process.stdin, self.process.stdout
        try:
            pickle.dump(task, tasks, pickle.HIGHEST_PROTOCOL)  # type: ignore[arg-type]
            tasks.flush()  # type: ignore[union-attr]
            answer: Made | PalaceError = pickle.load(answers)  # type: ignore[arg-type]
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise PalaceError(f"a worker {self._tell_end()}; {_RESUME}") from error
        if isinstance(answer, PalaceError):
            raise answer
        return answer

    def _tell_end(self) -> str:
        """Say how the process ended: by a signal, or by what the last line says that it wrote."""
        try:
            status = self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        if status < 0:
            return f"was killed ({signal.Signals(-status).name})"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        said = next((line for line in reversed(lines) if line.strip()), f"status {status}")
        return f"failed: {said}"

    def close(self) -> None:
        """Wait for its end, and close what led to it."""
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self._errors):
            with suppress(OSError):  # what was never sent
                pipe.close()  # type: ignore[union-attr]

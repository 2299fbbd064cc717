"""The lines of the protocol, read and written without trust in either end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Self, TypeVar

MOST_LINE_BYTES = 8 << 20
_PIECE_BYTES = 1 << 16


class LineInput:
    """What comes in at a descriptor, line by line; what is too long comes as an empty line."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._received = bytearray()

    def read(self) -> bytes | None:
        """Return the next line without its end, ``None`` at the end of the input.

        A last line may lack its end.
        """
        is_too_long, looked = False, 0
        while (end := self._received.find(b"\n", looked)) < 0:
            looked = len(self._received)
            if looked > MOST_LINE_BYTES:
                is_too_long, looked = True, 0
                self._received.clear()
            try:
                piece = os.read(self._descriptor, _PIECE_BYTES)
            except OSError:
                piece = b""
            if not piece:
                if not self._received and not is_too_long:
                    return None
                end = len(self._received)
                break
            self._received += piece
        line = b"" if is_too_long else bytes(self._received[:end])
        del self._received[: end + 1]
        return line


T = TypeVar("T")


class Apart:
    """A thread that does one thing after the other, and that the end of the process waits for not.

    The threads of ``anyio`` hold it up, and one always waits for input. A thread for each thing
    would make the memory of the process grow: each may get a pool of its own.
    """

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        Thread(target=self._work, name=name, daemon=True).start()

    async def run(self, work: Callable[[], T]) -> T:
        """Do something, after all that was asked before.

        What is cancelled while it waits is never begun; what is cancelled later ends by itself.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def do() -> None:
            if done.cancelled():
                return
            settle: Callable[[], None]
            try:
                settle = partial(done.set_result, work())
            except BaseException as error:  # it is raised where it is waited for
                settle = partial(done.set_exception, error)
            with suppress(RuntimeError):  # the session has ended
                loop.call_soon_threadsafe(_settle, done, settle)

        self._jobs.put(do)
        return await done

    def _work(self) -> None:
        while True:
            self._jobs.get()()


def _settle(done: asyncio.Future[T], settle: Callable[[], None]) -> None:
    if not done.done():  # else it was cancelled
        settle()


class LineReader:
    """What a client sends, line by line; what is too long comes as an empty line."""

    def __init__(self, descriptor: int, *, finish: Callable[[], Awaitable[None]]) -> None:
        """``finish`` is waited for at the end of the input, before anything is closed."""
        self._input, self._finish = LineInput(descriptor), finish
        self._apart = Apart("reader")

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        line = await self._apart.run(self._input.read)
        if line is None:
            await self._finish()
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


class LineWriter:
    """Where answers go. A client that is gone ends the session."""

    def __init__(self, descriptor: int, *, end: Callable[[], None]) -> None:
        self._descriptor, self._end = descriptor, end
        self._apart = Apart("writer")

    async def write(self, text: str) -> None:
        """Send a text, in a thread: a client that does not read stops nobody else."""
        data = text.encode("utf-8", "replace")
        try:
            await self._apart.run(lambda: self._write(data))
        except OSError:
            self._end()

    async def flush(self) -> None:
        """Do nothing: what is written is sent."""

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._descriptor, left) :]

"""The lines of the protocol, read and written without trust in either end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Thread
from typing import Self, TypeVar

T = TypeVar("T")
MOST_LINE_BYTES = 8 << 20
_PIECE_BYTES = 1 << 16


async def run_apart(work: Callable[[], T]) -> T:
    """Do something in a thread that nobody has to wait for: cancelled, it goes on and is forgotten.

    The threads of ``anyio`` hold up the end of the process, and one always waits for input.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(result)  # type: ignore[arg-type]  # what work returned
        else:
            done.set_exception(error)

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except BaseException as raised:  # it is raised where it is waited for
            error = raised
        with suppress(RuntimeError):  # the session has ended
            loop.call_soon_threadsafe(settle, result, error)

    Thread(target=run, daemon=True).start()
    return await done


class LineReader:
    """What a client sends, line by line; what is too long comes as an empty line."""

    def __init__(self, descriptor: int, *, finish: Callable[[], Awaitable[None]]) -> None:
        """``finish`` is waited for at the end of the input, before anything is closed."""
        self._descriptor, self._finish = descriptor, finish
        self._received = bytearray()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        line = await run_apart(self._read_line)
        if line is None:
            await self._finish()
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")

    def _read_line(self) -> bytes | None:
        """Return the next line, ``None`` at the end of the input; runs in a thread."""
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
                return None
            self._received += piece
        line = b"" if is_too_long else bytes(self._received[:end])
        del self._received[: end + 1]
        return line


class LineWriter:
    """Where answers go. A client that is gone ends the session."""

    def __init__(self, descriptor: int, *, end: Callable[[], None]) -> None:
        self._descriptor, self._end = descriptor, end

    async def write(self, text: str) -> None:
        """Send a text, in a thread: a client that does not read stops nobody else."""
        data = text.encode("utf-8", "replace")
        try:
            await run_apart(lambda: self._write(data))
        except OSError:
            self._end()

    async def flush(self) -> None:
        """Do nothing: what is written is sent."""

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._descriptor, left) :]

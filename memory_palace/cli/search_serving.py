"""``palace seek serve``: JSON lines in, JSON lines out, until somebody ends it."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from memory_palace.agents.line_input import LineInput
from memory_palace.cli.mcp import take_streams
from memory_palace.cli.printing import say
from memory_palace.cli.search_requests import Requests
from memory_palace.cli.serving.unchanged import KnownFreshness
from memory_palace.palace import Palace


class _Ending:
    """Ends the wait for a line at once on a signal, and a request when it is answered."""

    def __init__(self) -> None:
        self.is_asked = self._is_waiting = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def read(self, lines: LineInput) -> bytes | None:
        """Return the next line; ``None`` at the end of the input, or when it is to end."""
        try:
            self._is_waiting = True  # before it is asked: a signal in between must not be lost
            line = None if self.is_asked else lines.read()
            self._is_waiting = False
        except SystemExit:
            return None
        return line

    def _ask(self, number: int, frame: FrameType | None) -> None:
        is_first, self.is_asked = not self.is_asked, True
        if is_first and self._is_waiting:
            raise SystemExit


def serve(palace: Palace) -> None:
    """Answer each line of stdin with one on stdout; nothing else is written there."""
    if sys.stdin.isatty():
        say(
            'waiting for requests such as {"do": "step"}; references/guided_search.md has a session'
        )
    reads, writes = take_streams()
    palace.check_freshness = KnownFreshness().check
    lines, requests, ending = LineInput(reads), Requests(palace), _Ending()
    while not requests.is_over and (line := ending.read(lines)) is not None:
        try:
            _write(writes, requests.answer(line))
        except BrokenPipeError:  # whoever asked has gone
            return


def _write(descriptor: int, text: str) -> None:
    left = memoryview(f"{text}\n".encode("utf-8", "replace"))
    while left:
        left = left[os.write(descriptor, left) :]

"""Lines that another program sends, read without trust in it."""

from __future__ import annotations

import os

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

"""Ask the resident server of a palace before anything else is imported.

Whatever is odd (another version, no answer in time, an answer that breaks off) ends in ``None``,
and the command runs here. Nothing is printed before the whole answer is there.
"""

from __future__ import annotations

import io
import os
import sys
from _socket import AF_UNIX, SOCK_STREAM
from _socket import socket as Socket  # noqa: N812 - the module socket takes 3 ms

from memory_palace.cli.app import INTERRUPTED
from memory_palace.places import is_private
from memory_palace.server.resident import (
    MOST_REPLY_BYTES,
    MOST_REQUEST_BYTES,
    VERSION,
    decode,
    encode,
    pick_fixed,
    pick_shown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

WAIT_SECONDS = 5.0
"""For the whole of an answer, or a piece of it; a server that takes longer is passed by."""
PATIENT_SECONDS = 300.0
"""For one that a cross-encoder orders: to compute that here would take as long again."""
_PIECE_BYTES = 1 << 20
_STREAMS = {1: 1, 2: 2}


def ask_server(address: str, arguments: Sequence[str]) -> int | None:
    """Print what the server answers, and return the exit status; ``None``: run the command here.

    Standard input is read where the command would read it, and put back where no answer follows.
    Raise ``OSError`` where printing fails.
    """
    try:
        found = exchange(address, arguments)
        if found is None:
            return None
        status, parts = found
        streams = {1: sys.stdout, 2: sys.stderr}
        for number, text in parts:
            streams[number].write(text)
            streams[number].flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def exchange(
    address: str, arguments: Sequence[str], stdin: str | None = None
) -> tuple[int, list[tuple[int, str]]] | None:
    """Return exit status and what is to be printed on stream 1 or 2; ``None`` where it is odd.

    ``stdin`` is the text of standard input, where somebody has read it already.
    """
    try:
        if not is_private(os.path.dirname(address)):  # noqa: PTH120
            return None
        reply = _exchange(address, arguments, stdin)
        if reply.get("refused") == "stdin":
            text = sys.stdin.read()
            sys.stdin = io.StringIO(text)
            reply = _exchange(address, arguments, text)
        if reply.get("v") != VERSION or "refused" in reply:
            return None
        return int(reply["status"]), [(_STREAMS[n], str(text)) for n, text in reply["parts"]]
    except ConnectionRefusedError:
        from memory_palace.server.claiming import clear_left  # delayed: it was killed

        clear_left(address)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass  # the command tells whatever is wrong with what it was given
    return None


def _exchange(address: str, arguments: Sequence[str], stdin: str | None) -> dict[str, Any]:
    """Return the reply to a command line; raise where there is none in time."""
    request = encode(
        {
            "v": VERSION,
            "args": list(arguments),
            "cwd": os.getcwd(),  # noqa: PTH109
            "env": {**pick_shown(os.environ), **pick_fixed(os.environ)},
            "stdin": stdin,
            "width": _measure_width(),
            "tty": {
                "in": _is_terminal(sys.stdin),
                "out": _is_terminal(sys.stdout),
                "err": _is_terminal(sys.stderr),
            },
        }
    )
    if len(request) > MOST_REQUEST_BYTES:
        raise ValueError("no message is that long")
    server = Socket(AF_UNIX, SOCK_STREAM)
    try:
        is_slow = any(argument.startswith("--rerank") for argument in arguments)
        server.settimeout(PATIENT_SECONDS if is_slow else WAIT_SECONDS)
        server.connect(address)
        left = memoryview(request)
        while left:
            left = left[server.send(left) :]
        return decode(_receive(server))
    finally:
        server.close()


def _receive(server: Socket) -> bytes:
    """Return one line; raise ``EOFError`` where it breaks off or has no end."""
    pieces: list[bytes] = []
    while not (pieces and pieces[-1].endswith(b"\n")):
        piece = server.recv(_PIECE_BYTES)
        if not piece or len(pieces) * _PIECE_BYTES > MOST_REPLY_BYTES:
            raise ConnectionError("the answer breaks off")
        pieces.append(piece)
    return b"".join(pieces)


def _is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()


def _measure_width() -> int | None:
    """Return the columns of the terminal on which the command prints; ``None`` without one."""
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
    except (OSError, ValueError, AttributeError):
        return None

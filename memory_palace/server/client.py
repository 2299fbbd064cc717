"""The messages of the resident server, and the client that asks it before anything is imported.

A message is one line of JSON. A request is ``{"v", "args", "cwd", "env", "stdin", "width",
"tty"}``: the command line after ``palace``, the working folder, ``pick_shown`` and ``pick_fixed``
of the environment, the text of standard input or ``null`` where it was not read, the columns of
the terminal or ``null``, and ``{"in", "out", "err"}``: whether each is a terminal. The reply is
``{"v", "status", "parts"}`` with ``[1, text]`` and ``[2, text]`` for stdout and stderr in the order
in which they are written, or ``{"v", "refused"}`` with a reason; then the client runs the command
itself. Where the reason is ``"restart"`` the server has ended, and where it is ``"stdin"`` the
command reads standard input: the client asks again and sends it.

Python's own C modules are all that is imported here: ``json``, ``socket`` and ``pathlib`` each take
as long to import as Python to start.
"""

from __future__ import annotations

import _socket  # the module socket takes 3 ms
import io
import os
import sys
from _json import encode_basestring_ascii, make_encoder, make_scanner

from memory_palace import __version__
from memory_palace.places import is_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

VERSION = f"1 {__version__}"
"""Version of the messages and of the package. A server of another version ends and is restarted."""
MOST_REQUEST_BYTES = 4 << 20
MOST_REPLY_BYTES = 64 << 20
WAIT_SECONDS = 5.0
"""Timeout of a socket operation; after it the client runs the command itself."""
PATIENT_SECONDS = 300.0
"""Timeout with ``--rerank``: running the cross-encoder here would take as long again."""
_PIECE_BYTES = 1 << 20
_STREAMS = {1: 1, 2: 2}
_SHOWN = frozenset(
    "COLUMNS LINES NO_COLOR FORCE_COLOR TERM COLORTERM TTY_COMPATIBLE TTY_INTERACTIVE "
    "KITTY_WINDOW_ID LANG LANGUAGE TZ PALACE_ROOT PALACE_NO_SERVE PALACE_AGENT".split()
)
_FIXED = frozenset("HOME XDG_CONFIG_HOME XDG_CACHE_HOME HF_HOME HF_HUB_CACHE".split())


def pick_shown(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that determine the look of an answer; they may vary per request."""
    return {k: v for k, v in environ.items() if k in _SHOWN or k.startswith("LC_")}


def pick_fixed(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that locate models and settings; a server has one set of them."""
    return {
        name: value
        for name, value in environ.items()
        if name in _FIXED or (name.startswith("PALACE_") and name not in _SHOWN)
    }


def encode(record: Mapping[str, Any]) -> bytes:
    """Encode a message as one line of JSON, ASCII only, so that lone surrogates survive."""
    return ("".join(_encoder(record, 0)) + "\n").encode()


def decode(line: bytes) -> dict[str, Any]:
    """Parse a message; raise ``ValueError`` or ``RecursionError`` if it is malformed."""
    text = line.decode()
    try:
        value, end = _scan(text, 0)
    except (StopIteration, SystemError) as error:  # SystemError: json is not imported
        raise ValueError("a message is one JSON object on one line") from error
    if not isinstance(value, dict) or text[end:] not in ("", "\n"):
        raise ValueError("a message is one JSON object on one line")
    return value


def _refuse(value: Any) -> Any:
    raise ValueError(f"{value!r:.40} has no place in a message")


class _Plain:
    """The attributes of ``json.JSONDecoder`` that the C scanner reads, without importing it."""

    strict, object_hook, object_pairs_hook = True, None, None
    parse_float, parse_int, parse_constant = float, int, staticmethod(_refuse)


_scan = make_scanner(_Plain())  # type: ignore[arg-type]
_encoder = make_encoder(
    None, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, False
)


def ask_server(address: str, arguments: Sequence[str]) -> int | None:
    """Print a server's answer and return the exit status; ``None``: run the command here.

    Nothing is printed before the answer is complete. Raise ``OSError`` if printing fails.
    """
    found = exchange(address, arguments)
    if found is None:
        return None
    status, parts = found
    streams = {1: sys.stdout, 2: sys.stderr}
    for number, text in parts:
        streams[number].write(text)
        streams[number].flush()
    return status


def exchange(
    address: str, arguments: Sequence[str], stdin: str | None = None
) -> tuple[int, list[tuple[int, str]]] | None:
    """Send a command to the server; return its exit status and its texts by stream, 1 or 2.

    ``None`` for any failure: another version, a timeout, an incomplete answer. ``stdin`` is the
    text of standard input, if it was read already; otherwise it is read when the server asks for
    it, and left in ``sys.stdin`` for a command that runs here.
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
        from memory_palace.server.starting import clear_left  # delayed: it was killed

        clear_left(address)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass  # the command itself reports errors of its input
    return None


def _exchange(address: str, arguments: Sequence[str], stdin: str | None) -> dict[str, Any]:
    """Return the server's reply to a command line; raise ``OSError`` if none comes in time."""
    try:
        width = os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
    except (OSError, ValueError, AttributeError):
        width = None
    streams = {"in": sys.stdin, "out": sys.stdout, "err": sys.stderr}
    request = encode(
        {
            "v": VERSION,
            "args": list(arguments),
            "cwd": os.getcwd(),  # noqa: PTH109
            "env": {**pick_shown(os.environ), **pick_fixed(os.environ)},
            "stdin": stdin,
            "width": width,
            "tty": {name: bool(one and one.isatty()) for name, one in streams.items()},
        }
    )
    if len(request) > MOST_REQUEST_BYTES:
        raise ValueError("no message is that long")
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        is_slow = any(argument.startswith("--rerank") for argument in arguments)
        server.settimeout(PATIENT_SECONDS if is_slow else WAIT_SECONDS)
        server.connect(address)
        left = memoryview(request)
        while left:
            left = left[server.send(left) :]
        pieces: list[bytes] = []
        while not (pieces and pieces[-1].endswith(b"\n")):
            piece = server.recv(_PIECE_BYTES)
            if not piece or len(pieces) * _PIECE_BYTES > MOST_REPLY_BYTES:
                raise ConnectionError("the answer breaks off")
            pieces.append(piece)
        return decode(b"".join(pieces))
    finally:
        server.close()

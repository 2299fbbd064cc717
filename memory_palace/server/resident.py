"""How the resident server of a palace is talked to; where it is, ``memory_palace.places`` says.

A client imports this before anything else: it needs the standard library's C modules only,
because ``json``, ``socket`` and ``pathlib`` each take as long to import as Python to start.

A request is one line: ``{"v", "args", "cwd", "env", "stdin", "width", "tty"}``: the command line
after ``palace``, the working folder, ``pick_shown`` and ``pick_fixed`` of the environment, the
text of standard input or ``null`` where it was not read, the columns of the terminal or ``null``,
and ``{"in", "out", "err"}``: whether each is a terminal. The reply is one line too: ``{"v",
"status", "parts"}`` with ``[1, text]`` and ``[2, text]`` for stdout and stderr in the order in
which they are written, or ``{"v", "refused"}`` with a reason; then the client runs the command
itself. Where the reason is ``"restart"`` the server has ended, and where it is ``"stdin"`` the
command reads standard input: the client asks again and sends it.
"""

from __future__ import annotations

from _json import encode_basestring_ascii, make_encoder, make_scanner

from memory_palace import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VERSION = f"1 {__version__}"
"""Of the messages and of the package. A server that is of another ends, and is started again."""

MOST_REQUEST_BYTES = 4 << 20
MOST_REPLY_BYTES = 64 << 20
_SHOWN = frozenset(
    "COLUMNS LINES NO_COLOR FORCE_COLOR TERM COLORTERM TTY_COMPATIBLE TTY_INTERACTIVE "
    "KITTY_WINDOW_ID LANG LANGUAGE TZ PALACE_ROOT PALACE_NO_SERVE PALACE_AGENT".split()
)
_FIXED = frozenset("HOME XDG_CONFIG_HOME XDG_CACHE_HOME HF_HOME HF_HUB_CACHE".split())


def pick_shown(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that may differ from request to request: how an answer looks."""
    return {k: v for k, v in environ.items() if k in _SHOWN or k.startswith("LC_")}


def pick_fixed(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that say where models and settings are: a server has one set of them."""
    return {
        name: value
        for name, value in environ.items()
        if name in _FIXED or (name.startswith("PALACE_") and name not in _SHOWN)
    }


def encode(record: Mapping[str, Any]) -> bytes:
    """Return a message: one line of JSON, ASCII only, so that lone surrogates survive."""
    return ("".join(_encoder(record, 0)) + "\n").encode()


def decode(line: bytes) -> dict[str, Any]:
    """Read a message; raise ``ValueError`` or ``RecursionError`` for what is none."""
    text = line.decode()
    try:
        value, end = _scan(text, 0)
    except (StopIteration, SystemError) as error:  # the second where json is not imported
        raise ValueError("a message is one JSON object on one line") from error
    if not isinstance(value, dict) or text[end:] not in ("", "\n"):
        raise ValueError("a message is one JSON object on one line")
    return value


def _refuse(value: Any) -> Any:
    raise ValueError(f"{value!r:.40} has no place in a message")


class _Plain:
    """What the C scanner asks of ``json.JSONDecoder``, without importing it."""

    strict, object_hook, object_pairs_hook = True, None, None
    parse_float, parse_int, parse_constant = float, int, staticmethod(_refuse)


_scan = make_scanner(_Plain())  # type: ignore[arg-type]
_encoder = make_encoder(
    None, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, False
)

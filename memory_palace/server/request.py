"""What a client asks: read and checked before anything is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from memory_palace.places import SERVED
from memory_palace.server.resident import pick_fixed, pick_shown

_MOST_COLUMNS = 10_000
_STREAMS = ("in", "out", "err")


class Refused(BaseException):
    """The client has to run the command itself. No command may catch it, so it is no Exception."""


@dataclass(frozen=True, slots=True)
class Request:
    """One command line, and the terminal it was typed in."""

    args: tuple[str, ...]
    cwd: str
    shown: Mapping[str, str]
    """The variables that say how an answer looks."""
    fixed: Mapping[str, str]
    """The variables that say where models and settings are."""
    stdin: str | None
    """``None`` where the client has not read its standard input."""
    width: int | None
    """Columns of the terminal that stdout is."""
    terminals: tuple[bool, bool, bool]
    """Whether stdin, stdout and stderr are terminals."""


def read_request(message: Mapping[str, Any]) -> Request:
    """Return what a message asks; raise ``ValueError`` for what no client of ours sends."""
    args, cwd, width = message.get("args"), message.get("cwd"), message.get("width")
    environ, stdin, tty = message.get("env"), message.get("stdin"), message.get("tty")
    if not isinstance(args, list) or not all(map(_is_argument, args)):
        raise ValueError("args must be a list of texts")
    if not _is_argument(cwd) or not cwd.startswith("/"):
        raise ValueError("cwd must be an absolute path")
    if not isinstance(environ, dict) or not all(
        _is_argument(text) and text and "=" not in name
        for name, value in environ.items()
        for text in (name, value or "-")
    ):
        raise ValueError("env must map names to texts")
    if not (stdin is None or isinstance(stdin, str)):
        raise ValueError("stdin must be a text or null")
    if not (width is None or (type(width) is int and 0 < width <= _MOST_COLUMNS)):
        raise ValueError("width must be a number of columns or null")
    if not isinstance(tty, dict) or any(type(tty.get(name)) is not bool for name in _STREAMS):
        raise ValueError("tty must say of in, out and err whether they are terminals")
    terminals = (tty["in"], tty["out"], tty["err"])
    shown, fixed = pick_shown(environ), pick_fixed(environ)
    return Request(tuple(args), cwd, shown, fixed, stdin, width, terminals)


def _is_argument(value: Any) -> TypeGuard[str]:
    """Whether a value can be an argument of a process: text that the system can encode."""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def find_verb(args: Sequence[str]) -> str | None:
    """Return the verb of a command line that a server answers; ``None`` for any other."""
    place = 0
    while place < len(args) and args[place].startswith("-"):
        if args[place] in ("-C", "--root"):
            place += 2
        elif args[place].startswith(("-C", "--root=")):
            place += 1
        else:
            return None
    verb = args[place] if place < len(args) else ""
    return verb if verb in SERVED else None

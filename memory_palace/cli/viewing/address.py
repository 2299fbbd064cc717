"""Where the page is: a port of this machine and a token, both kept for the next start.

A page that is open finds a server again that was ended and started: same port, same token. They are
kept where the sockets are, for the user alone, on a folder that many systems empty when he logs
out; a token is good for one port and one day. Without such a folder each start has new ones.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe

from memory_palace.cli.viewing.door import Answer, Door
from memory_palace.errors import UsageError
from memory_palace.places import socket_path
from memory_palace.storage.atomic import write_atomic

_TOKEN_BYTES = 24
_KEPT_SECONDS = 24 * 3600.0
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")


@dataclass(frozen=True, slots=True)
class KeptAddress:
    """The port that was last used, and the token that was good there."""

    port: int
    token: str
    made: float
    """Seconds since 1970."""


@contextmanager
def open_door(root: str, port: int, answer: Answer, *, now: float) -> Iterator[Door]:
    """Listen on a port, 0 for the last one or any; forget nothing when it ends.

    ``root`` is absolute, with its links resolved. Raise ``UsageError`` where the port is taken.
    """
    with _keeping(root) as file:
        kept = _read(file, now)
        with _bind(port, kept, answer, now) as (door, used):
            if file is not None:
                record = {"made": used.made, "port": used.port, "token": used.token}
                write_atomic(file, json.dumps(record).encode())
            yield door


@contextmanager
def _bind(
    port: int, kept: KeptAddress | None, answer: Answer, now: float
) -> Iterator[tuple[Door, KeptAddress]]:
    door = None
    if kept is not None and port in (0, kept.port):
        with suppress(OSError):  # another has it now, and may know the token
            door = Door(kept.port, kept.token, answer)
    if door is None:
        kept = None
        try:
            door = Door(port, token_urlsafe(_TOKEN_BYTES), answer)
        except OSError as error:
            raise UsageError(
                f"port {port} cannot be used: {error.strerror}; leave --port out for a free one"
            ) from error
    with door:
        yield door, kept or KeptAddress(door.port, door.token, now)


@contextmanager
def _keeping(root: str) -> Iterator[Path | None]:
    """Yield the file of what is kept; ``None`` where another live page of the palace has it."""
    if os.name != "posix":
        yield None
        return
    from fcntl import LOCK_EX, LOCK_NB, flock  # delayed: not every system has it

    from memory_palace.cli.serving.claiming import make_private

    file = Path(socket_path(root, os.environ).removesuffix(".sock") + ".page")
    make_private(str(file.parent))
    lock = os.open(file.with_suffix(".page-lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        flock(lock, LOCK_EX | LOCK_NB)
    except OSError:
        os.close(lock)
        yield None
        return
    try:
        yield file
    finally:
        os.close(lock)


def _read(file: Path | None, now: float) -> KeptAddress | None:
    """Return what was kept; ``None`` for what is too old, or is not what was written."""
    try:
        record = json.loads(file.read_bytes()) if file is not None else None
        kept = KeptAddress(**record) if isinstance(record, Mapping) else None
        if kept is None or not _TOKEN.fullmatch(kept.token):
            return None
        is_good = 0 < int(kept.port) < 1 << 16 and 0 <= now - float(kept.made) < _KEPT_SECONDS
    except (OSError, ValueError, TypeError):
        return None
    return kept if is_good else None

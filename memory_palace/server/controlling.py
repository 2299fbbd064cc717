"""Ask a server how it is, and end it."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from memory_palace.errors import PalaceError
from memory_palace.places import is_private, socket_path
from memory_palace.server.claiming import lock_path, read_holder
from memory_palace.server.resident import VERSION, decode, encode

_ANSWER_SECONDS = 2.0
_END_SECONDS = 8.0
"""Longer than a server waits for what it was asked."""
_START_SECONDS = 30.0
"""On a busy machine, with a large model."""
_POLL_SECONDS = 0.02


def ask_status(root: str, environ: Mapping[str, str]) -> dict[str, Any] | None:
    """Return what the server of a palace says of itself; ``None`` where there is none."""
    return _talk(socket_path(root, environ), "status")


def stop_server(root: str, environ: Mapping[str, str]) -> bool:
    """End the server of a palace, whatever it does, and wait; whether there was one."""
    path = socket_path(root, environ)
    holder = read_holder(lock_path(path))
    if holder is None:
        return False
    _talk(path, "stop")
    for number in (signal.SIGTERM, signal.SIGKILL):
        if _has_ended(path, holder):
            return True
        with suppress(ProcessLookupError):
            os.kill(holder["pid"], number)
    if not _has_ended(path, holder):
        raise PalaceError(f"process {holder['pid']} does not end")
    return True


def wait_for_server(root: str, environ: Mapping[str, str]) -> dict[str, Any] | None:
    """Wait until a server that was started answers; ``None`` where none does in time."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if found := ask_status(root, environ):
            return found
        time.sleep(_POLL_SECONDS)
    return None


def _has_ended(path: str, holder: Mapping[str, Any]) -> bool:
    deadline = time.monotonic() + _END_SECONDS
    while read_holder(lock_path(path)) == holder:
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _talk(path: str, what: str) -> dict[str, Any] | None:
    if not is_private(os.path.dirname(path)):  # noqa: PTH120
        return None
    with socket.socket(socket.AF_UNIX) as server, suppress(OSError, ValueError):
        server.settimeout(_ANSWER_SECONDS)
        server.connect(path)
        server.sendall(encode({"v": VERSION, "do": what}))
        with server.makefile("rb") as replies:
            return decode(replies.readline())
    return None

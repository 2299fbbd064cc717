"""Read the head of an HTTP request, strictly and within limits; nothing else is ever read.

The parser of the standard library takes HTTP/0.9, bare line feeds, folded fields, and some
megabytes of them. A page of ours needs none of that, and who is slow is waited for only once.
"""

from __future__ import annotations

import socket
import string
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

ARRIVAL_SECONDS = 5.0
"""The whole head must be there in that time, however its pieces come."""
MOST_HEAD_BYTES = 16 << 10
"""A question of 1,000 letters takes 9 kB where each is three bytes, escaped."""
_MOST_FIELDS = 64
_PIECE_BYTES = 4096
_DRAIN_SECONDS = 0.5
_DRAIN_BYTES = 1 << 16
_END = b"\r\n\r\n"
_NAME = frozenset(string.ascii_letters + string.digits + "!#$%&'*+-.^_`|~")
_VISIBLE = frozenset(map(chr, range(0x21, 0x7F)))


class Unwanted(Exception):  # noqa: N818 - it says what the request is
    """A request that is answered with an HTTP status and nothing more."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The first line of a request and its fields, names in lower case."""

    method: str
    target: str
    fields: Mapping[str, str] = field(default_factory=dict)


def read_head(connection: socket.socket, *, seconds: float = ARRIVAL_SECONDS) -> RequestHead:
    """Return what is asked; raise ``Unwanted`` for what no browser sends, or sends too slowly.

    Raise ``ConnectionError`` where the client goes without having asked.
    """
    received, deadline = bytearray(), time.monotonic() + seconds
    while (end := received.find(_END, 0)) < 0:
        if len(received) > MOST_HEAD_BYTES:
            raise Unwanted(431)
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            piece = connection.recv(_PIECE_BYTES)
        except TimeoutError:
            raise Unwanted(408) from None
        if not piece and not received:
            raise ConnectionError("nothing was asked")
        if not piece:
            raise Unwanted(400)
        received += piece
    if end > MOST_HEAD_BYTES:
        raise Unwanted(431)
    return parse_head(bytes(received[:end]))


def parse_head(data: bytes) -> RequestHead:
    """Read a head without its empty line; raise ``Unwanted`` for what is none."""
    first, *rows = data.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or words[2] not in ("HTTP/1.0", "HTTP/1.1"):
        raise Unwanted(400)
    method, target, _ = words
    if not _NAME.issuperset(method) or not method or not _VISIBLE.issuperset(target):
        raise Unwanted(400)
    if len(rows) > _MOST_FIELDS:
        raise Unwanted(431)
    fields: dict[str, str] = {}
    for row in rows:
        name, colon, value = row.partition(":")
        name = name.lower()
        is_field = (
            name and colon and _NAME.issuperset(name) and value.replace("\t", " ").isprintable()
        )
        if not is_field or name in fields:
            raise Unwanted(400)
        fields[name] = value.strip(" \t")
    return RequestHead(method, target, fields)


def drain(connection: socket.socket) -> None:
    """Take what is still coming, so that a refusal is not lost when the connection closes."""
    connection.shutdown(socket.SHUT_WR)
    deadline = time.monotonic() + _DRAIN_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        if not connection.recv(_DRAIN_BYTES):
            return

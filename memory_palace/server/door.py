"""Take connections on the loopback address, one request each, and hang up on whoever is slow."""

from __future__ import annotations

import os
import socket
import socketserver
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from memory_palace.server.gate import PageVisit, admit
from memory_palace.server.head import ARRIVAL_SECONDS, Unwanted, drain, read_head

MOST_VISITS = 128
"""Connections at once; a browser makes six, some of them before it knows what to ask."""
TAKING_SECONDS = 10.0
"""A reply must be taken in that time."""
_PLAIN = "text/plain; charset=utf-8"
NOTHING = "default-src 'none'; frame-ancestors 'none'"
"""The policy of all that is no page."""
_FIELDS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
    "Connection": "close",
}
_REASONS = {
    200: "OK",
    304: "Not Modified",
    308: "Permanent Redirect",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    409: "Conflict",
    421: "Misdirected Request",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


@dataclass(frozen=True, slots=True)
class PageReply:
    """What is sent back for a request."""

    body: bytes = b""
    kind: str = _PLAIN
    status: int = 200
    tag: str = ""
    """Entity tag: the generation of the plan; empty for an answer to a question."""
    policy: str = NOTHING


Answer = Callable[[PageVisit, Callable[[], bool]], PageReply]
"""Answers a visit; the function says whether the one who asked has gone meanwhile."""


class Door(socketserver.ThreadingTCPServer):
    """Listens on 127.0.0.1 and gives each connection a thread."""

    allow_reuse_address = os.name == "posix"  # elsewhere it would let another program in
    request_queue_size = MOST_VISITS
    daemon_threads = True
    block_on_close = False

    def __init__(
        self, port: int, token: str, answer: Answer, *, arrival_seconds: float = ARRIVAL_SECONDS
    ) -> None:
        """Raise ``OSError`` where the port is taken."""
        self.token, self._answer, self._seconds = token, answer, arrival_seconds
        self._free = threading.BoundedSemaphore(MOST_VISITS)
        super().__init__(("127.0.0.1", port), socketserver.BaseRequestHandler)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def server_bind(self) -> None:
        """Bind for this process alone, where another could listen on the same port."""
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        super().server_bind()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread, unless too many are at work."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer in this thread, and make room for another."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Answer one request; more is not read."""
        with suppress(OSError):  # the client is gone, or too slow
            try:
                visit = admit(
                    read_head(request, seconds=self._seconds), port=self.port, token=self.token
                )
                _send(request, self._reply_to(visit, request), is_head=visit.is_head)
            except Unwanted as unwanted:
                moved = f"/{self.token}/" if unwanted.status == 308 else ""
                _send(request, PageReply(b"refused\n", status=unwanted.status), moved=moved)
                drain(request)

    def _reply_to(self, visit: PageVisit, connection: socket.socket) -> PageReply:
        try:
            return self._answer(visit, lambda: _has_gone(connection))
        except Unwanted:
            raise
        except Exception:  # a defect: it is shown where the server runs, and the server goes on
            self.handle_error(connection, None)
            return PageReply(b"failed\n", status=500)


def _send(
    connection: socket.socket, reply: PageReply, *, is_head: bool = False, moved: str = ""
) -> None:
    fields = {**_FIELDS, "Content-Security-Policy": reply.policy}
    if reply.tag:
        fields["ETag"] = f'"{reply.tag}"'
    if moved:
        fields["Location"] = moved
    if reply.status == 405:
        fields["Allow"] = "GET, HEAD"
    if reply.status != 304:
        fields |= {"Content-Type": reply.kind, "Content-Length": str(len(reply.body))}
    rows = [f"HTTP/1.1 {reply.status} {_REASONS[reply.status]}"]
    rows += [f"{name}: {value}" for name, value in fields.items()]
    head = ("\r\n".join(rows) + "\r\n\r\n").encode("ascii")
    connection.settimeout(TAKING_SECONDS)
    connection.sendall(head if is_head or reply.status == 304 else head + reply.body)


def _has_gone(connection: socket.socket) -> bool:
    """Whether the client hung up; a page does so when it has a newer question."""
    connection.setblocking(False)
    try:
        return not connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
